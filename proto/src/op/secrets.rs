//! `captureSecrets`, `listSecrets`, `deleteSecrets`: a session's vault (contract 10.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, TextInput, seconds};
use crate::result::{SecretsCaptured, SecretsDeleted, SecretsListed};
use crate::secret::{self, SecretName};

/// Take values of the page into the session's vault
///
/// The code is the body of an async function that is given `set(name, value)`, and nothing else comes out of it: set('TOKEN',
/// document.querySelector('#token').textContent). It runs in one frame, in a world of its own, which sees the document
/// and what the site stores, but not the page's variables. The answer has the names. A value is kept for 10 minutes, in
/// memory alone; when the code throws, none is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CaptureSecrets {
    /// The code, at most 100000 characters; `-` reads standard input
    #[arg(required_unless_present = "file", default_value = "", hide_default_value = true)]
    pub code: String,
    /// Take the code from a file
    #[arg(long, value_name = "PATH", conflicts_with = "code")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl CaptureSecrets {
    /// Longest code, in characters (contract 10.8).
    pub const MAX_CODE: usize = 100_000;
}

impl Operation for CaptureSecrets {
    const FACTS: Facts = Facts {
        name: "captureSecrets",
        capability: Capability::CaptureSecrets,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = SecretsCaptured;

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        Some(TextInput { text: &mut self.code, file: &mut self.file })
    }

    fn check(&self) -> Result<(), InvalidParams> {
        super::at_least_one("code", self.code.trim().len())?;
        super::at_most("code", self.code.chars().count(), Self::MAX_CODE)
    }
}

/// List what the session's vault holds
///
/// Names and how long each is kept, never a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ListSecrets {}

impl Operation for ListSecrets {
    const FACTS: Facts = Facts {
        name: "listSecrets",
        capability: Capability::Read,
        effect: Effect::Read,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = SecretsListed;
}

/// Delete secrets of the session's vault
///
/// The answer tells apart what was deleted and what was not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DeleteSecrets {
    /// Their names, at most 64
    #[arg(value_name = "NAME", required_unless_present = "all")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", length(max = 64))]
    pub names: Vec<SecretName>,
    /// All of them
    #[arg(long, conflicts_with = "names")]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

impl Operation for DeleteSecrets {
    const FACTS: Facts = Facts {
        name: "deleteSecrets",
        capability: Capability::CaptureSecrets,
        effect: Effect::Mutation,
        lane: Lane::Control,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = SecretsDeleted;

    fn check(&self) -> Result<(), InvalidParams> {
        if self.names.is_empty() != self.all {
            return Err(InvalidParams("give names, or all".to_owned()));
        }
        super::at_most("names", self.names.len(), secret::MOST)
    }
}
