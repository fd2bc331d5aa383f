//! The operations: one definition each, and the one list of them (DESIGN 3).
//!
//! From a definition come the command line's subcommand and help, the JSON schema, the policy's capability, the
//! lane and the default deadline. `docs/adding-an-operation.md` says how to add one.

mod batch;
mod call;
mod capabilities;
mod check;
mod chord;
mod clear;
mod click;
mod click_at;
mod click_expect_popup;
mod clipboard;
mod codec;
mod cookies;
mod diagnostics;
mod dialog;
mod dismiss_consent;
mod double_click;
mod downloads;
mod drag;
mod emulate;
mod evaluate;
mod events;
mod expect;
mod expect_navigation;
mod export_page;
mod facts;
mod fill;
mod fill_form;
mod find;
mod frames;
mod get_dom;
mod get_text;
mod health;
mod history;
mod hover;
mod inspect;
mod key;
mod key_down;
mod key_up;
mod list_targets;
pub mod locator;
mod move_mouse;
mod navigate;
mod network_body;
mod observe;
mod observe_delta;
mod point;
pub mod predicate;
mod preflight;
mod reconcile_references;
mod recover;
mod reference;
mod route;
mod screenshot;
mod scroll;
mod secrets;
mod select;
mod select_text;
mod set_viewport;
mod shortcut;
mod storage_state;
mod submit;
mod tap;
mod targets;
mod type_text;
mod uncheck;
mod upload;
mod verify;
pub mod wait;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::secret::SecretName;

pub use batch::{Batch, Mode, Step};
pub use call::{CallOptions, GuardScope, Interaction, InvalidOptions, MAX_TIMEOUT_MS, ObserveAfter};
pub use capabilities::Capabilities;
pub use check::Check;
pub use chord::{Chord, InvalidChord, KeyName, NAMED};
pub use clear::Clear;
pub use click::{Button, Click, Modifier};
pub use click_at::ClickAt;
pub use click_expect_popup::ClickExpectPopup;
pub use clipboard::{Clipboard, ClipboardAction};
pub use codec::{DecodeError, schema, written_schema};
pub use cookies::{CookieAction, Cookies};
pub use diagnostics::Diagnostics;
pub use dialog::{AcceptDialog, DismissDialog};
pub use dismiss_consent::DismissConsent;
pub use double_click::DoubleClick;
pub use downloads::{CancelDownload, Download, ListDownloads, RetryDownloadCapture};
pub use drag::Drag;
pub use emulate::{ColorScheme, Device, Emulate, Header, Media, NetworkProfile, Position, ReducedMotion};
pub use evaluate::Evaluate;
pub use events::Events;
pub use expect::Expect;
pub use expect_navigation::ExpectNavigation;
pub use export_page::{ExportFormat, ExportPage};
pub use facts::{Capability, Effect, Facts, Lane, Needs};
pub use fill::Fill;
pub use fill_form::{FillForm, FormField, InvalidField};
pub use find::Find;
pub use frames::{FrameId, FrameStep, InvalidFrameId, ListFrames, SelectFrame};
pub use get_dom::{DomFormat, GetDom};
pub use get_text::GetText;
pub use health::Health;
pub use history::{Back, Forward, Reload};
pub use hover::Hover;
pub use inspect::Inspect;
pub use key::Key;
pub use key_down::KeyDown;
pub use key_up::KeyUp;
pub use list_targets::ListTargets;
pub use locator::Locator;
pub use move_mouse::MoveMouse;
pub use navigate::{Navigate, WaitUntil};
pub use network_body::NetworkBody;
pub use observe::Observe;
pub use observe_delta::ObserveDelta;
pub use point::{InvalidPoint, Place, Point};
pub use predicate::Predicate;
pub use preflight::{Action, Preflight};
pub use reconcile_references::ReconcileReferences;
pub use recover::{Recover, RecoverMethod};
pub use reference::{InvalidRef, Ref};
pub use route::{ListRoutes, RemoveRoute, RequestType, Route, RouteAction};
pub use screenshot::{Clip, ImageFormat, Screenshot};
pub use scroll::{Scroll, ScrollEnd};
pub use secrets::{CaptureSecrets, DeleteSecrets, ListSecrets};
pub use select::Select;
pub use select_text::SelectText;
pub use set_viewport::SetViewport;
pub use shortcut::Shortcut;
pub use storage_state::{StorageAction, StorageState};
pub use submit::Submit;
pub use tap::Tap;
pub use targets::{CloseTarget, CreateTarget, SelectTarget};
pub use type_text::{Type, TypeMode};
pub use uncheck::Uncheck;
pub use upload::Upload;
pub use verify::Verify;
pub use wait::{Condition, Wait};

