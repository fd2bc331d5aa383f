//! The browser's version, which its user agent has to name.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use tokio::{io::AsyncReadExt, net::unix::pipe};

use super::{exit::Exit, reaper::Reaper};

/// How long `--version` may take; it needs about 60 ms.
const LIMIT: Duration = Duration::from_secs(5);

/// Most bytes of its answer.
const ANSWER: u64 = 4096;

/// A version such as `156.0.8078.114`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    full: String,
    major: u32,
    /// Whether it is Google's build, whose brand list has one more entry.
    google: bool,
}

/// Why the version is not known.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// The program cannot be run.
    #[error("run {} --version", path.display())]
    Run {
        /// The program.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It gave no answer in time.
    #[error("{} --version gave no answer within {LIMIT:?}", path.display())]
    Timeout {
        /// The program.
        path: PathBuf,
    },
    /// Its answer has no version in it.
    #[error("{} --version names no version; {exit}", path.display())]
    NotThere {
        /// The program.
        path: PathBuf,
        /// How it ended.
        exit: Exit,
    },
}

impl Version {
    /// Finds the version in `Chromium 156.0.8078.114` or `HeadlessChrome/156.0.8078.114`.
    pub fn parse(text: &str) -> Option<Self> {
        let full = text.split([' ', '/', '\n']).find(|word| is_version(word))?;
        let major = full.split('.').next()?.parse().ok()?;
        Some(Self { full: full.to_owned(), major, google: text.contains("Google Chrome") })
    }

    /// The same numbers with the brand of `other`, which CDP does not tell.
    pub(super) fn branded_like(self, other: &Self) -> Self {
        Self { google: other.google, ..self }
    }

    /// All four numbers.
    pub fn full(&self) -> &str {
        &self.full
    }

    /// The first number.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// Whether this is Google Chrome and not Chromium.
    pub fn is_google(&self) -> bool {
        self.google
    }

    /// The user agent that this browser has outside of headless mode; Chromium itself tells only the major version
    /// and one fixed platform per system.
    pub fn user_agent(&self) -> String {
        let system =
            if cfg!(target_os = "macos") { "Macintosh; Intel Mac OS X 10_15_7" } else { "X11; Linux x86_64" };
        format!(
            "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36",
            self.major
        )
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.full)
    }
}

fn is_version(word: &str) -> bool {
    word.split('.').count() == 4
        && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Asks the program for its version (about 60 ms; the answer holds as long as the file is the same).
///
/// # Errors
/// See [`VersionError`].
pub async fn ask_version(path: &Path, reaper: &Reaper) -> Result<Version, VersionError> {
    let run = |source| VersionError::Run { path: path.to_owned(), source };
    let mut command = Command::new(path);
    command.arg("--version").env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, watched) = reaper.spawn(&mut command).map_err(run)?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let mut stdout = pipe::Receiver::from_owned_fd(stdout.into()).map_err(run)?.take(ANSWER);
    let mut answer = Vec::new();
    let answered = tokio::time::timeout(LIMIT, async {
        stdout.read_to_end(&mut answer).await?;
        Ok(watched.exited().await)
    });
    match answered.await {
        Ok(Ok(exit)) => Version::parse(&String::from_utf8_lossy(&answer))
            .ok_or_else(|| VersionError::NotThere { path: path.to_owned(), exit }),
        Ok(Err(source)) => Err(run(source)),
        Err(_) => {
            watched.signal(nix::sys::signal::Signal::SIGKILL);
            Err(VersionError::Timeout { path: path.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_browsers_print() {
        for (text, major, google) in [
            ("Chromium 156.0.8078.114 \n", 156, false),
            ("Chromium 141.0.7390.37 built on Debian", 141, false),
            ("Google Chrome 139.0.7258.66 ", 139, true),
            ("HeadlessChrome/120.0.1.2", 120, false),
        ] {
            let version = Version::parse(text).expect("a version");
            assert_eq!((version.major(), version.is_google()), (major, google), "{text}");
        }
        for text in ["", "Chromium", "1.2.3", "a.b.c.d", "1..2.3"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_user_agent_has_no_headless_in_it() {
        let agent = Version::parse("HeadlessChrome/156.0.8078.114").expect("a version").user_agent();
        assert!(agent.contains(" Chrome/156.0.0.0 ") && !agent.contains("Headless"), "{agent}");
    }

    #[tokio::test]
    async fn a_program_without_a_version_is_refused() {
        let reaper = Reaper::start().expect("a reaper");
        let error = ask_version(Path::new("/bin/false"), &reaper).await.expect_err("no version");
        assert!(matches!(error, VersionError::NotThere { exit: Exit::Code(1), .. }), "{error}");
        let error = ask_version(Path::new("/does/not/exist"), &reaper).await.expect_err("no program");
        assert!(matches!(error, VersionError::Run { .. }), "{error}");
    }
}
