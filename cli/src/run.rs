//! From arguments to an exit code: parse, prepare, run under the signals, print.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use tokio::sync::watch;

use crate::args::{Cli, wants_json};
use crate::commands::{self, Job};
use crate::error::Failure;
use crate::output::{Output, Report, diagnostic};
use crate::signals::{Cancel, Signal, Signals};
use crate::usage::{NoCommand, explain};

/// Exit code when the reader of standard output went away, as shells have it for SIGPIPE.
pub(crate) const EXIT_PIPE: u8 = 141;
/// Exit code when the answer could not be written: the machinery failed, whatever the operation came to.
const EXIT_OUTPUT: u8 = 10;

/// Runs the command that `arguments` name (the first is the program's own name).
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::read(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let output = Output::new(wants_json(&arguments));
            return match explain(&error) {
                NoCommand::Print(text) => exit(output.line(&text), 0),
                NoCommand::Wrong(failure) => exit(output.failure(&failure), failure.exit_code()),
            };
        }
    };
    let output = Output::new(cli.global.json);
    if let Some(option) = cli.global.lost(&arguments) {
        let wrong = Failure::invalid(
            format!("{option} stands before the command and after it"),
            "give it in one of the two places",
        );
        return exit(output.failure(&wrong), wrong.exit_code());
    }
    // Standard input and files are read before signals are taken: until something is sent, Ctrl-C just ends it.
    let ended = match commands::prepare(cli).and_then(|job| block_on(job, output)) {
        Ok(ended) => ended,
        Err(failure) => Ended { result: Some(Err(failure)), signal: None },
    };
    let (written, code) = match &ended.result {
        Some(Ok(report)) => (output.report(report), report.exit_code),
        Some(Err(failure)) => (output.failure(failure), failure.exit_code()),
        None => (Ok(()), 0),
    };
    exit(written, ended.signal.map_or(code, Signal::exit_code))
}

fn exit(written: io::Result<()>, code: u8) -> ExitCode {
    ExitCode::from(match written {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => EXIT_PIPE,
        Err(error) => {
            // Nothing is left to say where this fails too.
            let _ = diagnostic(&format!("error: the answer cannot be written: {error}"));
            EXIT_OUTPUT
        }
    })
}

/// What a command came to; without a result when a second signal ended it.
struct Ended {
    result: Option<Result<Report, Failure>>,
    signal: Option<Signal>,
}

fn block_on(job: Job, output: Output) -> Result<Ended, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| no_runtime(&error))?;
    runtime.block_on(async {
        let mut signals = Signals::install().map_err(|error| no_runtime(&error))?;
        let (tell, cancel) = Cancel::channel();
        Ok(supervise(Box::pin(commands::run(job, output, cancel)), &mut signals, &tell).await)
    })
}

fn no_runtime(error: &io::Error) -> Failure {
    glass_proto::OpError::rejected(
        glass_proto::ErrorKind::Transport,
        glass_proto::Phase::Preflight,
        format!("glassctl cannot start: {error}"),
        "the system is short of something, such as file descriptors",
    )
    .into()
}

async fn supervise(
    work: impl Future<Output = Result<Report, Failure>>,
    signals: &mut Signals,
    tell: &watch::Sender<Option<Signal>>,
) -> Ended {
    let mut work = std::pin::pin!(work);
    let mut first = None;
    loop {
        tokio::select! {
            biased;
            result = &mut work => return Ended { result: Some(result), signal: first },
            signal = signals.next() => {
                if first.is_some() {
                    return Ended { result: None, signal: first };
                }
                first = Some(signal);
                tell.send_replace(first);
            }
        }
    }
}
