//! `cookies`: read, set and delete the session's cookies (contract 7.8).

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Capability, Effect, Facts, InvalidParams, Lane, Needs, Operation, TextInput, at_most, seconds};
use crate::result::CookiesAnswered;
use crate::storage::SameSite;

/// Read, set or delete the session's cookies
///
/// `get` lists them with their values, which no other operation shows. `set` takes a name, a value, and --url or
/// --domain; it works before the first page. `delete` takes a name, `clear` takes all; --url and --domain narrow both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Cookies {
    /// What to do
    #[arg(value_enum)]
    pub action: CookieAction,
    /// Only the cookie of this name
    #[arg(value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For set: what it holds, at most 4096 bytes with the name; `-` reads standard input
    #[arg(value_name = "VALUE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// For set: take the value from a file
    #[arg(long, value_name = "PATH", conflicts_with = "value")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Only those that a request to this URL carries; for set: the page that it belongs to
    #[arg(long, value_name = "URL")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Only those of this domain and its subdomains; for set: a domain whose subdomains get it too
    #[arg(long, value_name = "DOMAIN")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// For set: the path that it is sent for; / when not given
    #[arg(long, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For set: when it ends, in seconds since 1970; without it, with the session
    #[arg(long, value_name = "SECONDS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// For set: scripts do not see it
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub http_only: bool,
    /// For set: sent over https, and to this machine itself, alone
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secure: bool,
    /// For set: which requests from other sites carry it
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
    /// For set: only in pages below this site, such as https://example.com
    #[arg(long, value_name = "SITE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
}

/// What is done with cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum CookieAction {
    /// List them with their values
    Get,
    /// Set one
    Set,
    /// Delete those of a name
    Delete,
    /// Delete all, or those that --url or --domain name
    Clear,
}

impl CookieAction {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::Delete => "delete",
            Self::Clear => "clear",
        }
    }
}

impl Cookies {
    /// Most bytes of name and value together: what Chromium keeps.
    pub const MAX_BYTES: usize = 4096;
    /// Most bytes of an attribute.
    pub const MAX_ATTRIBUTE: usize = 1024;

    fn attributes(&self) -> [(&'static str, bool); 6] {
        [
            ("path", self.path.is_some()),
            ("expires", self.expires.is_some()),
            ("httpOnly", self.http_only),
            ("secure", self.secure),
            ("sameSite", self.same_site.is_some()),
            ("partitionKey", self.partition_key.is_some()),
        ]
    }

    fn check_set(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        let (Some(name), Some(value)) = (&self.name, &self.value) else {
            return wrong("set takes a name and a value");
        };
        if name.is_empty() || name.chars().any(|c| c.is_control() || c == '=' || c == ';') {
            return wrong("a cookie's name is not empty and has no =, no ; and no control characters");
        }
        if value.chars().any(|c| c.is_control() || c == ';') {
            return wrong("a cookie's value has no ; and no control characters");
        }
        at_most("name and value", name.len() + value.len(), Self::MAX_BYTES)?;
        if self.url.is_none() && self.domain.is_none() {
            return wrong("set takes url or domain, so that it is known where the cookie belongs");
        }
        if self.path.as_ref().is_some_and(|path| !path.starts_with('/') || path.chars().any(char::is_control))
        {
            return wrong("path begins with /");
        }
        if self.expires.is_some_and(|at| !at.is_finite() || at <= 0.0) {
            return wrong("expires is a number of seconds since 1970");
        }
        if self.same_site == Some(SameSite::None) && !self.secure {
            return wrong("a cookie with sameSite None must be secure");
        }
        if let Some(site) = &self.partition_key {
            if !web_url(site) {
                return wrong("partitionKey is a site such as https://example.com");
            }
            if !self.secure {
                return wrong("a cookie with a partitionKey must be secure");
            }
        }
        Ok(())
    }
}

fn web_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

impl Operation for Cookies {
    const FACTS: Facts = Facts {
        name: "cookies",
        capability: Capability::Cookies,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::StartsSession,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    };
    type Output = CookiesAnswered;

