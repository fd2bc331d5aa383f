//! `Storage`: the cookies of the browser, asked on its own session.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Asks for all cookies.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetCookies {}
command!(GetCookies = "Storage.getCookies" -> Cookies);

/// All cookies.
#[derive(Clone, Debug, Deserialize)]
pub struct Cookies {
    /// In no certain order.
    pub cookies: Vec<Cookie>,
}

/// A cookie.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// What it holds.
    #[serde(default)]
    pub value: String,
    /// The host, or with a dot before it a domain.
    #[serde(default)]
    pub domain: String,
    /// The path.
    #[serde(default)]
    pub path: String,
    /// Seconds since 1970; -1 for one that ends with the session.
    #[serde(default)]
    pub expires: f64,
    /// Scripts do not see it.
    #[serde(default)]
    pub http_only: bool,
    /// Sent over https alone.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax`, `None`; absent when it was not said.
    pub same_site: Option<String>,
    /// `Unset`, `Secure`, `NonSecure`.
    pub source_scheme: Option<String>,
    /// The port of its origin; -1 when it is not known.
    pub source_port: Option<i64>,
    /// The site whose pages alone have it.
    pub partition_key: Option<PartitionKey>,
    /// That site is an opaque one.
    #[serde(default)]
    pub partition_key_opaque: bool,
}

/// Where a partitioned cookie is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartitionKey {
    /// The site of the page at the top.
    pub top_level_site: String,
    /// Whether a frame between is of another site.
    #[serde(default)]
    pub has_cross_site_ancestor: bool,
}

/// Sets cookies; one that has ended already takes the one in its place away.
#[derive(Clone, Debug, Serialize)]
pub struct SetCookies<'a> {
    /// The cookies.
    pub cookies: &'a [CookieParam<'a>],
}
command!(SetCookies<'a> = "Storage.setCookies" -> Empty);

/// A cookie to be set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CookieParam<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub value: &'a str,
    /// The host, or with a dot before it a domain.
    pub domain: &'a str,
    /// The path.
    pub path: &'a str,
    /// Sent over https alone.
    pub secure: bool,
    /// Scripts do not see it.
    pub http_only: bool,
    /// `Strict`, `Lax`, `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<&'a str>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// `Unset`, `Secure`, `NonSecure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_scheme: Option<&'a str>,
    /// The port of its origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_port: Option<i64>,
    /// The site whose pages alone have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<PartitionKey>,
}

/// Deletes all cookies.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClearCookies {}
command!(ClearCookies = "Storage.clearCookies" -> Empty);
