//! glass-worker: builds its cage first, single-threaded, then serves one browser from inside it.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;

use glass_proto::diagnosis::BrowserFound;
use glass_proto::start::{self, FromWorker, Plan};
use glass_sandbox::{CageError, CagePlan, enter, fdpass, take_inherited};
use glass_worker::journal::Journal;
use glass_worker::{chromium, run};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

fn main() -> ExitCode {
    // Ignored signals are inherited; where this one is, no child can be waited for.
    if let Err(error) = glass_sandbox::default_action(glass_sandbox::Signal::SIGCHLD) {
        complain(&format!("ERROR SIGCHLD cannot be reset: {error}\n"));
        return exit(start::EXIT_NOT_STARTED);
    }
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--serve") => serve(),
        Some("--probe") => probe(arguments),
        Some("--browser") => browser(arguments),
        Some("--version") => {
            say(&format!("glass-worker {}\n", glass_proto::version::PROGRAM));
            ExitCode::SUCCESS
        }
        _ => {
            complain(
                "glass-worker is started by glassd; it takes --serve, --probe, --browser or --version\n",
            );
            ExitCode::from(2)
        }
    }
}

/// Runs the sandbox probe and prints what it found as JSON.
fn probe(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let uid = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--uid"), Some(uid)) => uid.parse().ok(),
        _ => None,
    };
    let report = glass_sandbox::probe(uid).map_err(|error| error.to_string());
    match report.and_then(|report| serde_json::to_string(&report).map_err(|error| error.to_string())) {
        Ok(json) => {
            say(&json);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("ERROR {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Finds the browser, asks its version and prints both as JSON. Under `--uid`, where it is given: a browser is never run
/// as root, whatever it is asked.
fn browser(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let (mut path, mut uid) = (None, None);
    while let Some(option) = arguments.next() {
        match (option.as_str(), arguments.next()) {
            ("--path", Some(value)) => path = Some(std::path::PathBuf::from(value)),
            ("--uid", Some(value)) => uid = value.parse().ok(),
            _ => {
                complain("ERROR --browser takes --path and --uid\n");
                return ExitCode::from(2);
            }
        }
    }
    let looked = look(path.as_deref(), uid);
    match looked.and_then(|found| serde_json::to_string(&found).map_err(io::Error::other)) {
        Ok(json) => {
            say(&json);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("ERROR {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn look(path: Option<&Path>, uid: Option<u32>) -> io::Result<BrowserFound> {
    match uid {
        Some(uid) => glass_sandbox::become_unprivileged(uid)?,
        None if nix::unistd::geteuid().is_root() => return Err(io::Error::other("root needs --uid here")),
        None => {}
    }
    let executable = match chromium::find(path) {
        Ok(executable) => executable,
        Err(error) => {
            let remedy = error.remedy().to_owned();
            return Ok(BrowserFound::Unusable { why: error.to_string(), remedy });
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let reaper = chromium::Reaper::start()?;
        Ok(match chromium::ask_version(&executable.path, &reaper).await {
            Ok(version) => BrowserFound::Version {
                path: executable.path.to_string_lossy().into_owned(),
                version: version.full().to_owned(),
            },
            Err(error) => {
                let remedy = "run it by hand with --version: it may lack a library or hang; or name another in browser.path";
                BrowserFound::Unusable { why: with_source(&error), remedy: remedy.to_owned() }
            }
        })
    })
}

fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// What glassd passed.
struct Inherited {
    control: OwnedFd,
    egress: OwnedFd,
    journal: OwnedFd,
    plan: Plan<CagePlan>,
}

fn inherited() -> io::Result<Inherited> {
    let control = take_inherited(start::CONTROL_FD)?;
    let egress = take_inherited(start::EGRESS_FD)?;
    let journal = take_inherited(start::JOURNAL_FD)?;
    let mut file = File::from(take_inherited(start::PLAN_FD)?);
    let mut json = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut json)?;
    let plan: Plan<CagePlan> = serde_json::from_slice(&json)?;
    if plan.cgroup {
        // Before there is a second process that could stay outside.
        File::from(take_inherited(start::CGROUP_FD)?).write_all(b"0")?;
    }
    Ok(Inherited { control, egress, journal, plan })
}

fn serve() -> ExitCode {
    let Inherited { control, egress, journal, plan } = match inherited() {
        Ok(inherited) => inherited,
        Err(error) => {
            complain(&format!("ERROR what glassd passed cannot be used: {error}\n"));
            return exit(start::EXIT_NOT_STARTED);
        }
    };
    // The program is started through a descriptor, so its name would be a number.
    let _ = nix::sys::prctl::set_name(c"glass-worker");
    // From here on this is pid 1 of the cage; the stub outside never returns from `enter`.
    let entered = match enter(&plan.cage, &[control.as_fd(), egress.as_fd(), journal.as_fd()]) {
        Ok(entered) => entered,
        Err(error) => return not_started(&control, &error),
    };
    let _ = nix::sys::prctl::set_name(c"glass-worker");
    let filter =
        plan.session.log.parse().unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let lines = tracing_subscriber::fmt::layer().without_time().with_ansi(false).with_writer(io::stderr);
    tracing_subscriber::registry().with(lines).with(filter).init();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("ERROR no runtime: {error}\n"));
            return exit(start::EXIT_NOT_STARTED);
        }
    };
    let code =
        runtime.block_on(async { run::run(plan, entered, control, egress, Journal::new(journal)).await });
    match code {
        Ok(code) => exit(code),
        Err(error) => {
            complain(&format!("ERROR the worker could not be set up: {error}\n"));
            exit(start::EXIT_NOT_STARTED)
        }
    }
}

/// The cage could not be built: the daemon is told the step, so that it can tell the person.
fn not_started(control: &OwnedFd, error: &CageError) -> ExitCode {
    let failed = FromWorker::Failed {
        step: error.step().map_or_else(|| "cage".to_owned(), |step| step.to_string()),
        errno: error.errno(),
        message: error.to_string(),
        remedy: error.hint(),
    };
    complain(&format!("ERROR {error}\n"));
    let told = serde_json::to_vec(&failed).map_err(io::Error::other);
    if let Err(error) = told.and_then(|json| fdpass::send(control.as_fd(), &json, &[])) {
        complain(&format!("ERROR glassd could not be told: {error}\n"));
    }
    exit(start::EXIT_NOT_STARTED)
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Output that is the program's answer. A closed pipe is the reader's business.
fn say(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
