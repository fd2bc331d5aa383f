//! What a client wants of the session itself (contract 12.1): given with its command line, never with an operation.
//!
//! They hold from the session's start to its end. A session that runs with others is not changed: the call is refused,
//! and says what differs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::attach::{Attach, Endpoint, InvalidEndpoint};
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
    /// What pages of some origins may do without asking; everything else is denied (contract 5.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<Grant>>,
    /// Somebody else's browser, which the session drives instead of one of its own (contract 1.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<Attach>,
}

/// What pages of one origin may do without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Grant {
    /// Such as `https://example.com`.
    pub origin: String,
    /// At least one.
    pub permissions: Vec<Permission>,
}

/// Something that a page has to be permitted, by its name in the Permissions API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Where the session is; what it is told comes from `emulate`.
    Geolocation,
    /// Notifications, which nobody sees.
    Notifications,
    /// Cameras; a session has none.
    Camera,
    /// Microphones; a session has none.
    Microphone,
    /// Reading the session's own clipboard.
    ClipboardRead,
    /// Writing it without a gesture.
    ClipboardWrite,
    /// Whether somebody is there.
    IdleDetection,
    /// Storage that the browser does not clear when it is short of room.
    PersistentStorage,
    /// Cookies and storage of a page that lies in one of another site.
    StorageAccess,
}

impl Permission {
    /// Every one with its name.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Geolocation, "geolocation"),
        (Self::Notifications, "notifications"),
        (Self::Camera, "camera"),
        (Self::Microphone, "microphone"),
        (Self::ClipboardRead, "clipboard-read"),
        (Self::ClipboardWrite, "clipboard-write"),
        (Self::IdleDetection, "idle-detection"),
        (Self::PersistentStorage, "persistent-storage"),
        (Self::StorageAccess, "storage-access"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(one, _)| *one == self).map_or("", |(_, name)| name)
    }
}

impl Grant {
    /// The origin as the browser writes it; `None` for what is no origin of the web.
    pub fn origin(&self) -> Option<String> {
        web_origin(&self.origin)
    }
}

impl FromStr for Grant {
    type Err = InvalidSessionOptions;

