//! The commands: one file each. `operation` runs every operation of the contract.

mod audit;
mod config;
mod confirm;
mod daemon;
mod deep;
mod demo;
mod doctor;
mod events;
mod execution;
mod gone;
mod known;
mod logs;
mod operation;
mod picture;
mod policy;
mod quota;
mod secret;
mod service;
mod session;
mod steps;
mod text;

pub(crate) use audit::since;
use glass_proto::OpError;
use glass_proto::op::{CallOptions, DeleteSecrets, ListSecrets, OperationCommand, With};
use glass_proto::policy::layer::Given;

use crate::args::{
    Cli, Command, ConfigCommand, DaemonCommand, ExecutionCommand, Global, PolicyCommand, SecretCommand,
    ServiceCommand, SessionCommand,
};
use crate::client::Server;
use crate::error::{Failure, cancelled};
use crate::output::{Output, Report};
use crate::signals::Cancel;

/// A command with everything read that can be read without the daemon.
#[derive(Debug)]
pub struct Job(Asked);

#[derive(Debug)]
enum Asked {
    /// It is answered already.
    Known(Report),
    /// What only glassd's program knows.
    Config(ConfigCommand),
    /// Something that goes by where glassd is.
    At(Box<Server>, Work),
    /// The doctor, who looks at that too.
    Doctor {
        /// Whether it mends.
        fix: bool,
        /// Whether it starts a session to look from inside.
        deep: bool,
        /// What was given beside it.
        global: Global,
    },
}

#[derive(Debug)]
enum Work {
    Operation(Box<operation::Prepared>),
    Session(session::Prepared),
    Execution(ExecutionCommand),
    DaemonStart,
    DaemonStop,
    Status,
    Logs(logs::Prepared),
    Audit(audit::Prepared),
    Confirm(confirm::Prepared),
    Service(ServiceCommand),
    Policy(PolicyCommand, Given),
    Quota(Option<glass_proto::SessionName>),
    Export(Box<secret::Prepared>),
    Demo,
}

