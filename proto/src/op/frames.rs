//! `listFrames` and `selectFrame` (contract 7.1), and how a call names a frame (4.1).

use std::fmt;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locator::Locator;
use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::{Frames, TargetSelected};

/// A frame's document: `main`, or `f` and a number as list-frames and observe print it. A new document in the frame
/// has a new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FrameId(pub u32);

/// A text that is no frame id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a frame id is `main`, or `f` and a number as printed by list-frames")]
pub struct InvalidFrameId;

impl FromStr for FrameId {
    type Err = InvalidFrameId;
    fn from_str(text: &str) -> Result<Self, InvalidFrameId> {
        if text == "main" {
            return Ok(Self(0));
        }
        let number = text.strip_prefix('f').filter(|digits| {
            !digits.is_empty()
                && !digits.starts_with('0')
                && digits.bytes().all(|digit| digit.is_ascii_digit())
        });
        number.and_then(|digits| digits.parse().ok()).map(Self).ok_or(InvalidFrameId)
    }
}

impl TryFrom<String> for FrameId {
    type Error = InvalidFrameId;
    fn try_from(text: String) -> Result<Self, InvalidFrameId> {
        text.parse()
    }
}

impl From<FrameId> for String {
    fn from(id: FrameId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("main"),
            number => write!(f, "f{number}"),
        }
    }
}

/// One step on the way to a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FrameStep {
    /// The frame itself.
    Id(FrameId),
    /// The element that holds it, in the frame that the step before named.
    Element(Locator),
}

impl FromStr for FrameStep {
    type Err = <Locator as FromStr>::Err;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(InvalidFrameId) => text.parse().map(Self::Element),
        }
    }
}

impl TryFrom<String> for FrameStep {
    type Error = <Locator as FromStr>::Err;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FrameStep> for String {
    fn from(step: FrameStep) -> Self {
        match step {
            FrameStep::Id(id) => id.to_string(),
            FrameStep::Element(locator) => locator.to_string(),
        }
    }
}

/// List the frames of the page
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ListFrames {}

/// Choose the frame that later commands look into
///
/// With `main`, which is the choice at the start, locators look into every frame. With another frame they look into
/// that one alone, until its document goes; later commands then say frame_gone until a frame is chosen again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SelectFrame {
    /// `main`, or the frame as list-frames names it
    #[schemars(with = "String")]
    pub id: FrameId,
}

impl Operation for ListFrames {
    const FACTS: Facts = Facts {
        name: "listFrames",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Frames;
}

impl Operation for SelectFrame {
    const FACTS: Facts = Facts {
        name: "selectFrame",
        capability: Capability::Read,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = TargetSelected;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_ids_are_main_or_a_number_and_everything_else_is_a_locator() {
        assert_eq!("main".parse(), Ok(FrameId(0)));
        assert_eq!("f12".parse(), Ok(FrameId(12)));
        for bad in ["", "f", "f0", "f01", "F1", "f1e2", "f99999999999", "mains"] {
            assert_eq!(bad.parse::<FrameId>(), Err(InvalidFrameId), "{bad}");
        }
        assert!(matches!("f3".parse(), Ok(FrameStep::Id(FrameId(3)))));
        for locator in ["css=iframe", "title=Payment", "f2e3", "name=main"] {
            let step: FrameStep = locator.parse().unwrap();
            assert!(matches!(&step, FrameStep::Element(_)), "{locator}");
            assert_eq!(String::from(step.clone()).parse(), Ok(step));
        }
    }
}
