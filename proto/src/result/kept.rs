//! What `cookies`, `storageState` and `clipboard` answer: what a session keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::storage::SameSite;

/// What was done with cookies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CookiesAnswered {
    /// get, set, delete or clear.
    pub action: String,
    /// get: those that were asked for, with their values. set: the one that is stored now. delete and clear: those that
    /// are gone. At most 500, and 1 MiB.
    pub cookies: Vec<Cookie>,
    /// More of them, which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// One cookie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Cookie {
    /// Its name. Page data.
    pub name: String,
    /// What it holds; for get alone. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The host that has it, or with a dot before it a domain whose subdomains have it too.
    pub domain: String,
    /// The path that it is sent for. Page data.
    pub path: String,
    /// When it ends, in seconds since 1970. Absent: with the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// Scripts do not see it.
    pub http_only: bool,
    /// Sent over https, and to this machine itself, alone.
    pub secure: bool,
    /// Which requests from other sites carry it. Absent: the browser's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
    /// It is in pages below one site alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
}

/// Where a partitioned cookie is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Partition {
    /// The site of the page at the top.
    pub top_level_site: String,
    /// Whether it was set below a page of another site than its own.
    pub has_cross_site_ancestor: bool,
    /// The site is not a lasting one, such as that of a `data:` page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub opaque: bool,
}

/// What was saved or loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageMoved {
    /// save or load.
    pub action: String,
    /// Where the client wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Size of the file that was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Cookies that were saved, or are in the session now.
    pub cookies: u64,
    /// What was saved of origins, or is there now.
    pub origins: Vec<OriginMoved>,
    /// What was not, with the reason; at most 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<NotMoved>,
    /// How many were not, in all.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused_total: u64,
}

/// What was moved of one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OriginMoved {
    /// The origin.
    pub origin: String,
    /// Items of localStorage.
    pub local_storage: u64,
    /// Items of sessionStorage.
    pub session_storage: u64,
    /// Records of IndexedDB.
    pub indexed_db: u64,
}

/// Something that was not saved or not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NotMoved {
    /// cookie, localStorage, sessionStorage, indexedDB or origin.
    pub what: String,
    /// Where: an origin, or a cookie's domain.
    pub place: String,
    /// Its name, where it has one. Page data.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Why: expired; refused_by_browser; quota; not_reached, not_an_origin; no_such_form for values that JSON cannot
    /// hold; other_page for sessionStorage of another origin than the page shows; page_does_not_answer; too_many.
    pub reason: String,
    /// How many of its kind; absent for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// What the session's clipboard holds, or was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClipboardAnswered {
    /// read or write.
    pub action: String,
    /// Its text, for read; absent when it holds none. Page data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_text: Option<String>,
    /// Characters of the text that it holds.
    pub characters: u64,
    /// The text is longer than what is given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Forms in which the content is there, such as text/html, for read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