/// Checks a command and reads its inputs. Blocks on standard input and files.
///
/// # Errors
/// `invalid_argument` mostly: what was given cannot be used.
pub fn prepare(cli: Cli) -> Result<Job, Failure> {
    refuse_unused(&cli)?;
    let server = Server::find(&cli.global);
    let wanted = crate::wanted::read(&cli.global.wanted)?;
    let server = server.and_then(|server| server.wanting(&wanted));
    let work = match cli.command {
        Command::Config(ConfigCommand::Check { file }) => {
            let file = config::named(file)?;
            return Ok(Job(Asked::Config(ConfigCommand::Check { file })));
        }
        Command::Config(command) => return Ok(Job(Asked::Config(command))),
        Command::Known(command) => return Ok(Job(Asked::Known(known::run(command)?))),
        Command::Operation(command) => Work::Operation(Box::new(operation::prepare(
            command,
            &cli.global.session().map_err(invalid)?,
            cli.global.file_root.as_deref(),
            cli.global.trace_on_error,
            cli.global.wanted.attach_target.as_ref(),
        )?)),
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
        Command::Execution(command) => Work::Execution(command),
        Command::Daemon(DaemonCommand::Start) => Work::DaemonStart,
        Command::Daemon(DaemonCommand::Stop) => Work::DaemonStop,
        Command::Daemon(DaemonCommand::Status) | Command::Status => Work::Status,
        Command::Daemon(DaemonCommand::Logs(args)) | Command::Logs(args) => {
            Work::Logs(logs_of(args, &cli.global)?)
        }
        Command::Audit(args) => {
            let session =
                cli.global.session.clone().map(|choice| choice.name().map_err(invalid)).transpose()?;
            Work::Audit(audit::prepare(args, session)?)
        }
        Command::Confirm { id: None } => Work::Confirm(confirm::Prepared::List),
        Command::Confirm { id: Some(id) } => Work::Confirm(confirm::Prepared::Confirm(id)),
        Command::Deny { id } => Work::Confirm(confirm::Prepared::Deny(id)),
        Command::Service(command) => Work::Service(command),
        Command::Policy(command) => Work::Policy(command, cli.global.policy.given()?),
        Command::Quota => Work::Quota(only_given(&cli.global)?),
        Command::Secret(SecretCommand::Export(export)) => {
            let session = named(None, &cli.global)?;
            let root = cli.global.file_root.as_deref();
            Work::Export(Box::new(secret::prepare(export, session, root, cli.global.json)?))
        }
        Command::Secret(command) => Work::Operation(Box::new(operation::prepare(
            of_the_vault(command),
            &cli.global.session().map_err(invalid)?,
            None,
            cli.global.trace_on_error,
            None,
        )?)),
        Command::Demo => Work::Demo,
        Command::Doctor { fix, deep } => return Ok(Job(Asked::Doctor { fix, deep, global: cli.global })),
    };
    Ok(Job(Asked::At(Box::new(server?), work)))
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
        Command::Execution(_) => (false, true, true),
        Command::Daemon(DaemonCommand::Start) => (false, false, true),
        // These start none anyway, so --no-autostart says what is so.
        Command::Daemon(DaemonCommand::Stop | DaemonCommand::Status) | Command::Status => (false, true, true),
        Command::Daemon(DaemonCommand::Logs(_)) | Command::Logs(_) => (true, true, true),
        Command::Audit(args) => (args.command.is_none(), true, true),
        // They start none.
        Command::Confirm { .. } | Command::Deny { .. } => (false, true, true),
        Command::Service(_) => (false, true, true),
        Command::Quota => (true, true, true),
        // It starts none.
        Command::Policy(_) => (false, true, true),
        Command::Secret(_) => (true, true, true),
        // It starts none either.
        Command::Doctor { .. } => (false, true, true),
        Command::Demo | Command::Known(_) | Command::Config(_) => (false, false, false),
    };
    let global = &cli.global;
    let runs = matches!(cli.command, Command::Operation(_));
    let given = [
        ("--session", global.session.is_some(), session),
        ("--no-autostart", global.no_autostart, autostart),
        ("--socket", global.socket.is_some(), socket),
        ("a policy option", global.policy.is_given(), goes_by_policy(&cli.command)),
        ("--trace-on-error", global.trace_on_error, matches!(cli.command, Command::Operation(_))),
        ("--http-credentials", global.wanted.http_credentials.is_some(), runs),
        ("--ignore-certificate-errors", global.wanted.ignore_certificate_errors.is_some(), runs),
        ("--permission", !global.wanted.permissions.is_empty(), runs),
        ("--attach", global.wanted.attach.is_some(), runs),
        ("--file-root", global.file_root.is_some(), goes_by_files(&cli.command)),
    ];
    match given.into_iter().find(|(_, given, used)| *given && !used) {
        Some((option, ..)) => {
            Err(Failure::invalid(format!("this command does not go by {option}"), "leave it out"))
        }
        None => Ok(()),
    }
}

/// What holds for a client of these options.
///
/// # Errors
/// What keeps glassd from answering.
pub(crate) async fn policy(server: &Server, given: &Given) -> Result<glass_proto::authority::Told, OpError> {
    policy::ask(server, given, &[]).await
}

/// Whether a command is one that policy decides about.
fn goes_by_policy(command: &Command) -> bool {
    matches!(command, Command::Operation(_) | Command::Policy(_) | Command::Secret(_))
}

/// Whether a command reads or writes files of the user's.
fn goes_by_files(command: &Command) -> bool {
    use glass_proto::op::OperationCommand as Operation;
    matches!(
        command,
        Command::Operation(
            Operation::Download(_)
                | Operation::RetryDownloadCapture(_)
                | Operation::Upload(_)
                | Operation::StorageState(_)
                | Operation::Evaluate(_)
                | Operation::Batch(_)
        ) | Command::Secret(SecretCommand::Export(_))
    )
}

