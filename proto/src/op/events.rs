//! `events`: what happened in a session, whether somebody waited for it or not (contract 7.6).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, in_range, seconds};
use crate::result::{EventKind, Events as Told};

/// Tell what happened: dialogs, choosers, downloads, navigations, popups, crashes, ends of actions, and more
///
/// Of every target, or of that of --target-id. With --after the oldest come first, so that the answer's `next` reads on;
/// without it the newest are told. With --timeout-ms it waits until then for the first one, else it answers at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Events {
    /// Only these
    #[arg(long = "kind", value_name = "KIND", value_enum)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<EventKind>,
    /// Only what came after this cursor, the `next` of an earlier answer
    #[arg(long, value_name = "CURSOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most so many, 1 to 200; 100 without it
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u16>,
    /// Go on with what comes, a line each, from now on or from --after, until Ctrl-C, --until or --timeout-ms
    #[arg(long, conflicts_with = "limit")]
    #[serde(skip)]
    pub follow: bool,
    /// With --follow: end with the first event of this kind
    #[arg(long, value_name = "KIND", value_enum, requires = "follow")]
    #[serde(skip)]
    pub until: Option<EventKind>,
}

impl Events {
    /// Events when no limit is given.
    pub const LIMIT: u16 = 100;
    /// The most events, and how many of a target are kept.
    pub const MAX_LIMIT: u16 = 200;
    /// The longest wait, in milliseconds.
    pub const MAX_WAIT_MS: u64 = 25_000;
}

impl Operation for Events {
    const FACTS: Facts = Facts {
        name: "events",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Watch,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Told;

    fn check(&self) -> Result<(), InvalidParams> {
        if self.until.is_some_and(|until| !self.kinds.is_empty() && !self.kinds.contains(&until)) {
            return Err(InvalidParams("until is one of the kinds that are told".to_owned()));
        }
        in_range("limit", self.limit.unwrap_or(1).into(), 1..=Self::MAX_LIMIT.into())
    }
}
