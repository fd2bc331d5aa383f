//! The call option `expectNavigation`: a navigation that an input shall begin (contract 5.3).

use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InvalidParams, WaitUntil};

// No doc comment: clap would take it as the text about every subcommand that flattens this struct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Args)]
#[serde(from = "Given", into = "Given")]
pub struct ExpectNavigation {
    /// Wait for a navigation that this begins, a reload or a change within the page too; to this URL, where one is given
    /// (a glob as in url-matches). The answer says whether it came
    #[arg(
        id = "expect_navigation", long = "expect-navigation", value_name = "URL",
        num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub url: Option<String>,
    /// How far its page shall have come
    #[arg(
        id = "navigation_until",
        long = "navigation-until",
        value_enum,
        value_name = "WHEN",
        requires = "expect_navigation"
    )]
    pub wait_until: Option<WaitUntil>,
    /// How long that may take, in milliseconds beside the deadline (1 to 300000, otherwise 10000)
    #[arg(id = "navigation_timeout_ms", long = "navigation-timeout-ms", value_name = "MS", requires = "expect_navigation", value_parser = clap::value_parser!(u64).range(1..=300_000))]
    pub timeout_ms: Option<u64>,
}

/// A navigation that an input shall begin, and how far its page shall come
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Given {
    /// Where to: a URL, or a glob as in urlMatches; anywhere when not given
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// How far its page shall have come
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wait_until: Option<WaitUntil>,
    /// How long that may take, beside the deadline (10000)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300_000))]
    timeout_ms: Option<u64>,
}

impl From<Given> for ExpectNavigation {
    fn from(given: Given) -> Self {
        let Given { url, wait_until, timeout_ms } = given;
        Self { url: Some(url.unwrap_or_default()), wait_until, timeout_ms }
    }
}

impl From<ExpectNavigation> for Given {
    fn from(expect: ExpectNavigation) -> Self {
        let ExpectNavigation { url, wait_until, timeout_ms } = expect;
        Self { url: url.filter(|url| !url.is_empty()), wait_until, timeout_ms }
    }
}

impl JsonSchema for ExpectNavigation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExpectNavigation".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Given::json_schema(generator)
    }
}

impl ExpectNavigation {
    /// How long it may take when the call does not say.
    pub const TIMEOUT_MS: u64 = 10_000;

    /// Whether none is expected.
    pub fn is_none(&self) -> bool {
        self.url.is_none()
    }

    /// Where to, where that was said.
    pub fn to(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| !url.is_empty())
    }

    /// How long it may take; zero where none is expected.
    pub fn time(&self) -> Duration {
        match self.is_none() {
            true => Duration::ZERO,
            false => Duration::from_millis(self.timeout_ms.unwrap_or(Self::TIMEOUT_MS)),
        }
    }

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Which bound is not kept, never the value.
    pub fn check(&self) -> Result<(), InvalidParams> {
        if self.timeout_ms.is_some_and(|ms| !(1..=super::MAX_TIMEOUT_MS).contains(&ms)) {
            let most = super::MAX_TIMEOUT_MS;
            return Err(InvalidParams(format!("timeoutMs of expectNavigation is 1 to {most}")));
        }
        super::at_most("url of expectNavigation", self.url.as_ref().map_or(0, String::len), 4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_without_a_url_is_one_to_anywhere() {
        for (text, to) in
            [("{}", None), (r#"{"url":"**/done","waitUntil":"load","timeoutMs":5}"#, Some("**/done"))]
        {
            let expect: ExpectNavigation = serde_json::from_str(text).unwrap();
            assert!(!expect.is_none());
            assert_eq!(expect.to(), to);
            assert_eq!(serde_json::to_string(&expect).unwrap(), text);
        }
        assert!(ExpectNavigation::default().time().is_zero());
        assert!(serde_json::from_str::<ExpectNavigation>(r#"{"to":"x"}"#).is_err());
    }
}
