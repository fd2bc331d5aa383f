//! `recover`: ends what an operation is stuck in, and nothing else (contract 7.7).

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, seconds};
use crate::id::ExecutionId;
use crate::result::Recovered;

/// End an operation that is stuck, by closing its page or ending the browser
///
/// What was sent before is not undone: the operation's outcome is unknown, or rejected where nothing was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Recover {
    /// The operation that is stuck, as health names it
    #[schemars(with = "String")]
    pub execution_id: ExecutionId,
    /// What is ended
    #[arg(long, value_enum)]
    pub method: RecoverMethod,
    /// Why this is right, in 1 to 2000 characters; it is audited
    #[arg(long, value_name = "TEXT")]
    #[schemars(length(min = 1, max = 2000))]
    pub approval: String,
}

/// What is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum RecoverMethod {
    /// The page that the operation is about, and no other
    CloseTarget,
    /// The whole browser with all its pages; the next navigate begins anew
    RestartBrowser,
}

impl RecoverMethod {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::CloseTarget => "close_target",
            Self::RestartBrowser => "restart_browser",
        }
    }
}

impl Operation for Recover {
    const FACTS: Facts = Facts {
        name: "recover",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = Recovered;

    fn also_needs(&self) -> Vec<Capability> {
        let restarts = self.method == RecoverMethod::RestartBrowser;
        if restarts { vec![Capability::RecoverBrowser] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), InvalidParams> {
        if (1..=2000).contains(&self.approval.chars().count()) {
            return Ok(());
        }
        Err(InvalidParams("approval says in 1 to 2000 characters why this is right".to_owned()))
    }
}
