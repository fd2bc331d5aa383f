//! What every operation takes beside its own parameters (contract 2.3, 2.7, 3.6, 7.1).

use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expect, ExpectNavigation, Facts, FrameId, FrameStep, InvalidParams, Locator};
use crate::id::TargetId;

/// Most elements on the way to a frame (contract 4.1).
const MAX_FRAME_STEPS: usize = 10;

/// Longest deadline, in milliseconds (contract 2.7).
pub const MAX_TIMEOUT_MS: u64 = 300_000;

// No doc comment here: clap would take it as the text about every subcommand that flattens this struct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CallOptions {
    /// Deadline of the whole operation in milliseconds, queueing included (1 to 300000)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=300_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300_000))]
    pub timeout_ms: Option<u64>,
    /// Act on this target (see list-targets) instead of the selected one
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target_id: Option<TargetId>,
    /// Look for the element only within the one that this names
    #[arg(long, value_name = "LOCATOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub scope: Option<Locator>,
    /// Look into this frame alone: its id, `main`, or up to 10 locators of the elements that hold it, outermost first
    #[arg(long, value_name = "FRAME", conflicts_with = "frame_id")]
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "Vec<String>", length(max = 10))]
    pub frame: Vec<FrameStep>,
    /// The same by the frame's id alone
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub frame_id: Option<FrameId>,
    /// Refuse, with nothing sent, unless the target is at this revision
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub expected_revision: Option<NonZeroU64>,
    /// How much of the page --expected-revision guards
    #[arg(long, value_enum, value_name = "SCOPE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_scope: Option<GuardScope>,
    /// What of the page is shown after a mutation
    #[arg(long, value_enum, value_name = "HOW")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observe: Option<ObserveAfter>,
    /// Longest outline of that in bytes (512 to 65536); otherwise 2048 for a summary, 24576 for all
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(512..=65_536))]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 512, max = 65_536))]
    pub observe_max_bytes: Option<u32>,
    /// How the pointer gets to where it acts: at once, or along a curve with rests, as a hand moves it
    #[arg(long, value_enum, value_name = "HOW")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// A navigation that an input shall begin, and how far it shall come
    #[command(flatten)]
    #[serde(skip_serializing_if = "ExpectNavigation::is_none")]
    pub expect_navigation: ExpectNavigation,
    /// What must hold after a mutation: one predicate, as verify takes it, with its own timeoutMs
    #[command(flatten)]
    #[serde(skip_serializing_if = "Expect::is_none")]
    pub expect: Expect,
    /// Refused until receipts exist; never ignored
    #[arg(long, value_name = "KEY", hide = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// How much of the page `expectedRevision` guards (contract 3.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum GuardScope {
    /// The target's own frame and the frames it lies in
    #[default]
    Frame,
    /// The target's nearest dialog, form, row or landmark
    Region,
    /// All frames
    Page,
}

/// How the pointer gets to where it acts (contract 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum Interaction {
    /// At once
    #[default]
    Fast,
    /// Along a curve with rests, as a hand moves it
    Human,
}

/// What of the page is shown after a mutation (contract 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "camelCase")]
pub enum ObserveAfter {
    /// Nothing
    #[default]
    None,
    /// Controls, dialogs and messages that are new or changed
    Summary,
    /// All of it
    Full,
}

/// Options that do not fit their bounds.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidOptions {
    /// `timeoutMs` out of range.
    #[error("timeoutMs is 1 to {MAX_TIMEOUT_MS}")]
    Timeout,
    /// `guardScope` without `expectedRevision`.
    #[error("guardScope says how much expectedRevision guards, and there is no expectedRevision")]
    ScopeAlone,
    /// `expectedRevision` for an operation that it does not guard.
    #[error("this operation takes no expectedRevision")]
    Unguarded,
    /// `scope` for an operation that looks for no element.
    #[error("this operation looks for no element, so it takes no scope")]
    Unscoped,
    /// `targetId` for an operation that is about all targets.
    #[error("this operation takes no targetId")]
    Untargeted,
    /// `frame` or `frameId` for an operation that is not confined by it.
    #[error("this operation takes no frame")]
    Unframed,
    /// `observe` for an operation that leaves no page to look at.
    #[error("this operation changes no page that could be looked at afterwards, so it takes no observe")]
    Unobserved,
    /// `observeMaxBytes` out of range, or where nothing is shown.
    #[error("observeMaxBytes is 512 to 65536, and bounds what observe summary or full shows")]
    ObserveBytes,
    /// `expect` for an operation that leaves no page to look at.
    #[error("this operation changes no page that could be looked at afterwards, so it takes no expect")]
    Unexpected,
    /// `expect` out of its bounds.
    #[error("{0}")]
    Expect(#[from] InvalidParams),
    /// `interaction` for what moves no pointer.
    #[error("this operation moves no pointer, so it takes no interaction")]
    Pointerless,
    /// `expectNavigation` for what is no input.
    #[error("this operation is no input that could begin a navigation, so it takes no expectNavigation")]
    Unnavigated,
    /// More than 10 steps, or an id that does not stand alone.
    #[error(
        "frame is one frame id, or up to {MAX_FRAME_STEPS} locators from the outside in, and not beside frameId"
    )]
    Frame,
}

