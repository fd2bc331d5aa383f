//! What `glassctl config` is told by glassd, which alone reads the configuration: one JSON object.

use serde::{Deserialize, Serialize};

/// The settings that glassd would start with, or why it would not start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The file that is read.
    pub path: String,
    /// Whether it is there; the defaults hold where it is not.
    pub exists: bool,
    /// Every setting, in the order of the reference. Empty where there is a mistake.
    pub settings: Vec<Setting>,
    /// What is wrong, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistake: Option<String>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Section and name: `sessions.max`.
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Where it comes from.
    pub from: Source,
}

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Nobody changed it.
    Default,
    /// The file.
    File,
    /// An environment variable.
    Environment,
}

impl Source {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}