/// One thing that can be asked of a session.
pub trait Operation: Serialize + DeserializeOwned {
    /// What is known of it without its parameters.
    const FACTS: Facts;
    /// What it answers.
    type Output: Serialize + DeserializeOwned;

    /// Checks what the types cannot.
    fn check(&self) -> Result<(), InvalidParams> {
        Ok(())
    }

    /// Whether it is an input that can begin a navigation, so that `expectNavigation` means something to it.
    const NAVIGATES: bool = false;

    /// Whether it moves the pointer, so that `interaction` means something to it.
    const POINTS: bool = false;

    /// Its deadline when the call names none.
    fn timeout(&self) -> Duration {
        Self::FACTS.timeout
    }

    /// The parameter that a shell may give through standard input or a file.
    fn text_input(&mut self) -> Option<TextInput<'_>> {
        None
    }

    /// The elements that it names, in the order in which it looks for them.
    fn locators(&self) -> Vec<&Locator> {
        Vec::new()
    }

    /// What policy is asked for beside [`Facts::capability`], for what these parameters ask.
    fn also_needs(&self) -> Vec<Capability> {
        Vec::new()
    }

    /// The secrets of the session's vault that it needs the values of.
    fn secrets(&self) -> Vec<SecretName> {
        Vec::new()
    }

    /// Whether the call option `scope` means something to it: where it names an element, unless it says otherwise.
    fn takes_scope(&self) -> bool {
        !self.locators().is_empty()
    }

    /// What this call needs of its session, where that depends on its parameters.
    fn needs(&self) -> Needs {
        Self::FACTS.needs
    }
}

/// A parameter that a shell may give through standard input (`-`) or a file.
#[derive(Debug)]
pub struct TextInput<'a> {
    /// The text itself; `-` stands for standard input.
    pub text: &'a mut String,
    /// Where it comes from instead.
    pub file: &'a mut Option<PathBuf>,
}

/// Parameters that do not fit. Names the parameter and its bounds, never its value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct InvalidParams(pub String);

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn in_range(name: &str, value: u32, range: RangeInclusive<u32>) -> Result<(), InvalidParams> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(InvalidParams(format!("{name} is {} to {}, not {value}", range.start(), range.end())))
}

fn at_most(name: &str, size: usize, max: usize) -> Result<(), InvalidParams> {
    if size <= max {
        Ok(())
    } else {
        Err(InvalidParams(format!("{name} has a size of {size}; at most {max} is taken")))
    }
}

/// `kebab-case` as `camelCase`; camelCase stays.
fn camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| {
        let mut letters = part.chars();
        let upper = letters.next().map(|letter| letter.to_ascii_uppercase());
        done + &upper.into_iter().chain(letters).collect::<String>()
    })
}

fn position(position: Option<Point>) -> Result<(), InvalidParams> {
    position.map_or(Ok(()), |point| point.check()).map_err(|error| InvalidParams(error.to_string()))
}

fn at_least_one(name: &str, size: usize) -> Result<(), InvalidParams> {
    if size > 0 { Ok(()) } else { Err(InvalidParams(format!("{name} is empty"))) }
}

// An operation of the command line with the options that all of them take. No doc comment here: clap would show
// it as the help of every operation instead of the operation's own.
#[derive(Clone, Debug, PartialEq, Args)]
pub struct With<P: Args> {
    #[command(flatten)]
    /// The operation's own parameters.
    pub params: P,
    #[command(flatten, next_help_heading = "Call options")]
    /// What every operation takes.
    pub options: CallOptions,
}