    fn needs(&self) -> Needs {
        // Where there is no session there is nothing to read and nothing to delete.
        if self.action == CookieAction::Set { Needs::StartsSession } else { Needs::OpenPage }
    }

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        if self.action != CookieAction::Set || (self.value.is_none() && self.file.is_none()) {
            return None;
        }
        Some(TextInput { text: self.value.get_or_insert_default(), file: &mut self.file })
    }

    fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        for (name, text) in [
            ("name", &self.name),
            ("url", &self.url),
            ("domain", &self.domain),
            ("path", &self.path),
            ("partitionKey", &self.partition_key),
        ] {
            let most = if name == "url" { 8192 } else { Self::MAX_ATTRIBUTE };
            at_most(name, text.as_ref().map_or(0, String::len), most)?;
        }
        if self.url.as_deref().is_some_and(|url| !web_url(url)) {
            return wrong("url is a whole URL of a page, such as https://example.com/");
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        if let Some(domain) = &self.domain
            && (domain.trim_matches('.').is_empty() || !domain.chars().all(plain))
        {
            return wrong("domain is a host name such as example.com");
        }
        if self.action == CookieAction::Set {
            return self.check_set();
        }
        if self.value.is_some() || self.file.is_some() {
            return wrong("a value is for set");
        }
        if let Some((name, _)) = self.attributes().into_iter().find(|(_, given)| *given) {
            return Err(InvalidParams(format!("{name} is for set")));
        }
        match (self.action, &self.name) {
            (CookieAction::Delete, None) => wrong("delete takes a name; clear deletes all"),
            (CookieAction::Clear, Some(_)) => wrong("clear takes no name; delete does"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<(), InvalidParams> {
        serde_json::from_str::<Cookies>(json).unwrap().check()
    }

    #[test]
    fn each_action_takes_what_it_can_use_and_nothing_else() {
        for good in [
            r#"{"action":"get"}"#,
            r#"{"action":"get","name":"a","url":"https://x.example/p"}"#,
            r#"{"action":"set","name":"a","value":"","domain":".x.example"}"#,
            r#"{"action":"set","name":"a","value":"b","url":"https://x.example","secure":true,"sameSite":"None","partitionKey":"https://top.example"}"#,
            r#"{"action":"delete","name":"a"}"#,
            r#"{"action":"clear","domain":"x.example"}"#,
        ] {
            assert_eq!(read(good), Ok(()), "{good}");
        }
        for bad in [
            r#"{"action":"get","value":"secret"}"#,
            r#"{"action":"get","secure":true}"#,
            r#"{"action":"get","url":"x.example"}"#,
            r#"{"action":"set","name":"a","value":"secret"}"#,
            r#"{"action":"set","name":"a=b","value":"secret","domain":"x"}"#,
            r#"{"action":"set","name":"a","value":"secret;Domain=y","domain":"x"}"#,
            r#"{"action":"set","name":"a","value":"secret","domain":"x","sameSite":"None"}"#,
            r#"{"action":"set","name":"a","value":"secret","domain":"x","partitionKey":"https://t"}"#,
            r#"{"action":"set","name":"a","value":"secret","domain":"x","path":"p"}"#,
            r#"{"action":"set","name":"a","value":"secret","domain":"x y"}"#,
            r#"{"action":"delete"}"#,
            r#"{"action":"clear","name":"a"}"#,
        ] {
            let error = read(bad).unwrap_err();
            assert!(!error.0.contains("secret"), "{error}");
        }
    }

    #[test]
    fn only_setting_begins_a_session() {
        let cookies = |json: &str| serde_json::from_str::<Cookies>(json).unwrap();
        assert_eq!(cookies(r#"{"action":"set"}"#).needs(), Needs::StartsSession);
        assert_eq!(cookies(r#"{"action":"clear"}"#).needs(), Needs::OpenPage);
    }
}
