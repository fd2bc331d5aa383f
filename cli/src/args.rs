//! What can be typed: global options, commands, and the operations of the contract as subcommands.
//!
//! The only place that reads Glass's own environment variables. Operations are not defined here but in
//! `glass_proto::op`; their options and help come from there.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use glass_proto::op::{Facts, OperationCommand};
use glass_proto::session::Grant;
use glass_proto::{ExecutionId, SecretName, TargetId};

use crate::policy::PolicyOptions;
use crate::session::{InvalidSession, SessionChoice};

const AFTER_HELP: &str = "\
Exit codes:
  0 done                      5 policy says no              9 a limit or a lease, try later
  1 a dialog or script error  6 timeout, nothing done      10 session, browser or daemon failed
  2 wrong call                7 outcome unknown           130 Ctrl-C
  3 target                    8 navigation failed
  4 it ran, and a postcondition does not hold

An element is named by a ref of an observation (e12, r7:e12, f2e3, ref=e12), by role and name
(role=button;name=Save, also ;level=, ;checked=, ;expanded=, ;selected=, ;disabled=), by name=,
text=, label=, placeholder=, testid=, alt=, title=, css= or xpath=, by the number of its row in
the last observation (ordinal=2), or by its bare accessible name (Save). `~` before a value takes
a part of it (name=~sav), and ` >> ` looks within what stands before it.";

/// Drive a supervised, caged browser from the shell
#[derive(Debug, Parser)]
#[command(name = "glassctl", version, after_help = AFTER_HELP, max_term_width = 110)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

// No doc comment: clap would take it as the text about the program.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The session: a name, auto (one per git tree or directory) or new (ends with the command) [env: GLASS_SESSION]
    #[arg(long, global = true, value_name = "NAME|auto|new")]
    pub session: Option<SessionChoice>,
    /// Print one JSON object instead of text, errors too
    #[arg(long, global = true)]
    pub json: bool,
    /// Fail instead of starting glassd when none runs
    #[arg(long, global = true)]
    pub no_autostart: bool,
    /// Read and write files below this directory alone, instead of the one that the command is given in
    #[arg(long, global = true, value_name = "DIR")]
    pub file_root: Option<PathBuf>,
    /// When the operation fails, tell what was going on: phases and their times, targets, frames, the newest events
    #[arg(long, global = true)]
    pub trace_on_error: bool,
    /// What the session shall be like.
    #[command(flatten)]
    pub wanted: Wanted,
    /// Where glassd listens, instead of the user's own place
    #[arg(long, global = true, value_name = "PATH", hide = true)]
    pub socket: Option<PathBuf>,
    /// What policy the command goes by.
    #[command(flatten)]
    pub policy: PolicyOptions,
}

// No doc comment: clap would take it as the text about the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Session options")]
pub struct Wanted {
    /// A JSON file with who the session is to servers that ask: [{"origin", "username", "password"}]
    #[arg(long, global = true, value_name = "FILE")]
    pub http_credentials: Option<PathBuf>,
    /// Whether certificates that are not valid are taken
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub ignore_certificate_errors: Option<bool>,
    /// What pages of an origin may do without asking, such as https://example.com=geolocation,notifications; repeat for more
    #[arg(long = "permission", global = true, value_name = "ORIGIN=NAMES")]
    pub permissions: Vec<Grant>,
    /// Drive somebody else's browser, by its DevTools endpoint on this machine; it is never closed
    #[arg(long, global = true, value_name = "http://HOST:PORT|ws://…")]
    pub attach: Option<String>,
    /// With --attach: the page that the session claims and selects when it begins (before the command)
    #[arg(long = "target-id", value_name = "ID", requires = "attach")]
    pub attach_target: Option<TargetId>,
}

