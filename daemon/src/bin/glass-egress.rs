//! `glass-egress`: the process through which every session reaches the network.
//!
//! Owns its own start: who may look into it, when it dies, how many descriptors it may hold, and as root which uid it
//! has. What it does is
//! `glass_daemon::egress`. Started by glassd only, with a socket to it (`--control-fd N`) and nothing else.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::RawFd;
use std::process::ExitCode;

use glass_daemon::egress;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tracing_subscriber::filter::LevelFilter;

/// Resolver threads that may wait at one time, all sessions together. They need little stack and end when idle.
const RESOLVER_THREADS: usize = 64;
const RESOLVER_STACK_BYTES: usize = 256 * 1024;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == "--version") {
        // A closed pipe is the reader's business.
        let _ = writeln!(io::stdout(), "glass-egress {}", glass_proto::version::PROGRAM);
        return ExitCode::SUCCESS;
    }
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(LevelFilter::INFO).init();
    match control_fd(std::env::args_os().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "glass-egress cannot go on");
            ExitCode::FAILURE
        }
    }
}

fn run(control: RawFd) -> io::Result<()> {
    let parent = std::os::unix::process::parent_id();
    glass_sandbox::set_dumpable(false)?;
    glass_sandbox::die_with_parent(parent)?;
    glass_sandbox::close_inherited(&[control])?;
    let control = glass_sandbox::take_inherited(control)?;
    raise_descriptor_limit()?;
    if nix::unistd::geteuid().is_root() {
        // What parses the bytes of strangers has no business with the rights of root.
        glass_sandbox::become_unprivileged(glass_sandbox::EGRESS_UID)?;
        // The change of uid cleared both.
        glass_sandbox::set_dumpable(false)?;
        glass_sandbox::die_with_parent(parent)?;
    }
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(RESOLVER_THREADS)
        .thread_stack_size(RESOLVER_STACK_BYTES)
        .build()?
        .block_on(egress::serve(control))
}

/// Each connection takes two descriptors, and the usual soft limit of 1024 would end at two busy sessions.
fn raise_descriptor_limit() -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

fn control_fd(mut args: impl Iterator<Item = OsString>) -> io::Result<RawFd> {
    let fd = match (args.next(), args.next(), args.next()) {
        (Some(flag), Some(value), None) if flag == "--control-fd" => {
            value.to_str().and_then(|number| number.parse().ok())
        }
        _ => None,
    };
    fd.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "glass-egress is started by glassd, with --control-fd N")
    })
}