macro_rules! operations {
    ($($(#[$attribute:meta])* $variant:ident,)*) => {
        /// Any operation with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyOperation { $(#[doc = stringify!($variant)] $variant($variant),)* }

        /// The operations as subcommands, in kebab case; the camelCase name is taken too.
        ///
        /// Each gets its arguments when it is the one that was typed: building all of them costs 2 ms a process.
        /// Who wants to look at them builds the whole command first (`clap::Command::build`).
        #[derive(Clone, Debug, PartialEq, Subcommand)]
        #[command(defer = true)]
        pub enum OperationCommand {
            $($(#[$attribute])* #[command(alias = <$variant as Operation>::FACTS.name)] $variant(With<$variant>),)*
        }

        /// The facts of every operation, in the order of the list.
        pub const OPERATIONS: &[Facts] = &[$(<$variant as Operation>::FACTS,)*];

        impl AnyOperation {
            /// What is known of it.
            pub fn facts(&self) -> &'static Facts {
                match self { $(Self::$variant(_) => { const F: &Facts = &<$variant as Operation>::FACTS; F })* }
            }

            /// Whether the call option `interaction` means something to it.
            pub fn points(&self) -> bool {
                match self { $(Self::$variant(_) => <$variant as Operation>::POINTS,)* }
            }

            /// Its deadline when the call names none.
            pub fn timeout(&self) -> Duration {
                match self { $(Self::$variant(params) => params.timeout(),)* }
            }

            /// Whether the call option `expectNavigation` means something to it.
            pub fn navigates(&self) -> bool {
                match self { $(Self::$variant(_) => <$variant as Operation>::NAVIGATES,)* }
            }

            /// Checks what the types cannot.
            pub fn check(&self) -> Result<(), InvalidParams> {
                match self { $(Self::$variant(params) => params.check(),)* }
            }

            /// The parameter that a shell may give through standard input or a file.
            pub fn text_input(&mut self) -> Option<TextInput<'_>> {
                match self { $(Self::$variant(params) => params.text_input(),)* }
            }

            /// What its parameters need beside the capability of its facts.
            fn also_needs(&self) -> Vec<Capability> {
                match self { $(Self::$variant(params) => params.also_needs(),)* }
            }

            /// The elements that it names, in the order in which it looks for them.
            pub fn locators(&self) -> Vec<&Locator> {
                match self { $(Self::$variant(params) => params.locators(),)* }
            }

            /// The secrets of the session's vault that it needs the values of.
            pub fn secrets(&self) -> Vec<SecretName> {
                match self { $(Self::$variant(params) => params.secrets(),)* }
            }

            /// Whether the call option `scope` means something to it.
            pub fn takes_scope(&self) -> bool {
                match self { $(Self::$variant(params) => params.takes_scope(),)* }
            }

            /// What this call needs of its session.
            pub fn needs(&self) -> Needs {
                match self { $(Self::$variant(params) => params.needs(),)* }
            }

            /// The parameters as JSON.
            pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
                match self { $(Self::$variant(params) => serde_json::to_vec(params),)* }
            }

            /// Reads the parameters of the operation called `name`, and checks them.
            pub fn decode(name: &str, params: &[u8]) -> Result<Self, DecodeError> {
                $(if name == <$variant as Operation>::FACTS.name {
                    return codec::params::<$variant>(params).map(Self::$variant);
                })*
                Err(DecodeError::Unknown)
            }

            /// JSON schemas of the parameters and of the output.
            pub fn schemas(name: &str) -> Option<(schemars::Schema, schemars::Schema)> {
                $(if name == <$variant as Operation>::FACTS.name {
                    let output = written_schema::<<$variant as Operation>::Output>();
                    return Some((schema::<$variant>(), codec::answered(output, &<$variant as Operation>::FACTS)));
                })*
                None
            }
        }

        impl OperationCommand {
            /// The subcommand of one operation, for who wants no other: to make all of them costs more than to read one.
            /// It takes the same arguments, and has no text about itself.
            pub fn alone(facts: &Facts) -> clap::Command {
                // clap takes names that last as long as the process; it is made for one command line.
                let name: &'static str = facts.command().leak();
                let command = clap::Command::new(name).alias(facts.name);
                $(if facts.name == <$variant as Operation>::FACTS.name {
                    return <With<$variant>>::augment_args(command);
                })*
                command
            }

            /// The operation and the options of its call.
            pub fn split(self) -> (AnyOperation, CallOptions) {
                match self { $(Self::$variant(with) => (AnyOperation::$variant(with.params), with.options),)* }
            }
        }
    };
}

// The one list. The order is that of the help.
operations! {
    Navigate,
    Back,
    Forward,
    Reload,
    Observe,
    ObserveDelta,
    ReconcileReferences,
    GetText,
    GetDom,
    Find,
    Preflight,
    Inspect,
    Click,
    DoubleClick,
    ClickExpectPopup,
    Hover,
    Drag,
    ClickAt,
    MoveMouse,
    Tap,
    Scroll,
    Fill,
    Type,
    Clear,
    FillForm,
    SelectText,
    Check,
    Uncheck,
    Select,
    Submit,
    Key,
    KeyDown,
    KeyUp,
    Shortcut,
    Evaluate,
    Screenshot,
    ExportPage,
    SetViewport,
    Emulate,
    Wait,
    Verify,
    Batch,
    AcceptDialog,
    DismissDialog,
    DismissConsent,
    ListTargets,
    CreateTarget,
    SelectTarget,
    CloseTarget,
    ListFrames,
    SelectFrame,
    Events,
    Diagnostics,
    NetworkBody,
    Route,
    ListRoutes,
    RemoveRoute,
    Health,
    Capabilities,
    Recover,
    ListDownloads,
    Download,
    CancelDownload,
    RetryDownloadCapture,
    Upload,
    Cookies,
    StorageState,
    Clipboard,
    CaptureSecrets,
    ListSecrets,
    DeleteSecrets,
}

impl AnyOperation {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Whether it can do without a target though it may be about one.
    pub fn target_is_optional(&self) -> bool {
        matches!(self, Self::Events(_))
    }

    /// Everything that policy is asked for (contract 10.2): what the operation needs in any case comes first.
    pub fn capabilities(&self, options: &CallOptions) -> Vec<Capability> {
        let mut needs = self.facts().needed();
        needs.extend(self.also_needs());
        if options.expect.whole().is_some_and(|predicate| predicate.tells_values()) {
            needs.push(Capability::ReadFormValues);
        }
        needs
    }

    /// Checks that it takes what the call's options give: nothing is ignored in silence.
    ///
    /// # Errors
    /// See [`CallOptions::check_for`]; `scope` where no element is looked for, `expectNavigation` where there is no input,
    /// `interaction` where no pointer is moved.
    pub fn check_options(&self, options: &CallOptions) -> Result<(), InvalidOptions> {
        options.check_for(self.facts())?;
        if options.scope.is_some() && !self.takes_scope() {
            return Err(InvalidOptions::Unscoped);
        }
        if !options.expect_navigation.is_none() && !self.navigates() {
            return Err(InvalidOptions::Unnavigated);
        }
        if options.interaction.is_some() && !self.points() {
            return Err(InvalidOptions::Pointerless);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        operation: OperationCommand,
    }

    #[test]
    fn subcommands_are_the_operations_in_kebab_case_and_have_a_help_text() {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.clone().debug_assert();
        command.build();
        let names: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        let want: Vec<_> = OPERATIONS.iter().map(Facts::command).collect();
        assert!(want.contains(&"double-click".to_owned()) && want.contains(&"get-dom".to_owned()));
        assert_eq!(names, want);
        for sub in command.get_subcommands() {
            assert!(sub.get_about().is_some_and(|about| about.to_string().len() > 10), "{}", sub.get_name());
        }
        let abouts: std::collections::HashSet<_> =
            command.get_subcommands().filter_map(|sub| sub.get_about().map(ToString::to_string)).collect();
        assert_eq!(abouts.len(), OPERATIONS.len(), "each operation has a help text of its own");
    }

    #[test]
    fn a_subcommand_alone_is_that_of_the_list() {
        let mut whole = Cli::command().disable_help_subcommand(true);
        whole.build();
        for (facts, listed) in OPERATIONS.iter().zip(whole.get_subcommands()) {
            assert_eq!(Facts::of(facts.name).map(|found| found.name), Some(facts.name));
            assert_eq!(Facts::of(&facts.command()).map(|found| found.name), Some(facts.name));
            let mut alone = OperationCommand::alone(facts);
            alone.build();
            // How help is asked for depends on whether there is a long one.
            let described = |command: &clap::Command| {
                let own = command.get_arguments().filter(|argument| argument.get_id() != "help");
                format!("{:?}", own.collect::<Vec<_>>())
            };
            assert_eq!(alone.get_name(), listed.get_name());
            assert!(alone.get_all_aliases().eq(listed.get_all_aliases()), "{}", facts.name);
            assert_eq!(described(&alone), described(listed));
        }
        assert!(Facts::of("fly").is_none() && Facts::of("").is_none());
    }

    #[test]
    fn parameters_survive_the_wire() {
        let cli = Cli::try_parse_from(["x", "click", "role=button;name=Save", "--button", "right"]).unwrap();
        let (operation, _) = cli.operation.split();
        let decoded = AnyOperation::decode(operation.name(), &operation.encode().unwrap()).unwrap();
        assert_eq!(decoded, operation);
    }

    #[test]
    fn options_are_taken_after_and_before_positionals_and_a_double_dash_ends_them() {
        let fill = |args: &[&str]| {
            let args = ["x", "fill"].iter().chain(args);
            match Cli::try_parse_from(args).map(|cli| cli.operation.split().0) {
                Ok(AnyOperation::Fill(fill)) => Some(fill.text),
                _ => None,
            }
        };
        assert_eq!(fill(&["e1", "--timeout-ms", "5", "x"]).as_deref(), Some("x"));
        assert_eq!(fill(&["e1", "x", "--timeout-ms", "5"]).as_deref(), Some("x"));
        assert_eq!(fill(&["e1", "--", "--clear"]).as_deref(), Some("--clear"));
        assert_eq!(fill(&["e1", "--clear"]), None);
        assert_eq!(fill(&["e1", ""]).as_deref(), Some(""));
        assert_eq!(fill(&["e1"]), None);
    }

    #[test]
    fn schemas_have_no_reference_and_no_file_parameters() {
        for facts in OPERATIONS {
            let (params, output) = AnyOperation::schemas(facts.name).unwrap();
            for schema in [params, output] {
                let text = serde_json::to_string(&schema).unwrap();
                assert!(!text.contains("$ref") && !text.contains("\"file\""), "{}: {text}", facts.name);
            }
        }
    }
}
