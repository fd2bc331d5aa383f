//! The commands: one file each. `operation` runs every operation of the contract.

mod daemon;
mod demo;
mod gone;
mod operation;
mod picture;
mod session;
mod text;

use crate::args::{Cli, Command, DaemonCommand, SessionCommand};
use crate::client::Server;
use crate::error::{Failure, cancelled};
use crate::output::{Output, Report};
use crate::signals::Cancel;

/// A command with everything read that can be read without the daemon.
#[derive(Debug)]
pub struct Job {
    server: Server,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Operation(Box<operation::Prepared>),
    Session(session::Prepared),
    DaemonStart,
    DaemonStop,
    Status,
    Demo,
}

/// Checks a command and reads its inputs. Blocks on standard input and files.
///
/// # Errors
/// `invalid_argument` mostly: what was given cannot be used.
pub fn prepare(cli: Cli) -> Result<Job, Failure> {
    refuse_unused(&cli)?;
    let server = Server::find(&cli.global)?;
    let work = match cli.command {
        Command::Operation(command) => {
            Work::Operation(Box::new(operation::prepare(command, &cli.global.session().map_err(invalid)?)?))
        }
        Command::Session(SessionCommand::List) => Work::Session(session::Prepared::List),
        Command::Session(SessionCommand::Show { name }) => {
            Work::Session(session::Prepared::Show(named(name, &cli.global)?))
        }
        Command::Session(SessionCommand::Close { all: true, .. }) => {
            Work::Session(session::Prepared::CloseAll)
        }
        Command::Session(SessionCommand::Close { name, all: false }) => {
            Work::Session(session::Prepared::Close(named(name, &cli.global)?))
        }
        Command::Daemon(DaemonCommand::Start) => Work::DaemonStart,
        Command::Daemon(DaemonCommand::Stop) => Work::DaemonStop,
        Command::Daemon(DaemonCommand::Status) | Command::Status => Work::Status,
        Command::Demo => Work::Demo,
    };
    Ok(Job { server, work })
}

/// Refuses global options of the command line that the command would not go by. `GLASS_SESSION` is no such option: it
/// stands for all commands of a shell.
fn refuse_unused(cli: &Cli) -> Result<(), Failure> {
    let (session, autostart, socket) = match &cli.command {
        Command::Operation(_) => (true, true, true),
        Command::Session(SessionCommand::Show { name } | SessionCommand::Close { name, all: false }) => {
            (name.is_none(), true, true)
        }
        Command::Session(SessionCommand::List | SessionCommand::Close { all: true, .. }) => {
            (false, true, true)
        }
        Command::Daemon(DaemonCommand::Start) => (false, false, true),
        // These start none anyway, so --no-autostart says what is so.
        Command::Daemon(DaemonCommand::Stop | DaemonCommand::Status) | Command::Status => (false, true, true),
        Command::Demo => (false, false, false),
    };
    let global = &cli.global;
    let given = [
        ("--session", global.session.is_some(), session),
        ("--no-autostart", global.no_autostart, autostart),
        ("--socket", global.socket.is_some(), socket),
    ];
    match given.into_iter().find(|(_, given, used)| *given && !used) {
        Some((option, ..)) => {
            Err(Failure::invalid(format!("this command does not go by {option}"), "leave it out"))
        }
        None => Ok(()),
    }
}

/// Runs a prepared command.
///
/// # Errors
/// What the daemon or the way to it answers.
pub async fn run(job: Job, output: Output, mut cancel: Cancel) -> Result<Report, Failure> {
    let Job { server, work } = job;
    match work {
        Work::Operation(prepared) => Box::pin(operation::run(*prepared, &server, output, cancel)).await,
        Work::Demo => Box::pin(demo::run(output, cancel)).await,
        // Nothing of these can be half done: giving up is leaving.
        Work::Session(prepared) => give_up(cancel.race(session::run(prepared, &server)).await),
        Work::DaemonStart => give_up(cancel.race(daemon::start(&server)).await),
        Work::DaemonStop => give_up(cancel.race(daemon::stop(&server)).await),
        Work::Status => give_up(cancel.race(daemon::status(&server)).await),
    }
}

fn give_up(ended: Option<Result<Report, Failure>>) -> Result<Report, Failure> {
    ended.unwrap_or_else(|| Err(cancelled().into()))
}

fn invalid(error: crate::session::InvalidSession) -> Failure {
    Failure::invalid(error.to_string(), "give a name with --session, or unset GLASS_SESSION")
}

fn named(
    name: Option<crate::session::SessionChoice>,
    global: &crate::args::Global,
) -> Result<glass_proto::SessionName, Failure> {
    let choice = match name {
        Some(choice) => choice,
        None => global.session().map_err(invalid)?,
    };
    choice.name().map_err(invalid)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn options_that_a_command_does_not_go_by_are_refused() {
        let check = |line: &str| refuse_unused(&Cli::try_parse_from(line.split(' ')).unwrap()).is_ok();
        for line in [
            "g status --session a",
            "g daemon status --session a",
            "g daemon start --no-autostart",
            "g session list --session a",
            "g session close --all --session a",
            "g session close a --session b",
            "g session show a --session b",
            "g demo --session a",
            "g demo --socket /s",
        ] {
            assert!(!check(line), "{line}");
        }
        for line in [
            "g observe --session a --no-autostart --socket /s",
            "g session close --session a",
            "g session show --session a",
            "g daemon status --no-autostart --socket /s",
            "g session list --no-autostart",
            "g demo --json",
        ] {
            assert!(check(line), "{line}");
        }
    }
}
