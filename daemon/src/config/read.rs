//! Reads the configuration file over the embedded defaults.

use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glass_policy::host::Host;
use glass_proto::session::{HttpCredentials, SessionOptions};
use glass_sandbox::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use tracing_subscriber::filter::Targets;

use super::size::Size;
use super::span::Span;
use crate::audit;
use crate::confirm::SecretHash;
use crate::egress::Upstream;
use crate::gate::Rates;
use crate::quota::Quotas;
use crate::session::IdleTimeouts;

/// The embedded defaults, which are also the reference.
pub const DEFAULTS: &str = include_str!("default.toml");

/// The largest configuration file that is read, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
/// The longest file of credentials, in bytes.
const MAX_CREDENTIALS: u64 = 1024;

/// The settings of this daemon.
#[derive(Clone, Debug)]
pub struct Config {
    /// When a daemon that a client started ends by itself; `None`: never.
    pub idle_exit: Option<Duration>,
    /// When a session without operations is closed.
    pub idle_timeouts: IdleTimeouts,
    /// Sessions at one time.
    pub max_sessions: usize,
    /// Sessions that start at the same time.
    pub starting: usize,
    /// How often a client may ask.
    pub rates: Rates,
    /// The proxy behind glass-egress.
    pub upstream: Option<Upstream>,
    /// The file with the credentials for it.
    credentials: Option<PathBuf>,
    /// How much of the audit log is kept; `None`: none is written.
    pub audit: Option<audit::Limits>,
    /// The hash of the secret that whoever agrees to an operation is asked for.
    pub confirm_secret: Option<SecretHash>,
    /// The program that decides instead, and its arguments.
    pub confirm_approver: Option<(PathBuf, Vec<String>)>,
    /// Operations of one client that may run or wait.
    pub in_flight: usize,
    /// What one session may use.
    pub quotas: Quotas,
    /// The weakest cage.
    pub minimum: Mode,
    /// The browser's program.
    pub browser: Option<PathBuf>,
    /// Where glass-worker and glass-egress are.
    pub programs: Option<PathBuf>,
    /// The attribute that `testid=` goes by.
    pub test_id_attribute: String,
    /// What is logged.
    pub log: Targets,
    /// The same as text, for the worker.
    pub log_text: String,
    /// Who sessions are to servers that ask.
    pub http_credentials: Vec<HttpCredentials>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Not what the file may hold.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The browser lies where its directory cannot be shown to it.
    #[error(
        "browser.path is {}, and the cage shows a browser its own directory: move it out of {} into one of its own",
        browser.display(), directory.display()
    )]
    Exposed {
        /// The browser.
        browser: PathBuf,
        /// The directory that holds more than a browser.
        directory: PathBuf,
    },
    /// The credentials for the upstream proxy cannot be used.
    #[error("egress.credentials is {}, and {error}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: std::io::Error,
    },
    /// Credentials lie where others read them.
    #[error("{} holds credentials and can be read by others: `chmod 600` it", path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// `GLASS_LOG` is no filter.
    #[error("GLASS_LOG is no log filter: {0}")]
    Log(String),
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    daemon: Daemon,
    sessions: Sessions,
    limits: Limits,
    egress: Egress,
    audit: Audit,
    confirm: Confirm,
    sandbox: Sandbox,
    browser: Browser,
    locators: Locators,
    programs: Programs,
    log: Log,
    /// Who sessions are to servers that ask by HTTP authentication, for one origin each; at most 32. The file may then be
    /// read by nobody else.
    #[serde(deserialize_with = "credentials")]
    #[schemars(with = "Vec<Credentials>")]
    http_credentials: Vec<HttpCredentials>,
}

/// Who sessions are to one origin.
#[expect(dead_code, reason = "it is the schema of what is read by hand")]
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Credentials {
    /// Such as `https://example.com`; they go nowhere else.
    origin: String,
    /// The user.
    username: String,
    /// The password.
    password: String,
}