impl Cli {
    /// Reads a command line.
    ///
    /// An operation is read by itself. Of other commands each gets its arguments and help texts when it is asked for; what
    /// is wrong or asks for help is read again with all of them there.
    ///
    /// # Errors
    /// What clap has to say, help and version included.
    pub fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        if let Some(cli) = Self::few(arguments) {
            return Ok(cli);
        }
        Self::try_parse_from(arguments).or_else(|error| {
            if error.kind() == ErrorKind::DisplayVersion {
                return Err(error);
            }
            let mut command = Self::command();
            command.build();
            let mut matches = command.try_get_matches_from_mut(arguments)?;
            Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
        })
    }

    /// A command line of one operation that is right, read with the operations alone that it could mean. `None` for every
    /// other one, for whatever reason: the whole command then says it.
    fn few(arguments: &[OsString]) -> Option<Self> {
        let mut meant: Vec<&'static Facts> = Vec::new();
        for facts in before_double_dash(arguments).filter_map(|word| Facts::of(word.to_str()?)) {
            if !meant.iter().any(|known| known.name == facts.name) {
                meant.push(facts);
            }
        }
        if meant.is_empty() {
            return None;
        }
        let command = clap::Command::new("glassctl").subcommand_required(true);
        let command = Global::augment_args(command);
        let command = meant.into_iter().map(OperationCommand::alone).fold(command, clap::Command::subcommand);
        let mut matches = command.try_get_matches_from(arguments).ok()?;
        Self::from_arg_matches_mut(&mut matches).ok()
    }
}

/// What stands after the program's name and before `--`.
fn before_double_dash(arguments: &[OsString]) -> impl Iterator<Item = &OsString> {
    arguments.iter().skip(1).take_while(|argument| *argument != "--")
}

impl Global {
    /// The option that was written more often than it was read, where there is one: of what stands before a command and
    /// after it clap keeps the one after it, in silence.
    pub fn lost(&self, arguments: &[OsString]) -> Option<String> {
        let known = Self::augment_args(clap::Command::new("glassctl"));
        let written = |name: &str| {
            let is_it = |word: &&OsString| {
                let word = word.as_encoded_bytes().split(|byte| *byte == b'=').next();
                word.and_then(|word| word.strip_prefix(b"--")) == Some(name.as_bytes())
            };
            before_double_dash(arguments).filter(is_it).count()
        };
        let mut in_lists = Vec::new();
        // What is no option of every command is one of its own after it.
        for option in known.get_arguments().filter(|option| option.is_global_set()) {
            let Some(name) = option.get_long() else { continue };
            match option.get_action() {
                ArgAction::Set if written(name) > 1 => return Some(format!("--{name}")),
                ArgAction::Append => in_lists.push(name),
                _ => {}
            }
        }
        let count: usize = in_lists.iter().map(|name| written(name)).sum();
        if count <= self.policy.count() + self.wanted.permissions.len() {
            return None;
        }
        let twice = in_lists.into_iter().find(|name| written(name) > 1);
        Some(twice.map_or_else(|| "a policy option or --permission".to_owned(), |name| format!("--{name}")))
    }

    /// The session that the command line or `GLASS_SESSION` names; an empty variable counts as none.
    ///
    /// # Errors
    /// When the variable holds no session name.
    pub fn session(&self) -> Result<SessionChoice, InvalidSession> {
        if let Some(choice) = &self.session {
            return Ok(choice.clone());
        }
        match std::env::var_os("GLASS_SESSION") {
            Some(value) if !value.is_empty() => {
                value.to_str().ok_or(InvalidSession::Variable)?.parse().map_err(|_| InvalidSession::Variable)
            }
            _ => Ok(SessionChoice::default()),
        }
    }
}

/// The commands.
#[expect(clippy::large_enum_variant, reason = "there is one a process")]
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Something asked of a session.
    #[command(flatten)]
    Operation(OperationCommand),
    /// Something that glassctl knows by itself.
    #[command(flatten)]
    Known(KnownCommand),
    /// List, show and close sessions
    #[command(subcommand)]
    Session(SessionCommand),
    /// Look at, wait for and cancel operations by their execution ids
    #[command(subcommand)]
    Execution(ExecutionCommand),
    /// Start, stop and look at glassd
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Say whether glassd runs, which sessions it has and how they are caged
    Status,
    /// Print the end of glassd's log
    Logs(LogsArgs),
    /// Print the end of the audit log: who asked for what, what policy said, how it ended
    ///
    /// With --session, only entries about that session. Needs no daemon.
    Audit(AuditArgs),
    /// Agree to a call that waits for a person, or list what waits
    ///
    /// Shows the call with its arguments and asks. It must be given in a terminal, and in another one than the program runs
    /// in that made the call; that is checked by glassd.
    Confirm {
        /// The confirmation, as the refused call has named it; without one all that wait are listed
        #[arg(value_name = "ID")]
        id: Option<glass_proto::ConfirmationId>,
    },
    /// Say no to a call that waits for a person, or take back what was granted and not used
    Deny {
        /// The confirmation
        #[arg(value_name = "ID")]
        id: glass_proto::ConfirmationId,
    },
    /// Show each limit, how much of it is used, and who sees to it
    ///
    /// Of everything, or with --session of that session alone. Starts no daemon.
    Quota,
    /// Let systemd start glassd
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Look at the installation, from the browser to the sandbox, and say what to do
    ///
    /// Exits with 0 when all is good, 1 when it works with less than there could be, 10 when it does not work. Never takes
    /// longer than 15 s, and needs no daemon. With --deep it takes up to a minute, and starts glassd.
    Doctor {
        /// Mend what can be mended safely: rights of Glass's own directories, what dead daemons left
        #[arg(long)]
        fix: bool,
        /// Start a session too, and let it try from inside what its cage is to keep away
        #[arg(long)]
        deep: bool,
    },
    /// Show, check and describe the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show, check and explain what policy allows
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// List, delete and export what a session's vault holds
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Walk through a small bundled site, printing each command and its answer
    ///
    /// Uses a daemon, a state directory and a session of its own, needs no internet, and leaves nothing running.
    Demo,
}