impl CallOptions {
    /// Checks what the types cannot.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        if self.timeout_ms.is_some_and(|ms| !(1..=MAX_TIMEOUT_MS).contains(&ms)) {
            return Err(InvalidOptions::Timeout);
        }
        if self.guard_scope.is_some() && self.expected_revision.is_none() {
            return Err(InvalidOptions::ScopeAlone);
        }
        if self.observe_max_bytes.is_some_and(|bytes| !self.observes() || !(512..=65_536).contains(&bytes)) {
            return Err(InvalidOptions::ObserveBytes);
        }
        self.expect.check()?;
        self.expect_navigation.check()?;
        let ids = self.frame.iter().filter(|step| matches!(step, FrameStep::Id(_))).count();
        let both = self.frame_id.is_some() && !self.frame.is_empty();
        if self.frame.len() > MAX_FRAME_STEPS || (ids > 0 && self.frame.len() > 1) || both {
            return Err(InvalidOptions::Frame);
        }
        Ok(())
    }

    /// Checks that the operation takes what is given: nothing is ignored in silence.
    ///
    /// # Errors
    /// `expectedRevision` where it guards nothing, `targetId` where all targets are meant, a frame where none confines,
    /// `observe` and `expect` where no page is left to look at.
    pub fn check_for(&self, facts: &Facts) -> Result<(), InvalidOptions> {
        if self.expected_revision.is_some() && !facts.guarded {
            return Err(InvalidOptions::Unguarded);
        }
        if self.target_id.is_some() && !facts.targeted {
            return Err(InvalidOptions::Untargeted);
        }
        if (self.frame_id.is_some() || !self.frame.is_empty()) && !facts.framed {
            return Err(InvalidOptions::Unframed);
        }
        if self.observes() && !facts.leaves_page() {
            return Err(InvalidOptions::Unobserved);
        }
        if !self.expect.is_none() && !facts.leaves_page() {
            return Err(InvalidOptions::Unexpected);
        }
        Ok(())
    }

    /// Whether something of the page is shown afterwards.
    pub fn observes(&self) -> bool {
        self.observe.unwrap_or_default() != ObserveAfter::None
    }

    /// The time that it gives to what follows the operation itself.
    pub fn time_after(&self) -> Duration {
        self.expect.time()
    }

    /// The deadline of this call, `default` when it names none, with the time that it gives to what follows.
    pub fn timeout(&self, default: Duration) -> Duration {
        self.timeout_ms.map_or(default, Duration::from_millis)
            + self.expect_navigation.time()
            + self.time_after()
    }
}

/// A list, or its one element.
fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<FrameStep>, D::Error> {
    struct Steps;
    impl<'de> serde::de::Visitor<'de> for Steps {
        type Value = Vec<FrameStep>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a frame id or locators")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            text.parse().map(|step| vec![step]).map_err(E::custom)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut steps = Vec::new();
            while let Some(step) = seq.next_element()? {
                steps.push(step);
            }
            Ok(steps)
        }
    }
    from.deserialize_any(Steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_an_observation_needs_one() {
        let read = |json: &str| serde_json::from_str::<CallOptions>(json).unwrap().check();
        assert_eq!(read(r#"{"observe":"full","observeMaxBytes":512}"#), Ok(()));
        for bad in [
            r#"{"observeMaxBytes":512}"#,
            r#"{"observe":"none","observeMaxBytes":512}"#,
            r#"{"observe":"full","observeMaxBytes":511}"#,
        ] {
            assert_eq!(read(bad), Err(InvalidOptions::ObserveBytes), "{bad}");
        }
    }

    #[test]
    fn a_frame_is_one_id_or_up_to_ten_locators() {
        let read = |json: &str| serde_json::from_str::<CallOptions>(json).unwrap();
        for good in [r#"{"frame":"f2"}"#, r#"{"frame":["title=A","title=B"]}"#, r#"{"frameId":"main"}"#, "{}"]
        {
            let options = read(good);
            assert_eq!(options.check(), Ok(()), "{good}");
            assert_eq!(read(&serde_json::to_string(&options).unwrap()), options);
        }
        let many = format!(r#"{{"frame":[{}"css=iframe"]}}"#, r#""css=iframe","#.repeat(10));
        for bad in [r#"{"frame":["f2","title=A"]}"#, r#"{"frame":"f2","frameId":"f2"}"#, &many] {
            assert_eq!(read(bad).check(), Err(InvalidOptions::Frame), "{bad}");
        }
        assert!(serde_json::from_str::<CallOptions>(r#"{"frameId":"title=A"}"#).is_err());
    }
}
