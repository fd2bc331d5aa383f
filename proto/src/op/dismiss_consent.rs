//! `dismissConsent`: answer a known consent dialog (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, seconds};
use crate::result::Acted;

/// Answer a cookie consent dialog, by rejecting where it lets one
///
/// Knows those of OneTrust, Cookiebot, Didomi, Quantcast and TrustArc, and presses nothing on a page that shows none of
/// them. Rejects by its own button, on its second layer if need be, and accepts only where there is no way to reject.
/// The answer says what was pressed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DismissConsent {
    /// Never accept: where it cannot be rejected, press nothing
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reject_only: bool,
    /// How long a dialog is waited for that does not show yet, in milliseconds (0 to 10000, otherwise 1000)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 10_000))]
    pub wait_ms: Option<u32>,
}

impl DismissConsent {
    /// How long a dialog is waited for when the call does not say, in milliseconds.
    pub const WAIT_MS: u32 = 1000;
}

impl Operation for DismissConsent {
    const FACTS: Facts = Facts {
        name: "dismissConsent",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(15),
        guarded: true,
        targeted: true,
        framed: false,
    };
    type Output = Acted;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("waitMs", self.wait_ms.unwrap_or(Self::WAIT_MS), 0..=10_000)
    }
}
