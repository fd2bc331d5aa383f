//! What a client wants of the session itself (contract 12.1): given with its command line, never with an operation.
//!
//! They hold from the session's start to its end. A session that runs with others is not changed: the call is refused,
//! and says what differs.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::op::Capability;

/// Options of a session. What is absent is left to whoever started it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct SessionOptions {
    /// Who the session is to servers that ask by HTTP authentication (contract 10.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_credentials: Option<Vec<HttpCredentials>>,
    /// Whether certificates that are not valid are taken all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_certificate_errors: Option<bool>,
}

/// Who the session is to one origin.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpCredentials {
    /// Such as `https://example.com`; it goes nowhere else.
    pub origin: String,
    /// The user.
    pub username: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for HttpCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCredentials").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Options that cannot be used. Never holds a value of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSessionOptions {
    /// They cannot be read.
    #[error("the options of the session cannot be read")]
    Unreadable,
    /// Too many credentials, or too long ones.
    #[error("credentials for HTTP authentication are at most 32, each text of at most 1024 bytes")]
    TooMuch,
    /// An origin that is none.
    #[error("credentials are for an origin such as https://example.com:8443, without a path")]
    Origin,
    /// Two for one origin.
    #[error("two credentials are for one origin")]
    Twice,
}

impl SessionOptions {
    const MOST: usize = 32;
    const LONGEST: usize = 1024;

    /// Reads and checks them; nothing at all is no option.
    ///
    /// # Errors
    /// See [`InvalidSessionOptions`].
    pub fn decode(json: &[u8]) -> Result<Self, InvalidSessionOptions> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        let options: Self = serde_json::from_slice(json).map_err(|_| InvalidSessionOptions::Unreadable)?;
        options.check()?;
        Ok(options)
    }

    /// As JSON; nothing where there is none.
    pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
        if *self == Self::default() { Ok(Vec::new()) } else { serde_json::to_vec(self) }
    }

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// See [`InvalidSessionOptions`].
    pub fn check(&self) -> Result<(), InvalidSessionOptions> {
        let all = self.http_credentials.as_deref().unwrap_or_default();
        if all.len() > Self::MOST {
            return Err(InvalidSessionOptions::TooMuch);
        }
        for (at, one) in all.iter().enumerate() {
            if [&one.origin, &one.username, &one.password].iter().any(|text| text.len() > Self::LONGEST) {
                return Err(InvalidSessionOptions::TooMuch);
            }
            let origin = one.origin().ok_or(InvalidSessionOptions::Origin)?;
            if all[..at].iter().any(|other| other.origin().as_ref() == Some(&origin)) {
                return Err(InvalidSessionOptions::Twice);
            }
        }
        Ok(())
    }

    /// What policy has to allow for them.
    pub fn capabilities(&self) -> Vec<Capability> {
        let credentials = self.http_credentials.as_ref().is_some_and(|all| !all.is_empty());
        let certificates = self.ignore_certificate_errors == Some(true);
        let wanted =
            [(credentials, Capability::HttpCredentials), (certificates, Capability::IgnoreCertificateErrors)];
        wanted.into_iter().filter(|(is, _)| *is).map(|(_, capability)| capability).collect()
    }

    /// What a session with them is told to be like: by name and origin, without any secret.
    pub fn words(&self) -> Vec<String> {
        let origins = self.http_credentials.iter().flatten().filter_map(HttpCredentials::origin);
        let mut words: Vec<_> = origins.map(|origin| format!("httpCredentials {origin}")).collect();
        if self.ignore_certificate_errors == Some(true) {
            words.push("ignoreCertificateErrors".to_owned());
        }
        words
    }

    /// Names of the options that are given and that a session with `running` does not have.
    pub fn differing(&self, running: &Self) -> Vec<&'static str> {
        let credentials = self.http_credentials.as_ref().is_some_and(|wanted| {
            wanted.as_slice() != running.http_credentials.as_deref().unwrap_or_default()
        });
        let certificates = self
            .ignore_certificate_errors
            .is_some_and(|wanted| wanted != running.ignore_certificate_errors.unwrap_or_default());
        let all = [(credentials, "httpCredentials"), (certificates, "ignoreCertificateErrors")];
        all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect()
    }
}

impl HttpCredentials {
    /// The origin as the browser writes it; `None` for what is no origin of the web.
    pub fn origin(&self) -> Option<String> {
        let url = Url::parse(&self.origin).ok()?;
        let plain = url.username().is_empty()
            && url.password().is_none()
            && matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none();
        let web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        (plain && web).then(|| url.origin().ascii_serialization())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<SessionOptions, InvalidSessionOptions> {
        SessionOptions::decode(json.as_bytes())
    }

    fn credentials(origin: &str) -> String {
        format!(
            r#"{{"httpCredentials":[{{"origin":"{origin}","username":"ann","password":"very-secret"}}]}}"#
        )
    }

    #[test]
    fn credentials_are_for_one_origin_each_and_never_printed() {
        for good in ["https://example.com", "http://LOCALHOST:8080/", "https://example.com:443"] {
            let options = read(&credentials(good)).unwrap();
            assert!(!format!("{options:?}").contains("very-secret"));
            assert_eq!(options.capabilities(), [Capability::HttpCredentials]);
        }
        for bad in
            ["example.com", "https://example.com/path", "https://a@example.com", "file:///", "https://x/?q"]
        {
            assert_eq!(read(&credentials(bad)), Err(InvalidSessionOptions::Origin), "{bad}");
        }
        let twice = r#"{"httpCredentials":[{"origin":"https://x","username":"a","password":""},{"origin":"https://X:443/","username":"b","password":""}]}"#;
        assert_eq!(read(twice), Err(InvalidSessionOptions::Twice));
        assert_eq!(read("{\"httpCredentials\":\"very-secret\"}"), Err(InvalidSessionOptions::Unreadable));
        assert_eq!(read(""), Ok(SessionOptions::default()));
    }

    #[test]
    fn only_what_is_given_can_differ() {
        let with = read(&credentials("https://x")).unwrap();
        let ignoring = SessionOptions { ignore_certificate_errors: Some(true), ..SessionOptions::default() };
        let none = SessionOptions::default();
        assert_eq!(none.differing(&with), [""; 0]);
        assert_eq!(with.differing(&with), [""; 0]);
        assert_eq!(with.differing(&ignoring), ["httpCredentials"]);
        assert_eq!(ignoring.differing(&none), ["ignoreCertificateErrors"]);
        let not = SessionOptions { ignore_certificate_errors: Some(false), ..SessionOptions::default() };
        assert_eq!((not.differing(&none), not.differing(&ignoring).len()), (vec![], 1));
        assert_eq!(not.capabilities(), []);
        assert_eq!(with.words(), ["httpCredentials https://x"]);
        assert_eq!(ignoring.words(), ["ignoreCertificateErrors"]);
    }
}