    /// `https://example.com=geolocation,notifications`
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (origin, names) = text.rsplit_once('=').ok_or(InvalidSessionOptions::Grant)?;
        let named = |name: &str| {
            let found = Permission::ALL.into_iter().find(|(_, known)| *known == name.trim());
            found.map(|(permission, _)| permission).ok_or(InvalidSessionOptions::Grant)
        };
        let permissions = names.split(',').map(named).collect::<Result<_, _>>()?;
        web_origin(origin).ok_or(InvalidSessionOptions::GrantOrigin)?;
        Ok(Self { origin: origin.to_owned(), permissions })
    }
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
    /// A permission that there is not.
    #[error(
        "a permission is ORIGIN=NAME,NAME with names of geolocation, notifications, camera, microphone, clipboard-read, \
         clipboard-write, idle-detection, persistent-storage and storage-access"
    )]
    Grant,
    /// Permissions for what is no origin.
    #[error("permissions are for an origin such as https://example.com:8443, without a path")]
    GrantOrigin,
    /// Too many of them, or two for one origin.
    #[error("permissions are for at most 32 origins, each named once")]
    Grants,
    /// An endpoint that cannot be attached to.
    #[error("{0}")]
    Endpoint(#[from] InvalidEndpoint),
    /// An option that only a browser of one's own can have.
    #[error("{0} is an option of a browser that Glass starts, and this one runs already")]
    Attached(&'static str),
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
        let grants = self.permissions.as_deref().unwrap_or_default();
        let origins = grants.iter().map(Grant::origin).collect::<Option<Vec<_>>>();
        let mut origins = origins.ok_or(InvalidSessionOptions::GrantOrigin)?;
        origins.sort_unstable();
        origins.dedup();
        if grants.len() > Self::MOST || origins.len() < grants.len() {
            return Err(InvalidSessionOptions::Grants);
        }
        if grants.iter().any(|grant| grant.permissions.is_empty() || grant.origin.len() > Self::LONGEST) {
            return Err(InvalidSessionOptions::Grant);
        }
        if let Some(attach) = &self.attach {
            Endpoint::parse(&attach.endpoint)?;
            if self.ignore_certificate_errors == Some(true) {
                return Err(InvalidSessionOptions::Attached("ignoreCertificateErrors"));
            }
            if !grants.is_empty() {
                return Err(InvalidSessionOptions::Attached("permissions"));
            }
        }
        Ok(())
    }

    /// Where the browser listens that the session attaches to; `None` for one of its own.
    pub fn endpoint(&self) -> Option<Endpoint> {
        self.attach.as_ref().and_then(|attach| Endpoint::parse(&attach.endpoint).ok())
    }

    /// What policy has to allow for them.
    pub fn capabilities(&self) -> Vec<Capability> {
        let credentials = self.http_credentials.as_ref().is_some_and(|all| !all.is_empty());
        let certificates = self.ignore_certificate_errors == Some(true);
        let granted = || self.permissions.iter().flatten().flat_map(|grant| &grant.permissions);
        let clipboard =
            granted().any(|one| matches!(one, Permission::ClipboardRead | Permission::ClipboardWrite));
        let wanted = [
            (credentials, Capability::HttpCredentials),
            (certificates, Capability::IgnoreCertificateErrors),
            (granted().next().is_some(), Capability::Permissions),
            (clipboard, Capability::Clipboard),
            (self.attach.is_some(), Capability::Attach),
        ];
        wanted.into_iter().filter(|(is, _)| *is).map(|(_, capability)| capability).collect()
    }

    /// What a session with them is told to be like: by name and origin, without any secret.
    pub fn words(&self) -> Vec<String> {
        let origins = self.http_credentials.iter().flatten().filter_map(HttpCredentials::origin);
        let mut words: Vec<_> = origins.map(|origin| format!("httpCredentials {origin}")).collect();
        if self.ignore_certificate_errors == Some(true) {
            words.push("ignoreCertificateErrors".to_owned());
        }
        for grant in self.permissions.iter().flatten() {
            let names: Vec<_> = grant.permissions.iter().map(|one| one.name()).collect();
            words.extend(grant.origin().map(|origin| format!("permissions {origin} {}", names.join(","))));
        }
        words.extend(self.endpoint().map(|endpoint| format!("attach {endpoint}")));
        words
    }

    /// The same with further credentials, for origins that have none yet.
    #[must_use]
    pub fn knowing(&self, further: &[HttpCredentials]) -> Self {
        let mut all = self.http_credentials.clone().unwrap_or_default();
        let has =
            |all: &[HttpCredentials], one: &HttpCredentials| all.iter().any(|it| it.origin() == one.origin());
        for one in further {
            if !has(&all, one) {
                all.push(one.clone());
            }
        }
        Self { http_credentials: Some(all).filter(|all| !all.is_empty()), ..self.clone() }
    }

    /// Names of the options that are given and that a session with `running` does not have.
    pub fn differing(&self, running: &Self) -> Vec<&'static str> {
        let credentials = self.http_credentials.as_ref().is_some_and(|wanted| {
            wanted.as_slice() != running.http_credentials.as_deref().unwrap_or_default()
        });
        let certificates = self
            .ignore_certificate_errors
            .is_some_and(|wanted| wanted != running.ignore_certificate_errors.unwrap_or_default());
        let permissions = self.permissions.as_ref().is_some_and(|wanted| {
            granted(wanted) != granted(running.permissions.as_deref().unwrap_or_default())
        });
        // Which page it begins with is no matter once it has begun: every call may name another.
        let place = |options: &Self| options.endpoint().map(|endpoint| endpoint.authority());
        let attach = self.attach.is_some() && place(self) != place(running);
        let all = [
            (credentials, "httpCredentials"),
            (certificates, "ignoreCertificateErrors"),
            (permissions, "permissions"),
            (attach, "attach"),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect()
    }
}

impl HttpCredentials {
    /// The origin as the browser writes it; `None` for what is no origin of the web.
    pub fn origin(&self) -> Option<String> {
        web_origin(&self.origin)
    }
}

