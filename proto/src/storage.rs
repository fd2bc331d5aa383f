//! What a session keeps for sites, as it stands in a file: the form of Playwright's `storageState`, so that files go
//! both ways.
//!
//! `sessionStorage` is ours; Playwright leaves it alone. What a file has beyond these fields is not read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which requests from other sites carry a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum SameSite {
    /// None
    Strict,
    /// Links that are followed
    Lax,
    /// All
    None,
}

impl SameSite {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageFile {
    /// Cookies.
    pub cookies: Vec<StoredCookie>,
    /// What origins keep.
    pub origins: Vec<StoredOrigin>,
}

/// One cookie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCookie {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: String,
    /// The host, or with a dot before it a domain.
    pub domain: String,
    /// The path.
    #[serde(default = "root")]
    pub path: String,
    /// Seconds since 1970; -1: it ends with the session.
    #[serde(default = "session")]
    pub expires: f64,
    /// Scripts do not see it.
    #[serde(default)]
    pub http_only: bool,
    /// Sent over https alone.
    #[serde(default)]
    pub secure: bool,
    /// Which requests from other sites carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
    /// The site whose pages alone have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
    /// Whether it was set below a page of another site than its own; goes with `partitionKey`.
    #[serde(rename = "_crHasCrossSiteAncestor", default, skip_serializing_if = "Option::is_none")]
    pub cross_site_ancestor: Option<bool>,
}

fn root() -> String {
    "/".to_owned()
}

fn session() -> f64 {
    -1.0
}

/// What one origin keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StoredOrigin {
    /// Such as `https://example.com`.
    pub origin: String,
    /// `localStorage`.
    pub local_storage: Vec<StoredItem>,
    /// `sessionStorage` of the one page that was saved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub session_storage: Vec<StoredItem>,
    /// IndexedDB, each database as Playwright writes it.
    #[serde(rename = "indexedDB", skip_serializing_if = "Vec::is_empty")]
    pub indexed_db: Vec<Value>,
}

/// A pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItem {
    /// Its key.
    pub name: String,
    /// Its text.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_playwright_are_read() {
        let text = r#"{"cookies":[{"name":"a","value":"b","domain":".x.example","path":"/","expires":-1,"httpOnly":true,
            "secure":true,"sameSite":"Lax"}],"origins":[{"origin":"https://x.example","localStorage":[{"name":"k","value":"v"}],
            "indexedDB":[{"name":"db","version":1,"stores":[]}]}]}"#;
        let file: StorageFile = serde_json::from_str(text).unwrap();
        assert_eq!(file.cookies[0].same_site, Some(SameSite::Lax));
        assert_eq!(file.origins[0].indexed_db.len(), 1);
        let again = serde_json::to_value(&file).unwrap();
        let given = text.replace("-1,", "-1.0,");
        assert_eq!(again, serde_json::from_str::<Value>(&given).unwrap());
        assert_eq!(serde_json::from_str::<StorageFile>("{}").unwrap(), StorageFile::default());
    }
}
