//! `evaluate`: run script in the page (contract 5.3).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, TextInput, seconds};
use crate::result::Evaluated;

/// Run script in the page and print its value
///
/// Promises are awaited. A text that is no expression runs as the body of an async function: use return. The value
/// must be JSON, at most 1 MiB. With --target the script runs in the frame of that element and is given it: write a
/// function of it, or use the name `element`. glassArtifact(name, content, mime) keeps text, bytes or a Blob as a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Evaluate {
    /// The script; `-` reads standard input
    #[arg(required_unless_present = "file", default_value = "", hide_default_value = true)]
    pub expression: String,
    /// Take the script from a file
    #[arg(long, value_name = "PATH", conflicts_with = "expression")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// An element that the script is given, in whichever frame it is
    #[arg(long, value_name = "LOCATOR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// A further argument of the function, as JSON text; repeat for more (at most 16)
    #[arg(long = "arg", value_name = "JSON")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The directory for what the script keeps by glassArtifact, at most 32 files and 20 MiB; inside the file root
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub artifacts: Option<PathBuf>,
}

impl Evaluate {
    /// The further arguments as values.
    ///
    /// # Errors
    /// One of them is no JSON.
    pub fn values(&self) -> Result<Vec<serde_json::Value>, super::InvalidParams> {
        let wrong =
            || super::InvalidParams("args are JSON, such as 3, true or \"text\" with its quotes".to_owned());
        self.args.iter().map(|text| serde_json::from_str(text).map_err(|_| wrong())).collect()
    }

    /// What a script calls to keep a file.
    pub const KEEP: &str = "glassArtifact";
    /// Most files that a script keeps.
    pub const MAX_ARTIFACTS: usize = 32;
    /// Most bytes of all of them.
    pub const MAX_ARTIFACT_BYTES: usize = 20 * 1024 * 1024;
    /// Longest script, in bytes.
    pub const MAX_SOURCE: usize = 1024 * 1024;
    /// Largest value, in bytes of JSON.
    pub const MAX_VALUE: usize = 1024 * 1024;
}

impl Operation for Evaluate {
    const FACTS: Facts = Facts {
        name: "evaluate",
        capability: Capability::Evaluate,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = Evaluated;

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        Some(TextInput { text: &mut self.expression, file: &mut self.file })
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::at_least_one("expression", self.expression.trim().len())?;
        super::at_most("expression", self.expression.len(), Self::MAX_SOURCE)?;
        super::at_most("args", self.args.len(), 16)?;
        let size: usize = self.args.iter().map(String::len).sum();
        super::at_most("args", size, Self::MAX_SOURCE)?;
        self.values().map(drop)
    }
}
