//! What `capabilities` answers (contract 7.7).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::visible;

/// What a target shows, and what can be done with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    /// The target.
    pub target_id: String,
    /// page, pdf, image, viewer (text, JSON, XML, sound, video), internal or error.
    pub kind: String,
    /// Media type of the document's response, where there was one. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_media_type: Option<String>,
    /// Operations, and whether they work there; null where nobody has tried.
    pub operations: BTreeMap<String, Option<bool>>,
    /// Formats of exportPage, the same.
    pub exports: BTreeMap<String, Option<bool>>,
}

pub(super) fn text(told: &Capabilities) -> String {
    let mut out = format!("target {} shows: {}", told.target_id, told.kind);
    if let Some(kind) = &told.page_media_type {
        out.push_str(&format!(" ({})", visible(kind, false)));
    }
    for (what, rows) in [("operations", &told.operations), ("exports", &told.exports)] {
        for (word, wanted) in [("work", Some(true)), ("do not work", Some(false)), ("not tried", None)] {
            let names: Vec<_> =
                rows.iter().filter(|(_, works)| **works == wanted).map(|(name, _)| name.as_str()).collect();
            if !names.is_empty() {
                out.push_str(&format!("\n{what}, {word}: {}", names.join(" ")));
            }
        }
    }
    out
}
