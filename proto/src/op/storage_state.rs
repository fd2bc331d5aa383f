//! `storageState`: what the session keeps for sites, as a file (contract 7.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, seconds};
use crate::result::StorageMoved;
use crate::storage::StorageFile;

/// Save what the session keeps for sites, or load it: cookies, localStorage, sessionStorage, IndexedDB
///
/// The file is JSON as Playwright writes and reads it; it holds logins, so it is made readable for its owner alone.
/// Saved are all cookies, and what the origins keep that the session has shown; of sessionStorage, that of the page. Load
/// works before the first page, visits no site, and says what was not taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StorageState {
    /// What to do
    #[arg(value_enum)]
    pub action: StorageAction,
    /// The file, inside the file root; saving replaces it
    #[arg(value_name = "FILE", required = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub path: Option<PathBuf>,
    /// What the file holds; the client puts it here.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub state: Option<Box<StorageFile>>,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum StorageAction {
    /// Write it to a file
    Save,
    /// Put what a file holds into the session
    Load,
}

impl StorageState {
    /// Largest file, in bytes.
    pub const MAX_BYTES: usize = 8 * 1024 * 1024;
    /// Most origins of a file.
    pub const MAX_ORIGINS: usize = 256;
    /// Most cookies of a file: what Chromium keeps.
    pub const MAX_COOKIES: usize = 3300;
}

impl Operation for StorageState {
    const FACTS: Facts = Facts {
        name: "storageState",
        capability: Capability::StorageState,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::StartsSession,
        timeout: seconds(30),
        guarded: false,
        targeted: true,
        framed: false,
    };
    type Output = StorageMoved;

    fn needs(&self) -> Needs {
        if self.action == StorageAction::Load { Needs::StartsSession } else { Needs::OpenPage }
    }

    fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        match (self.action, &self.path, &self.state) {
            (StorageAction::Save, _, Some(_)) => wrong("save takes no state"),
            (StorageAction::Load, None, None) => wrong("load takes the path of a file"),
            (StorageAction::Load, Some(_), Some(_)) => wrong("load takes a path or a state, not both"),
            (StorageAction::Load, None, Some(state)) => {
                let most = (Self::MAX_COOKIES, Self::MAX_ORIGINS);
                super::at_most("cookies", state.cookies.len(), most.0)?;
                super::at_most("origins", state.origins.len(), most.1)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_takes_one_source_and_save_none() {
        let read = |json: &str| serde_json::from_str::<StorageState>(json).unwrap().check();
        for good in [
            r#"{"action":"save","path":"s.json"}"#,
            r#"{"action":"save"}"#,
            r#"{"action":"load","path":"s.json"}"#,
            r#"{"action":"load","state":{"cookies":[]}}"#,
        ] {
            assert_eq!(read(good), Ok(()), "{good}");
        }
        for bad in [
            r#"{"action":"load"}"#,
            r#"{"action":"load","path":"s.json","state":{}}"#,
            r#"{"action":"save","state":{}}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
