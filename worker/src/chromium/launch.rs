//! Starts a browser and waits for its first answer.
//!
//! The pipe has no address: descriptor 3 carries commands, 4 the answers. Everything else is closed to the browser,
//! and its environment is what the plan says and nothing more.

use std::{
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use command_fds::{CommandFdExt, FdMapping};
use nix::{
    fcntl::{FcntlArg, fcntl},
    sys::signal::Signal,
    unistd::geteuid,
};
use tokio::net::unix::pipe;

use super::{
    browser::Browser,
    exit::Exit,
    find::Executable,
    flags::{FlagPlan, flags},
    profile::{self, ProfileError},
    reaper::{Reaper, Watched},
    stderr::Stderr,
    version::{Version, VersionError, ask_version},
};
use crate::cdp::{CdpError, Client, Event, Limits, types::browser::GetVersion};

/// Where the browser reads commands and writes answers.
const COMMANDS: i32 = 3;
const ANSWERS: i32 = 4;

/// Capacity asked for the pipe of answers, in bytes: fewer wake-ups for results of megabytes. The most that an
/// unprivileged process may ask for by default.
const ANSWER_PIPE: i32 = 1024 * 1024;

/// Chromium's words for "another browser has this profile" (`RESULT_CODE_PROFILE_IN_USE`).
const PROFILE_IN_USE: i32 = 21;

/// How long the rest of stderr is waited for when the browser died early.
const STDERR_GRACE: Duration = Duration::from_millis(100);

/// Everything about a start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub executable: Executable,
    /// Its version where it is known; else the program is asked, which takes about 60 ms.
    pub version: Option<Version>,
    /// The user data directory as seen from here.
    pub profile: PathBuf,
    /// The environment, complete but for `TZ`.
    pub environment: Vec<(OsString, OsString)>,
    /// Port of the forwarder on 127.0.0.1.
    pub proxy_port: Option<u16>,
    /// Whether `/dev/shm` is the session's own; else shared memory is kept beneath `TMPDIR`.
    pub own_shared_memory: bool,
    /// Width and height of the page in CSS pixels.
    pub viewport: (u32, u32),
    /// Languages of the user, such as `de-DE,de`.
    pub language: Option<String>,
    /// Time zone of the user, such as `Europe/Berlin`.
    pub time_zone: Option<String>,
    /// Whether it may answer servers that ask who it is; else they get no answer, and pages what they say then.
    pub authenticates: bool,
    /// Whether certificates that are not valid are taken.
    pub ignore_certificate_errors: bool,
    /// How long the first answer may take; 15 s is generous.
    pub deadline: Duration,
}

/// Why there is no browser.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Chromium's sandbox and root exclude each other.
    #[error("the browser is never started as root")]
    Root,
    /// Its version is not known.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The profile cannot be made ready.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The pipes cannot be made.
    #[error("make the pipes to the browser")]
    Pipes(#[source] io::Error),
    /// The program cannot be executed.
    #[error("start {}", path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Chromium's own sandbox cannot work on this system.
    #[error("the browser's own sandbox cannot work here")]
    NoSandbox,
    /// Another browser uses the profile.
    #[error("the profile is in use by another browser")]
    ProfileInUse,
    /// It ended before it answered.
    #[error("the browser ended before it answered: {exit}")]
    Ended {
        /// How.
        exit: Exit,
        /// Its last lines on stderr, for logs only.
        stderr: String,
    },
    /// It did not answer in time.
    #[error("the browser did not answer within {limit:?}")]
    Silent {
        /// The deadline.
        limit: Duration,
        /// Its last lines on stderr, for logs only.
        stderr: String,
    },
    /// It answered and was not understood.
    #[error("the browser's first answer is of no use")]
    Answer(#[source] CdpError),
}

impl LaunchError {
    /// What the user can do, when it is not obvious.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoSandbox => Some(
                "allow unprivileged user namespaces: set the sysctls user.max_user_namespaces above 0 and, where \
                 they exist, kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 \
                 (or install an AppArmor profile that allows them for the browser)",
            ),
            Self::ProfileInUse => Some("close the other browser, or use another profile"),
            Self::Start { .. } => {
                Some("set `browser` in the configuration to a Chromium that runs on this machine")
            }
            Self::Silent { .. } => {
                Some("the machine may be overloaded: close sessions, or raise the start limit")
            }
            _ => None,
        }
    }
}

/// Starts the browser and waits until it answers. On failure nothing of it is left.
///
/// `on_event` is as in [`Client::start`].
///
/// # Errors
/// See [`LaunchError`].
pub async fn launch<F>(
    launch: &Launch,
    reaper: &Reaper,
    limits: Limits,
    on_event: F,
) -> Result<Browser, LaunchError>
where
    F: FnMut(Event) + Send + 'static,
{
    if geteuid().is_root() {
        return Err(LaunchError::Root);
    }
    profile::remove_stale_locks(&launch.profile)?;
    profile::set_authentication(&launch.profile, launch.authenticates)?;
    if let Err(error) = profile::settle(&launch.profile) {
        // Only what a page asks of devices would wait.
        tracing::warn!(%error, "the profile cannot be given its settings");
    }
    let version = match &launch.version {
        Some(version) => version.clone(),
        None => ask_version(&launch.executable.path, reaper).await?,
    };
    let begun = Instant::now();
    let started = start(launch, &version, reaper)?;
    let client = Client::start(started.answers, started.commands, limits, on_event);
    let answer = tokio::time::timeout(launch.deadline, first_answer(&client, &started.watched)).await;
    let error = match answer {
        Ok(Ok(answered)) => {
            if answered.full() != version.full() {
                tracing::warn!(expected = %version, %answered, "the browser is not of the expected version");
            }
            let version = answered.branded_like(&version);
            tracing::debug!(%version, pid = started.watched.pid(), elapsed = ?begun.elapsed(), "the browser answers");
            return Ok(Browser::new(client, version, started.watched, started.stderr));
        }
        Ok(Err(Early::Ended(exit))) => {
            // Late lines only make the report poorer.
            let _late = tokio::time::timeout(STDERR_GRACE, started.stderr.ended()).await;
            recognise(exit, started.stderr.tail())
        }
        Ok(Err(Early::Answer(error))) => LaunchError::Answer(error),
        Err(_) => LaunchError::Silent { limit: launch.deadline, stderr: started.stderr.tail() },
    };
    started.watched.signal(Signal::SIGKILL);
    started.watched.exited().await;
    Err(error)
}

