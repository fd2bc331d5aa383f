//! `reconcileReferences`: refs of an earlier revision in terms of the present one (contract 3.7).

use std::num::NonZeroU64;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Needs, Operation, Ref, seconds};
use crate::result::Reconciled;

/// Say what became of refs of an earlier revision
///
/// Each is preserved, relocated to the one element that came in its place with the same role, name and surroundings, or
/// lost. Acts on nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReconcileReferences {
    /// The refs, as they were given (1 to 16)
    #[arg(required = true, value_name = "REF")]
    #[schemars(with = "Vec<String>", length(min = 1, max = 16))]
    pub refs: Vec<Ref>,
    /// The revision that those without one of their own are of
    #[arg(long, value_name = "REVISION")]
    #[schemars(with = "u64")]
    pub from_revision: NonZeroU64,
}

impl ReconcileReferences {
    /// Refs of one call at most (contract 3.7).
    pub const MAX_REFS: usize = 16;
}

impl Operation for ReconcileReferences {
    const FACTS: Facts = Facts {
        name: "reconcileReferences",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = Reconciled;

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::at_least_one("refs", self.refs.len())?;
        super::at_most("refs", self.refs.len(), Self::MAX_REFS)
    }

    fn takes_scope(&self) -> bool {
        true
    }
}