/// Read by hand: an error of the derived code could hold what is written there.
fn credentials<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<HttpCredentials>, D::Error> {
    use serde::de::Error;
    let wrong = || {
        D::Error::custom(
            "credentials are [[http_credentials]] with origin, username and password, each a text",
        )
    };
    let value = toml::Value::deserialize(from).map_err(|_| wrong())?;
    let read = |one: &toml::Value| {
        let table = one.as_table().filter(|table| table.len() == 3)?;
        let text = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Some(HttpCredentials {
            origin: text("origin")?,
            username: text("username")?,
            password: text("password")?,
        })
    };
    let all =
        value.as_array().ok_or_else(wrong)?.iter().map(read).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    let options = SessionOptions { http_credentials: Some(all.clone()), ..SessionOptions::default() };
    options.check().map_err(D::Error::custom)?;
    Ok(all)
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Daemon {
    #[schemars(with = "Option<String>")]
    idle_exit: Option<Span>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Sessions {
    #[schemars(with = "Option<String>")]
    idle_timeout: Option<Span>,
    #[schemars(with = "Option<String>")]
    idle_timeout_programs: Option<Span>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 64))]
    max: Option<Bounded<1, 64>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 16))]
    starting: Option<Bounded<1, 16>>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    #[schemars(with = "Option<u32>", range(min = 1, max = 10_000))]
    operations_per_second: Option<Bounded<1, 10_000>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 10_000))]
    operations_at_once: Option<Bounded<1, 10_000>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 10_000))]
    navigations_per_second: Option<Bounded<1, 10_000>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 256))]
    operations_in_flight: Option<Bounded<1, 256>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    operations_queued: Option<Bounded<1, 1024>>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 32))]
    targets: Option<Bounded<1, 32>>,
    #[schemars(with = "Option<String>")]
    memory: Option<Size>,
    #[schemars(with = "Option<u32>", range(min = 10, max = 10_000))]
    cpu_percent: Option<Bounded<10, 10_000>>,
    #[schemars(with = "Option<u32>", range(min = 128, max = 4096))]
    processes: Option<Bounded<128, 4096>>,
    #[schemars(with = "Option<String>")]
    spool: Option<Size>,
    #[schemars(with = "Option<String>")]
    profile: Option<Size>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Egress {
    #[schemars(with = "Option<String>")]
    proxy: Option<ProxyUrl>,
    #[schemars(with = "Option<String>")]
    credentials: Option<AbsolutePath>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Audit {
    enabled: Option<bool>,
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    file_mib: Option<Bounded<1, 1024>>,
    #[schemars(with = "Option<u32>", range(min = 2, max = 1000))]
    files: Option<Bounded<2, 1000>>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Confirm {
    #[schemars(with = "Option<String>")]
    secret: Option<Secret>,
    #[schemars(with = "Option<Vec<String>>")]
    approver: Option<Program>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Sandbox {
    #[schemars(with = "Option<String>")]
    minimum: Option<Mode>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Browser {
    #[schemars(with = "Option<String>")]
    path: Option<AbsolutePath>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Programs {
    #[schemars(with = "Option<String>")]
    directory: Option<AbsolutePath>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Locators {
    #[schemars(with = "Option<String>")]
    test_id_attribute: Option<AttributeName>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Log {
    #[schemars(with = "Option<String>")]
    level: Option<Filter>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "i64")]
struct Bounded<const MIN: usize, const MAX: usize>(usize);

impl<const MIN: usize, const MAX: usize> Bounded<MIN, MAX> {
    /// As a number of the protocol's.
    fn number(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }

    /// As a rate, which is never 0: `MIN` is not.
    fn rate(self) -> NonZeroU32 {
        u32::try_from(self.0).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
    }
}

impl<const MIN: usize, const MAX: usize> TryFrom<i64> for Bounded<MIN, MAX> {
    type Error = String;
    fn try_from(value: i64) -> Result<Self, String> {
        match usize::try_from(value) {
            Ok(value) if (MIN..=MAX).contains(&value) => Ok(Self(value)),
            _ => Err(format!("{value} is not between {MIN} and {MAX}")),
        }
    }
}

/// The name of an HTML attribute.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct AttributeName(String);

impl TryFrom<String> for AttributeName {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"-_:".contains(&c);
        let fits = text.len() <= 64
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(plain);
        if fits { Ok(Self(text)) } else { Err("that is no name of an attribute, like data-testid") }
    }
}

/// Where a proxy is, or nothing where the text is empty.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct ProxyUrl(Option<Upstream>);

impl TryFrom<String> for ProxyUrl {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let wrong =
            "a proxy is http://host:port; its user and password stand in the file of egress.credentials";
        let authority = text.strip_prefix("http://").ok_or(wrong)?;
        let (host, port) = authority.strip_suffix('/').unwrap_or(authority).rsplit_once(':').ok_or(wrong)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or(wrong)?;
        let host = Host::parse(host).map_err(|_| wrong)?;
        Ok(Self(Some(Upstream::new(&host, port))))
    }
}

/// A path, or nothing where the text is empty.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct AbsolutePath(Option<PathBuf>);

impl TryFrom<String> for AbsolutePath {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        match text {
            text if text.is_empty() => Ok(Self(None)),
            text if Path::new(&text).is_absolute() => Ok(Self(Some(text.into()))),
            _ => Err("the path must be absolute"),
        }
    }
}

/// The hash of a secret, or nothing where the text is empty.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Secret(Option<SecretHash>);

impl TryFrom<String> for Secret {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() { Ok(Self(None)) } else { text.parse().map(|hash| Self(Some(hash))) }
    }
}

/// A program with its arguments, or nothing where the list is empty.
#[derive(Clone, Deserialize)]
#[serde(try_from = "Vec<String>")]
struct Program(Option<(PathBuf, Vec<String>)>);

impl TryFrom<Vec<String>> for Program {
    type Error = &'static str;
    fn try_from(mut words: Vec<String>) -> Result<Self, &'static str> {
        if words.is_empty() {
            return Ok(Self(None));
        }
        let path = PathBuf::from(words.remove(0));
        match path.is_absolute() {
            true => Ok(Self(Some((path, words)))),
            false => Err("the program's path must be absolute"),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Filter(Targets, String);

impl TryFrom<String> for Filter {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse::<Targets>().map(|targets| Self(targets, text)).map_err(|error| error.to_string())
    }
}

impl Config {
    /// Reads the file at `path`, which need not exist, and takes `log`, the value of `GLASS_LOG`, before it. `home` is
    /// the user's home directory.
    ///
    /// # Errors
    /// What cannot be read or is not a setting, with its place.
    pub fn load(path: &Path, log: Option<String>, home: Option<&Path>) -> Result<Self, ConfigError> {
        let text = read(path)?.unwrap_or_default();
        let mut config = Self::parse(path, &text)?;
        if let Some(browser) = &config.browser
            && let Some(directory) = exposed(browser, home)
        {
            return Err(ConfigError::Exposed { browser: browser.clone(), directory });
        }
        if let (Some(upstream), Some(path)) = (config.upstream.take(), &config.credentials) {
            let credentials = user_and_password(path)
                .map_err(|error| ConfigError::Credentials { path: path.clone(), error })?;
            config.upstream = Some(upstream.with_credentials(&credentials));
        }
        let mode = || path.metadata().map(|found| found.permissions().mode());
        if !config.http_credentials.is_empty()
            && mode().map_err(|error| ConfigError::Read { path: path.to_owned(), error })? & 0o077 != 0
        {
            return Err(ConfigError::Open { path: path.to_owned() });
        }
        if let Some(log) = log.filter(|log| !log.is_empty()) {
            Filter(config.log, config.log_text) = Filter::try_from(log).map_err(ConfigError::Log)?;
        }
        Ok(config)
    }

    /// The settings of a file's text.
    ///
    /// # Errors
    /// What is not a setting, with its place.
    ///
    /// # Panics
    /// When the embedded defaults are incomplete, which a test rules out.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let defaults: File = toml::from_str(DEFAULTS).expect("the embedded defaults are valid");
        let file: File = toml::from_str(text).map_err(|error| invalid(path, text, &error))?;
        // Every setting stands in default.toml.
        macro_rules! setting {
            ($section:ident . $key:ident) => {
                file.$section.$key.or(defaults.$section.$key).expect(concat!(
                    stringify!($section),
                    ".",
                    stringify!($key),
                    " stands in default.toml"
                ))
            };
        }
        let Filter(log, log_text) = setting!(log.level);
        Ok(Self {
            idle_exit: setting!(daemon.idle_exit).0,
            idle_timeouts: IdleTimeouts {
                people: setting!(sessions.idle_timeout).0,
                programs: setting!(sessions.idle_timeout_programs).0,
            },
            max_sessions: setting!(sessions.max).0,
            starting: setting!(sessions.starting).0,
            rates: Rates {
                operations: setting!(limits.operations_per_second).rate(),
                burst: setting!(limits.operations_at_once).rate(),
                navigations: setting!(limits.navigations_per_second).rate(),
            },
            upstream: setting!(egress.proxy).0,
            credentials: setting!(egress.credentials).0,
            audit: setting!(audit.enabled).then_some(audit::Limits {
                file_bytes: setting!(audit.file_mib).0 as u64 * 1024 * 1024,
                files: setting!(audit.files).0,
            }),
            confirm_secret: setting!(confirm.secret).0,
            confirm_approver: setting!(confirm.approver).0,
            in_flight: setting!(limits.operations_in_flight).0,
            quotas: Quotas {
                memory: setting!(limits.memory).0,
                cpu_percent: setting!(limits.cpu_percent).number(),
                processes: setting!(limits.processes).number(),
                spool: setting!(limits.spool).0,
                profile: setting!(limits.profile).0,
                targets: setting!(limits.targets).number(),
                queued: setting!(limits.operations_queued).number(),
            },
            minimum: setting!(sandbox.minimum),
            browser: setting!(browser.path).0,
            test_id_attribute: setting!(locators.test_id_attribute).0,
            programs: setting!(programs.directory).0,
            log,
            log_text,
            http_credentials: file.http_credentials,
        })
    }
}

/// The directory of `browser`, by its name or its real place, where that holds the user's home or everything.
fn exposed(browser: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let real = browser.canonicalize().unwrap_or_else(|_| browser.to_owned());
    let directories = [browser, &real].into_iter().filter_map(Path::parent);
    let holds_home = |directory: &Path| home.is_some_and(|home| home.starts_with(directory));
    directories
        .filter(|directory| *directory == Path::new("/") || holds_home(directory))
        .map(PathBuf::from)
        .next()
}

/// Reads `user:password`, which its owner alone may read.
fn user_and_password(path: &Path) -> std::io::Result<String> {
    use std::io::{Error, Read};
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::File::open(path)?;
    let found = file.metadata()?;
    if found.mode() & 0o077 != 0 {
        return Err(Error::other("others than its owner may read or change it: chmod 600"));
    }
    let mut text = String::new();
    file.take(MAX_CREDENTIALS + 1).read_to_string(&mut text)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if text.len() as u64 > MAX_CREDENTIALS || !line.contains(':') || line.chars().any(char::is_control) {
        return Err(Error::other("it holds no user:password on one line of at most 1 KiB"));
    }
    Ok(line.to_owned())
}

fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    use std::io::Read;
    let fail = |error| ConfigError::Read { path: path.to_owned(), error };
    let file = match std::fs::File::open(path) {
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        other => other.map_err(fail)?,
    };
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > MAX_FILE {
        return Err(fail(std::io::Error::other("it is larger than 1 MiB")));
    }
    Ok(Some(text))
}

fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    ConfigError::Invalid {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: error.message().replace('\n', "; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("c.toml"), text).map_err(|error| error.to_string())
    }

    // contract: 10.3, 10.8
    #[test]
    fn an_upstream_proxy_has_its_credentials_in_a_file_of_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, path) = (dir.path().join("c.toml"), dir.path().join("who"));
        let text =
            format!("[egress]\nproxy = \"http://proxy.test:3128\"\ncredentials = \"{}\"\n", path.display());
        std::fs::write(&file, text).unwrap();
        let load = || Config::load(&file, None, None);
        assert!(load().unwrap_err().to_string().contains("egress.credentials"), "it is not there");
        for (mode, held, fits) in [
            (0o600, "ann:very-secret\n", true),
            (0o640, "ann:very-secret\n", false),
            (0o600, "very-secret", false),
            (0o600, "a:b\nc", false),
        ] {
            std::fs::write(&path, held).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let loaded = load();
            assert_eq!(loaded.is_ok(), fits, "{held:?} {mode:o}");
            assert!(!format!("{loaded:?}").contains("very-secret"));
        }
        for wrong in [
            "proxy.test:3128",
            "https://proxy.test:1",
            "http://proxy.test",
            "http://a:b@proxy.test:1",
            "http://x:0",
            "http://x:1/y",
        ] {
            assert!(parse(&format!("[egress]\nproxy = \"{wrong}\"")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fuzz_configurations() {
        let words = [
            "[daemon]\n",
            "[sessions]\n",
            "[log]\n",
            "idle_exit = ",
            "max = ",
            "\"10m\"",
            "minimum = ",
            "path = ",
        ];
        glass_fuzz::run("config", &words, |input| {
            let text = String::from_utf8_lossy(input);
            match Config::parse(Path::new("c"), &text) {
                Ok(_) => "read".to_owned(),
                Err(ConfigError::Invalid { line, column, message, .. }) => {
                    assert!(line <= text.matches('\n').count() + 1 && column <= text.chars().count() + 1);
                    assert!(!message.contains('\n'), "one line");
                    message.chars().filter(|letter| letter.is_alphabetic()).take(24).collect()
                }
                Err(error) => panic!("{error}"),
            }
        });
    }

    #[test]
    fn the_defaults_are_complete() {
        let config = parse("").unwrap();
        assert_eq!(config.idle_exit, Some(Duration::from_secs(600)));
        assert_eq!((config.max_sessions, config.starting), (16, 2));
        let idle = config.idle_timeouts;
        assert_eq!(idle.of(true), Some(Duration::from_secs(4 * 3600)));
        assert_eq!(idle.of(false), Some(Duration::from_secs(1800)));
        assert_eq!(config.minimum, Mode::LandlockOnly);
        assert_eq!(config.browser, None);
        assert_eq!(config.audit, Some(audit::Limits { file_bytes: 32 << 20, files: 8 }));
    }

    #[test]
    fn a_file_changes_only_what_it_names() {
        let config = parse("[sessions]\nmax = 3\n[daemon]\nidle_exit = \"0\"").unwrap();
        assert_eq!((config.max_sessions, config.starting, config.idle_exit), (3, 2, None));
        assert_eq!(parse("[audit]\nenabled = false").unwrap().audit, None);
    }

    // contract: 1.4
    #[test]
    fn a_session_that_only_programs_used_never_closes_later_than_any_other() {
        let idle = |text: &str| parse(&format!("[sessions]\n{text}")).unwrap().idle_timeouts;
        assert_eq!(idle("idle_timeout = \"1m\"").of(false), Some(Duration::from_secs(60)));
        assert_eq!(idle("idle_timeout_programs = \"0\"").of(false), Some(Duration::from_secs(4 * 3600)));
        let never = idle("idle_timeout = \"0\"");
        assert_eq!((never.of(true), never.of(false)), (None, Some(Duration::from_secs(1800))));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let cases = [
            ("[daemon]\nidle_exit = \"10 apples\"", "c.toml:2:13:"),
            ("[daemon]\n  idel_exit = \"1s\"", "c.toml:2:3:"),
            ("[sessions]\nmax = 0", "c.toml:2:7:"),
            ("[sessions]\nmax = \"many\"", "c.toml:2:7:"),
            ("[browser]\npath = \"chrome\"", "c.toml:2:8:"),
            ("[sandbox]\nminimum = \"none\"", "c.toml:2:11:"),
            ("[audit]\nfiles = 1", "c.toml:2:9:"),
            ("[confirm]\nsecret = \"hunter22\"", "c.toml:2:10:"),
            ("[confirm]\napprover = [\"approve\"]", "c.toml:2:12:"),
            ("[locators]\ntest_id_attribute = \"data test\"", "c.toml:2:21:"),
            ("[log]\nlevel = \"glass=loud\"", "c.toml:2:9:"),
            ("[nonsense]\n", "c.toml:1:2:"),
            ("x", "c.toml:1:"),
        ];
        for (text, place) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(place), "{text:?}: {error}");
        }
    }

    // contract: 10.8
    #[test]
    fn credentials_are_for_one_origin_each_and_stand_in_no_error() {
        let one = |origin: &str| {
            format!(
                "[[http_credentials]]\norigin = \"{origin}\"\nusername = \"ann\"\npassword = \"very-secret\"\n"
            )
        };
        let config = parse(&(one("https://a") + &one("http://b:8080"))).unwrap();
        assert_eq!(config.http_credentials.len(), 2);
        assert!(!format!("{config:?}").contains("very-secret"));
        for bad in [
            one("https://a/path"),
            one("https://a") + &one("https://A:443"),
            one("https://a") + "more = 1\n",
            "http_credentials = \"very-secret\"".to_owned(),
            "[http_credentials]\npassword = \"very-secret\"".to_owned(),
            "[[http_credentials]]\norigin = \"https://a\"\nusername = \"ann\"\npassword = 77123".to_owned(),
        ] {
            let error = parse(&bad).unwrap_err();
            assert!(!error.contains("secret") && !error.contains("77123"), "{bad}: {error}");
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, one("https://a")).unwrap();
        let load = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            Config::load(&file, None, None)
        };
        assert!(matches!(load(0o640), Err(ConfigError::Open { .. })));
        assert!(load(0o600).is_ok());
    }

    #[test]
    fn a_missing_file_is_no_error_and_an_unreadable_one_is() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Config::load(&dir.path().join("config.toml"), None, None).is_ok());
        assert!(Config::load(dir.path(), None, None).is_err());
        assert!(Config::load(&dir.path().join("config.toml"), Some("glass=loud".into()), None).is_err());
    }

    #[test]
    fn a_browser_whose_directory_holds_the_home_is_refused() {
        let exposed = |browser| exposed(Path::new(browser), Some(Path::new("/home/u")));
        assert_eq!(exposed("/home/u/chrome"), Some("/home/u".into()));
        assert_eq!(exposed("/home/chrome"), Some("/home".into()));
        assert_eq!(exposed("/chrome"), Some("/".into()));
        assert_eq!(exposed("/home/u/chrome/chrome"), None);
        assert_eq!(exposed("/usr/bin/chromium"), None);
    }
}