/// Commands that ask nobody: neither the daemon nor the configuration.
#[derive(Debug, Subcommand)]
pub enum KnownCommand {
    /// Print the JSON schemas of an operation, or of every answer
    ///
    /// With an operation: of its parameters, of the call options and of its result. Without one: of the object that
    /// --json prints, with the names of the operations.
    #[command(display_order = 900)]
    Schema {
        /// Its name, as a command or as on the wire
        #[arg(value_name = "OPERATION")]
        operation: Option<String>,
    },
    /// Print the script that completes commands and options in a shell
    ///
    /// For bash: glassctl completions bash > ~/.local/share/bash-completion/completions/glassctl
    #[command(display_order = 901)]
    Completions {
        /// The shell
        #[arg(value_enum, value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page of glassctl or of one command
    ///
    /// To read one: glassctl man click | man -l -
    #[command(display_order = 902)]
    Man {
        /// The command, as it is typed; without it glassctl itself
        #[arg(value_name = "COMMAND", conflicts_with = "output")]
        command: Vec<String>,
        /// Write every page into this directory instead; pages of the same name are replaced
        #[arg(long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
}

/// `glassctl config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every setting with its value and where it comes from
    Show,
    /// Say whether glassd would start with the configuration
    Check {
        /// Another file than the user's own
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Print the JSON schema of the configuration file
    Schema,
    /// Ask for a new confirmation secret, and print its hash for confirm.secret
    Secret,
}

/// `glassctl policy …`. With policy options: what a client that is started with them may do.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// List every capability with what holds and which rule says so, and the rules about hosts
    Show,
    /// Say whether the policy file can be used, or what holds for some operations, capabilities or URLs
    ///
    /// Exits with 5 when the file has mistakes, which are all told with line and column, or when one of the items is
    /// denied. Starts no daemon.
    Check {
        /// Operations (click), capabilities (evaluate) or URLs (https://example.com)
        #[arg(value_name = "ITEM")]
        items: Vec<String>,
    },
    /// Say who decides about an operation, a capability or a URL, and what would change it
    Explain {
        /// Operations, capabilities or URLs
        #[arg(value_name = "ITEM", required = true)]
        items: Vec<String>,
    },
}

/// `glassctl secret …`: what capture-secrets took from the pages of the session that --session names.
#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// List their names and how long each is kept, as list-secrets does
    List,
    /// Delete some or all, as delete-secrets does
    Delete {
        /// Their names
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<SecretName>,
        /// All of them
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Print their values on this terminal, or write them to a file
    ///
    /// For a person: glassd gives them to a command in the foreground of a terminal alone, and only where policy allows
    /// capture_secrets. Read a dotenv file with a parser, never with a shell's source.
    Export(SecretExport),
}

/// `glassctl secret export`.
#[derive(Debug, Args)]
pub struct SecretExport {
    /// Their names; all where none is given
    #[arg(value_name = "NAME")]
    pub names: Vec<SecretName>,
    /// How they are written
    #[arg(long, value_enum, default_value_t)]
    pub format: SecretFormat,
    /// A new file of the file root, readable for its owner alone, instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A form of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SecretFormat {
    /// One object; holds any text
    #[default]
    Json,
    /// NAME='value' on lines; what readers would not agree about is refused
    Dotenv,
}

/// `glassctl session …`.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions
    List,
    /// Show one session with the layers of its cage as observed
    Show {
        /// Its name; without it the one that --session names
        #[arg(value_name = "NAME")]
        name: Option<SessionChoice>,
    },
    /// End a session and everything of it
    Close {
        /// Its name; without it the one that --session names
        #[arg(value_name = "NAME", conflicts_with = "all")]
        name: Option<SessionChoice>,
        /// Every session
        #[arg(long)]
        all: bool,
    },
}