/// What is granted, in whichever order it was written.
fn granted(grants: &[Grant]) -> Vec<(Option<String>, Permission)> {
    let pairs = grants.iter().flat_map(|grant| grant.permissions.iter().map(|one| (grant.origin(), *one)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn web_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none();
    let web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    (plain && web).then(|| url.origin().ascii_serialization())
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
        let granting = |texts: &[&str]| SessionOptions {
            permissions: Some(texts.iter().map(|text| text.parse().unwrap()).collect()),
            ..SessionOptions::default()
        };
        let both = granting(&["https://X:443=camera,geolocation"]);
        assert_eq!(both.differing(&granting(&["https://x/=geolocation,camera"])), [""; 0]);
        assert_eq!(both.differing(&none), ["permissions"]);
        assert_eq!(both.words(), ["permissions https://x camera,geolocation"]);
        assert_eq!(both.capabilities(), [Capability::Permissions]);
        assert_eq!(
            granting(&["http://localhost=clipboard-read"]).capabilities(),
            [Capability::Permissions, Capability::Clipboard]
        );
    }

    #[test]
    fn permissions_are_known_ones_for_an_origin_each() {
        for bad in ["https://x", "https://x=", "https://x=fly", "x=camera", "https://x/p=camera", "=camera"] {
            assert!(bad.parse::<Grant>().is_err(), "{bad}");
        }
        for (permission, name) in Permission::ALL {
            assert_eq!(serde_json::to_value(permission).unwrap(), name);
        }
        let json = |grants: &str| read(&format!("{{\"permissions\":[{grants}]}}"));
        let one = r#"{"origin":"https://x","permissions":["camera"]}"#;
        assert!(json(one).is_ok());
        assert_eq!(json(&format!("{one},{one}")), Err(InvalidSessionOptions::Grants));
        assert_eq!(json(r#"{"origin":"https://x","permissions":[]}"#), Err(InvalidSessionOptions::Grant));
        assert!(json(r#"{"origin":"https://x","permissions":["fly"]}"#).is_err());
    }

    #[test]
    fn further_credentials_are_for_other_origins_alone() {
        let own = read(&credentials("https://x")).unwrap();
        let further = |origin: &str| HttpCredentials {
            origin: origin.to_owned(),
            username: "bob".to_owned(),
            password: "other-secret".to_owned(),
        };
        let all = own.knowing(&[further("https://X:443"), further("https://y")]).http_credentials.unwrap();
        assert_eq!(all.iter().map(|one| one.username.as_str()).collect::<Vec<_>>(), ["ann", "bob"]);
        assert_eq!(SessionOptions::default().knowing(&[]), SessionOptions::default());
        let ignoring = SessionOptions { ignore_certificate_errors: Some(true), ..SessionOptions::default() };
        assert_eq!(ignoring.words(), ["ignoreCertificateErrors"]);
    }

    // contract: 1.2
    #[test]
    fn an_attached_session_is_of_one_endpoint_and_takes_no_option_of_a_browser_of_its_own() {
        let at = |endpoint: &str| read(&format!(r#"{{"attach":{{"endpoint":"{endpoint}"}}}}"#)).unwrap();
        let (one, other, none) = (at("localhost:1"), at("localhost:2"), SessionOptions::default());
        assert_eq!(one.capabilities(), [Capability::Attach]);
        assert_eq!(one.words(), ["attach http://localhost:1"]);
        for same in ["http://localhost:1/", "ws://localhost:1/devtools/browser/a"] {
            assert_eq!(one.differing(&at(same)), [""; 0], "{same}");
        }
        assert_eq!((one.differing(&other), one.differing(&none)), (vec!["attach"], vec!["attach"]));
        assert_eq!(none.differing(&one), [""; 0]);
        let both = r#"{"ignoreCertificateErrors":true,"attach":{"endpoint":"localhost:1"}}"#;
        assert_eq!(read(both), Err(InvalidSessionOptions::Attached("ignoreCertificateErrors")));
        let elsewhere = r#"{"attach":{"endpoint":"http://example.com:9222"}}"#;
        assert_eq!(read(elsewhere), Err(InvalidSessionOptions::Endpoint(InvalidEndpoint::Elsewhere)));
    }
}