struct Started {
    watched: Watched,
    stderr: Stderr,
    commands: pipe::Sender,
    answers: pipe::Receiver,
}

fn start(launch: &Launch, version: &Version, reaper: &Reaper) -> Result<Started, LaunchError> {
    let (their_commands, our_commands) = io::pipe().map_err(LaunchError::Pipes)?;
    let (our_answers, their_answers) = io::pipe().map_err(LaunchError::Pipes)?;
    if let Err(error) = fcntl(&our_answers, FcntlArg::F_SETPIPE_SZ(ANSWER_PIPE)) {
        tracing::debug!(%error, "the pipe of answers keeps its default size");
    }
    let mut command = Command::new(&launch.executable.path);
    let plan = FlagPlan {
        profile: launch.profile.clone(),
        version: version.clone(),
        proxy_port: launch.proxy_port,
        own_shared_memory: launch.own_shared_memory,
        viewport: launch.viewport,
        language: launch.language.clone(),
        ignore_certificate_errors: launch.ignore_certificate_errors,
    };
    command.args(flags(&plan).iter().map(|flag| flag.text.as_ref()));
    command.env_clear().envs(launch.environment.iter().map(|(name, value)| (name, value)));
    if let Some(zone) = &launch.time_zone {
        command.env("TZ", zone);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
        .fd_mappings(vec![
            FdMapping { parent_fd: their_commands.into(), child_fd: COMMANDS },
            FdMapping { parent_fd: their_answers.into(), child_fd: ANSWERS },
        ])
        .expect("two different descriptors");
    // The worker's runtime has one thread, which lives as long as the process.
    glass_sandbox::die_with_this_thread(&mut command);
    let (mut child, watched) = reaper
        .spawn(&mut command)
        .map_err(|source| LaunchError::Start { path: launch.executable.path.clone(), source })?;
    let stderr = child.stderr.take().expect("stderr is piped");
    let ours = || {
        let commands = pipe::Sender::from_owned_fd(OwnedFd::from(our_commands))?;
        let answers = pipe::Receiver::from_owned_fd(OwnedFd::from(our_answers))?;
        Ok((Stderr::read(stderr.into())?, commands, answers))
    };
    match ours() {
        Ok((stderr, commands, answers)) => Ok(Started { watched, stderr, commands, answers }),
        Err(error) => {
            watched.signal(Signal::SIGKILL);
            Err(LaunchError::Pipes(error))
        }
    }
}

/// Why there was no first answer.
enum Early {
    Ended(Exit),
    Answer(CdpError),
}

async fn first_answer(client: &Client, watched: &Watched) -> Result<Version, Early> {
    let answer = tokio::select! {
        exit = watched.exited() => return Err(Early::Ended(exit)),
        answer = client.send(None, GetVersion {}) => answer,
    };
    match answer {
        Ok(answer) => Version::parse(&answer.product).ok_or_else(|| {
            let detail = answer.product.into();
            Early::Answer(CdpError::Decode { method: "Browser.getVersion", detail })
        }),
        // The pipe ends a moment before the process.
        Err(CdpError::Closed(_)) => Err(Early::Ended(watched.exited().await)),
        Err(error) => Err(Early::Answer(error)),
    }
}

/// Finds the cause in what the browser said before it died.
fn recognise(exit: Exit, stderr: String) -> LaunchError {
    const NO_SANDBOX: &[&str] =
        &["No usable sandbox", "Failed to move to new namespace", "without --no-sandbox is not supported"];
    if NO_SANDBOX.iter().any(|words| stderr.contains(words)) {
        tracing::debug!(%exit, %stderr, "the browser refuses to run without its sandbox");
        return LaunchError::NoSandbox;
    }
    if exit == Exit::Code(PROFILE_IN_USE) {
        return LaunchError::ProfileInUse;
    }
    LaunchError::Ended { exit, stderr }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_causes_get_their_own_error() {
        let stderr =
            "[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are running on Ubuntu…";
        let error = recognise(Exit::Signal(Signal::SIGTRAP), stderr.to_owned());
        assert!(matches!(error, LaunchError::NoSandbox) && error.remedy().is_some());
        assert!(matches!(recognise(Exit::Code(21), String::new()), LaunchError::ProfileInUse));
        let error = recognise(Exit::Code(1), "a secret".to_owned());
        assert_eq!(error.to_string(), "the browser ended before it answered: it exited with code 1");
    }
}
