//! glassd: reads its command line, sets itself apart, and gives its two threads their work.
//!
//! The main thread forks children and does nothing else, because they are bound to the life of the thread that forked
//! them (PDEATHSIG); everything else runs on the other one.

#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::Parser;
use glass_daemon::activation;
use glass_daemon::app::{App, Plan};
use glass_daemon::args::Args;
use glass_daemon::authority;
use glass_daemon::config;
use glass_daemon::confirm::{MAX_SECRET, SecretHash};
use glass_daemon::exit::{self, StartupError};
use glass_daemon::process;
use glass_daemon::supervise::{Spawner, serve, spawner};
use glass_proto::authority::Question;
use glass_proto::paths::{Environment, Overrides, Paths};

/// Threads that may wait for the file system at one time.
const BLOCKING_THREADS: usize = 4;

/// Says what went wrong. Without a standard error there is nobody to tell, and the exit code says it.
fn complain(error: &impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "glassd: {error}");
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Without a place to print to there is nobody to tell; the exit code says it.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE.into() } else { exit::OK.into() };
        }
    };
    if args.diagnose {
        return match diagnose(args) {
            Ok(()) => exit::OK.into(),
            // Whoever asked has gone, or the system refused a thread: nobody is left to tell it to.
            Err(_) => exit::FAULT.into(),
        };
    }
    if args.tell_settings {
        return match tell_settings(&args) {
            Ok(()) => exit::OK.into(),
            Err(error) => {
                complain(&error);
                exit::FAULT.into()
            }
        };
    }
    if args.tell_policy {
        return match tell_policy(&args) {
            Ok(()) => exit::OK.into(),
            Err(error) => {
                complain(&error);
                exit::FAULT.into()
            }
        };
    }
    if args.hash_secret {
        return match hash_secret() {
            Ok(()) => exit::OK.into(),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "glassd: {error}");
                exit::FAULT.into()
            }
        };
    }
    let from_client = args.from_client;
    match start(args) {
        Ok(true) => exit::OK.into(),
        Ok(false) => exit::FAULT.into(),
        Err(error) if from_client && error.is_served() => exit::OK.into(),
        Err(error) => {
            complain(&error);
            error.code().into()
        }
    }
}

fn start(args: Args) -> Result<bool, StartupError> {
    // Before anything is closed.
    let activated = activation::take()?;
    let plan = Plan::make(args, activated)?;
    process::settle().map_err(StartupError::system("set the process apart"))?;
    let (spawner, requests) = spawner();
    let runtime = std::thread::Builder::new()
        .name("glassd".to_owned())
        .spawn(move || run(plan, spawner))
        .map_err(StartupError::system("start a thread"))?;
    serve(&requests);
    // A panic of the runtime itself: the workers end with this process.
    runtime.join().unwrap_or(Ok(false))
}

/// The most that a question may hold.
const MAX_QUESTION: u64 = 1024 * 1024;

/// What the policy file says about what standard input asks.
fn tell_policy(args: &Args) -> std::io::Result<()> {
    let mut asked = Vec::new();
    std::io::stdin().take(MAX_QUESTION).read_to_end(&mut asked)?;
    let question: Question = serde_json::from_slice(&asked)?;
    let file = configuration(args)?.with_file_name("policy.toml");
    let told = match authority::tell_file(file, &question.flags, &question.items) {
        Ok(told) => serde_json::to_string(&told)?,
        Err(error) => serde_json::to_string(&error)?,
    };
    writeln!(std::io::stdout(), "{told}")
}

/// The hash of the secret in the first line of standard input.
fn hash_secret() -> std::io::Result<()> {
    let most = u64::try_from(MAX_SECRET).unwrap_or(u64::MAX) + 2;
    let mut secret = String::new();
    std::io::stdin().take(most).read_to_string(&mut secret)?;
    let hash = SecretHash::of(secret.lines().next().unwrap_or_default()).map_err(std::io::Error::other)?;
    writeln!(std::io::stdout(), "{hash}")
}

/// The configuration's file.
fn configuration(args: &Args) -> std::io::Result<std::path::PathBuf> {
    match &args.config {
        Some(file) => std::path::absolute(file),
        None => {
            let paths = Paths::resolve(&Environment::of_process(), &Overrides::default());
            Ok(paths.map_err(std::io::Error::other)?.config_file())
        }
    }
}

/// The settings that it would start with, and their schema.
fn tell_settings(args: &Args) -> std::io::Result<()> {
    let environment = Environment::of_process();
    let file = configuration(args)?;
    let home = environment.home.as_deref().map(std::path::Path::new);
    let settings = config::settings(&file, std::env::var("GLASS_LOG").ok(), home);
    let told = serde_json::json!({ "settings": settings, "schema": config::schema() });
    writeln!(std::io::stdout(), "{told}")
}

/// Looks and tells, and starts no daemon. Stays in the process group of whoever asked, who may end it.
fn diagnose(args: Args) -> std::io::Result<()> {
    glass_sandbox::close_inherited(&[])?;
    glass_sandbox::default_action(glass_sandbox::Signal::SIGCHLD)?;
    let args = glass_daemon::diagnose::absolute(args)?;
    let (spawner, requests) = spawner();
    let looking = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(glass_daemon::diagnose::diagnose(args, spawner, &mut std::io::stdout()))
    })?;
    serve(&requests);
    looking.join().unwrap_or_else(|_| Err(std::io::Error::other("the thread that looks panicked")))
}

fn run(plan: Plan, spawner: Spawner) -> Result<bool, StartupError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(StartupError::system("start the runtime"))?;
    runtime.block_on(async { Ok(App::build(plan, spawner).await?.run().await) })
}