/// Runs a prepared command.
///
/// # Errors
/// What the daemon or the way to it answers.
pub async fn run(job: Job, output: Output, mut cancel: Cancel) -> Result<Report, Failure> {
    let (server, work) = match job.0 {
        Asked::Known(report) => return Ok(report),
        Asked::At(server, work) => (server, work),
        Asked::Config(command) => return give_up(cancel.race(config::run(command)).await),
        Asked::Doctor { fix, deep, global } => {
            return give_up(Box::pin(cancel.race(doctor::run(fix, deep, &global))).await);
        }
    };
    match work {
        Work::Operation(prepared) => Box::pin(operation::run(*prepared, &server, output, cancel)).await,
        Work::Demo => Box::pin(demo::run(output, cancel)).await,
        Work::Service(command) => give_up(cancel.race(service::run(command, &server)).await),
        Work::Policy(command, given) => give_up(cancel.race(policy::run(command, &given, &server)).await),
        Work::Audit(prepared) => give_up(cancel.race(audit::run(prepared, &server)).await),
        Work::Confirm(prepared) => give_up(cancel.race(confirm::run(prepared, &server)).await),
        Work::Export(prepared) => give_up(cancel.race(secret::run(*prepared, &server)).await),
        Work::Logs(prepared) => logs::run(prepared, &server, output, cancel).await,
        // Nothing of these can be half done: giving up is leaving.
        Work::Quota(session) => give_up(cancel.race(quota::run(session, &server)).await),
        Work::Session(prepared) => give_up(cancel.race(session::run(prepared, &server)).await),
        Work::Execution(command) => give_up(cancel.race(execution::run(command, &server)).await),
        Work::DaemonStart => give_up(cancel.race(daemon::start(&server)).await),
        Work::DaemonStop => give_up(cancel.race(daemon::stop(&server)).await),
        Work::Status => give_up(cancel.race(daemon::status(&server)).await),
    }
}

/// The operation that a command about the vault is another name of.
fn of_the_vault(command: SecretCommand) -> OperationCommand {
    let options = CallOptions::default();
    match command {
        SecretCommand::Delete { names, all } => {
            OperationCommand::DeleteSecrets(With { params: DeleteSecrets { names, all }, options })
        }
        SecretCommand::List | SecretCommand::Export(_) => {
            OperationCommand::ListSecrets(With { params: ListSecrets {}, options })
        }
    }
}

fn give_up(ended: Option<Result<Report, Failure>>) -> Result<Report, Failure> {
    ended.unwrap_or_else(|| Err(cancelled().into()))
}

fn invalid(error: crate::session::InvalidSession) -> Failure {
    Failure::invalid(error.to_string(), "give a name with --session, or unset GLASS_SESSION")
}

/// The session of the option alone: `GLASS_SESSION` says whom operations are for.
fn only_given(global: &crate::args::Global) -> Result<Option<glass_proto::SessionName>, Failure> {
    global.session.clone().map(|choice| choice.name().map_err(invalid)).transpose()
}

fn logs_of(args: crate::args::LogsArgs, global: &crate::args::Global) -> Result<logs::Prepared, Failure> {
    if args.follow && global.json {
        return Err(Failure::invalid("--follow has no end, and --json is one object", "leave out one"));
    }
    let session = only_given(global)?;
    Ok(logs::Prepared { lines: args.lines.into(), follow: args.follow, session })
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
            "g execution show 01M8RNXETTY3VRCC7C3MGMCP3M --session a",
            "g session close --all --session a",
            "g session close a --session b",
            "g session show a --session b",
            "g demo --session a",
            "g demo --socket /s",
            "g status --trace-on-error",
            "g schema --session a",
            "g schema click --no-autostart",
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
