//! What `networkBody` answers (contract 7.5).

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::visible;

/// The body of an answer, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkBody {
    /// Where the command line wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The request.
    pub request_id: String,
    /// What was asked for, without query values and credentials. Page data.
    pub page_url: String,
    /// The HTTP status, where there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Media type as the site says. Page data.
    pub media_type: String,
    /// Size of the whole body in bytes.
    pub bytes: u64,
    /// From which byte on it is given.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// It is no text, and given as Base64.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub base64: bool,
    /// The body. Page data.
    pub page_body: String,
    /// Bytes behind the part that is given.
    pub left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(super) fn text(told: &NetworkBody) -> String {
    let status = told.status.map_or(String::new(), |status| format!(" {status}"));
    let kind = visible(&told.media_type, false);
    let mut out = format!("{}{status} · {kind} · {} bytes", visible(&told.page_url, false), told.bytes);
    if let Some(path) = &told.path {
        let _ = write!(out, " · {}", visible(path, false));
        return out;
    }
    if told.base64 {
        out.push_str(" · Base64");
    }
    let _ = write!(out, "\n{}", visible(&told.page_body, true));
    if told.left_out > 0 {
        let next = told.bytes - told.left_out;
        let _ = write!(out, "\n[left out: {} bytes; --offset {next} reads on]", told.left_out);
    }
    out
}