/// `glassctl execution …`. glassd remembers the last 64 of each session, 512 in all, until it ends.
#[derive(Debug, Subcommand)]
pub enum ExecutionCommand {
    /// Show how far an operation is, or how it ended
    ///
    /// Its outcome and its error are remembered, not its result.
    Show {
        /// As results and errors give it
        #[arg(value_name = "ID")]
        id: ExecutionId,
    },
    /// Wait until an operation has ended, and end as it did
    ///
    /// Exits with the code that the operation's own command exits with.
    Wait {
        /// As results and errors give it
        #[arg(value_name = "ID")]
        id: ExecutionId,
    },
    /// Cancel an operation that runs or waits for its turn
    ///
    /// What was sent to the page cannot be undone. Its own answer says how it ended.
    Cancel {
        /// As results and errors give it
        #[arg(value_name = "ID")]
        id: ExecutionId,
    },
}

/// `glassctl service …`: units of the user's systemd, in $XDG_CONFIG_HOME/systemd/user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum ServiceCommand {
    /// Write the units and listen from now on, and after every login
    Install,
    /// Stop glassd with all its sessions, and remove the units
    Uninstall,
    /// Say how the units are
    Status,
}

/// `glassctl daemon …`.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Start glassd if none runs, and wait until it answers
    Start,
    /// Stop glassd with all its sessions, and wait until it is gone
    Stop,
    /// Say whether glassd runs, which sessions it has and how they are caged
    Status,
    /// Print the end of glassd's log
    Logs(LogsArgs),
}

/// `glassctl logs`. With --session, only lines about that session.
#[derive(Clone, Copy, Debug, Args)]
pub struct LogsArgs {
    /// How many of the last lines, 0 to 10000; a line is cut at 4 KiB
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub lines: u16,
    /// Go on with what comes, until Ctrl-C
    #[arg(long, short = 'f')]
    pub follow: bool,
}

/// `glassctl audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Something else than a list.
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    /// Only entries from then on: a time (2026-12-01T10:00:00Z), or how long ago (10m, 2h)
    #[arg(long, value_name = "TIME", value_parser = crate::commands::since)]
    pub since: Option<std::time::SystemTime>,
    /// How many of the last entries, 1 to 10000; 100 when not given
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub lines: Option<u16>,
}

/// `glassctl audit …`.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that nothing of the audit log was changed, dropped, moved or cut off
    ///
    /// Exits with 4 and names file and line where something was. Prints the hash of the last entry: noted down elsewhere,
    /// it tells later, with --holds, whether somebody wrote everything up to it anew.
    Verify {
        /// Check also that the log holds the entry of this hash
        #[arg(long, value_name = "HASH")]
        holds: Option<String>,
    },
}

/// Whether the machine form was asked for, in arguments that may be wrong otherwise.
pub fn wants_json(args: &[OsString]) -> bool {
    before_double_dash(args).any(|arg| arg == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Cli, clap::Error> {
        Cli::read(&["glassctl"].iter().chain(args).map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn help_knows_every_command_and_what_it_takes() {
        let list = parse(&["--help"]).unwrap_err().to_string();
        for line in ["click ", "Click an element", "list-targets", "Global options"] {
            assert!(list.contains(line), "{line}: {list}");
        }
        let one = parse(&["click", "--help"]).unwrap_err().to_string();
        assert!(one.contains("--button") && one.contains("--session"), "{one}");
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_are_taken_before_and_after_the_operation() {
        for args in [
            ["--session", "a", "--json", "click", "Save"],
            ["click", "--session", "a", "Save", "--json"],
            ["click", "Save", "--json", "--session", "a"],
        ] {
            let cli = parse(&args).unwrap();
            assert!(cli.global.json, "{args:?}");
            assert_eq!(cli.global.session, Some("a".parse().unwrap()), "{args:?}");
        }
    }

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("glassctl").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn an_operation_that_is_read_by_itself_is_read_as_with_all_the_others() {
        for line in [
            "click Save",
            "doubleClick Save --button right",
            "--session fill click e1 --json --policy hardened --policy-allow upload --policy-allow evaluate",
            "fill e1 click --timeout-ms 5 --ignore-certificate-errors",
            "get-dom --trace-on-error --file-root /",
            "scroll --dy -5 --expect-timeout-ms 5 --expect visible=Save",
            "type -- --session",
            "upload e1 a b c",
        ] {
            let few = Cli::few(&words(line));
            let whole = Cli::try_parse_from(words(line));
            assert!(few.is_some(), "{line}");
            assert_eq!(few.map(|cli| format!("{cli:?}")), whole.ok().map(|cli| format!("{cli:?}")), "{line}");
        }
        for line in [
            "status",
            "session close click",
            "click --help",
            "help click",
            "click",
            "",
            "--version",
            "clik x",
        ] {
            assert!(Cli::few(&words(line)).is_none(), "{line}");
        }
    }

    // contract: 10.1, 12.1
    #[test]
    fn no_option_is_lost_before_or_after_a_command() {
        let global = Global::augment_args(clap::Command::new("x"));
        let takes = |option: &&clap::Arg| option.is_global_set() && option.get_action().takes_values();
        for option in global.get_arguments().filter(takes) {
            let name = option.get_long().unwrap();
            let value = match name {
                "attach" => "http://127.0.0.1:9",
                "permission" => "https://a.test=geolocation",
                "session" | "file-root" | "http-credentials" | "socket" => "a",
                "ignore-certificate-errors" => "false",
                "policy" => "ci",
                name if name.ends_with("host") => "a.test",
                _ => "upload",
            };
            let line = words(&format!("--{name}={value} observe --{name}={value}"));
            let read = Cli::read(&line).unwrap();
            assert_eq!(read.global.lost(&line).as_deref(), Some(&*format!("--{name}")));
            for line in [format!("--{name}={value} observe"), format!("type --{name}={value} -- --{name}")] {
                let read = Cli::read(&words(&line)).unwrap();
                assert_eq!(read.global.lost(&words(&line)), None, "{line}");
            }
        }
        let own = words("--attach http://127.0.0.1:9 --target-id A click Save --target-id B");
        assert_eq!(Cli::read(&own).unwrap().global.lost(&own), None);
        let lists = words("observe --policy-deny upload --policy-deny evaluate --policy-allow-host a.test");
        assert_eq!(Cli::read(&lists).unwrap().global.lost(&lists), None);
    }

    #[test]
    fn every_form_of_a_locator_is_named_in_the_help() {
        let help = parse(&["--help"]).unwrap_err().to_string();
        for form in ["e12", "r7:e12", "f2e3", "ref=e12", "ordinal=2", "role=button;name=Save", "name=~sav"] {
            assert!(help.contains(form), "{form}");
            form.parse::<glass_proto::op::Locator>().unwrap_or_else(|error| panic!("{form}: {error}"));
        }
        let unknown = "x=y".parse::<glass_proto::op::Locator>().unwrap_err().to_string();
        let known =
            unknown.split_once("known are ").unwrap().1.split_once(". ").unwrap().0.replace(" and ", ", ");
        for key in known.split(", ") {
            assert!(help.contains(&format!("{key}=")), "{key}: {help}");
        }
    }

    #[test]
    fn words_are_never_completed() {
        for args in [&["navi", "x"][..], &["obs"], &["session", "li"], &["observe", "--inter"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn extra_arguments_are_refused() {
        for args in [
            &["observe", "x"][..],
            &["status", "x"],
            &["session", "list", "x"],
            &["session", "close", "a", "b"],
            &["session", "close", "a", "--all"],
            &["fill", "e1", "two", "words"],
            &["demo", "--fast"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn json_is_seen_in_broken_arguments_and_not_behind_a_double_dash() {
        let os = |args: &[&str]| args.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&os(&["glassctl", "nonsense", "--json"])));
        assert!(!wants_json(&os(&["glassctl", "fill", "e1", "--", "--json"])));
    }
}
