//! `glass --mcp`: the MCP front end (contract 9).
//!
//! A thin client of the daemon: no browser, no policy. [`guard`] owns standard input and output with every bound,
//! [`connection`] the rules of a connection, rmcp the shapes of the five protocol revisions, [`tools`] what is offered,
//! [`link`] the way to the daemon.

pub mod args;
pub mod configure;
pub mod connection;
pub mod frame;
pub mod guard;
pub mod link;
pub mod message;
pub mod own;
pub mod prompts;
pub mod server;
pub mod store;
pub mod tools;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use glass_proto::op::Capability;
use glass_proto::policy::Stance;
use glass_proto::policy::layer::Given;
use glass_proto::{ErrorKind, OpError, Phase, SessionName};
use rmcp::RoleServer;
use rmcp::service::serve_directly;

use self::args::{Cli, Command, Flags, Sessions};
use self::frame::Limits;
use self::guard::Guard;
use self::link::{Link, Others};
use self::server::{Handler, Isolated};
use self::store::Store;
use self::tools::Tools;
use crate::args::{Global, Wanted};
use crate::client::Server;
use crate::error::Failure;
use crate::output::{Output, diagnostic};
use crate::policy;
use crate::signals::{Signal, Signals};
use crate::usage::{NoCommand, explain};

/// How long the last answers may take to be written.
const FLUSH: Duration = Duration::from_secs(1);

/// Runs `glass` with these arguments (the first is the program's own name).
pub fn run(arguments: &[OsString]) -> ExitCode {
    let output = Output::new(false);
    let ended = match Cli::try_parse_from(arguments) {
        Err(error) => match explain(&error) {
            NoCommand::Print(text) => {
                return ExitCode::from(if output.line(&text).is_ok() { 0 } else { 10 });
            }
            NoCommand::Wrong(failure) => Err(*failure),
        },
        Ok(Cli { command: Some(command), .. }) => other(command, output),
        Ok(Cli { mcp: true, flags, .. }) => serve(flags),
        Ok(_) => Err(Failure::invalid("what shall be served is not said", "give --mcp; see --help")),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // Nothing is left to say where this fails.
            let _ = output.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn other(command: Command, output: Output) -> Result<u8, Failure> {
    let Command::McpConfig { client, write, file, options } = command;
    let text = configure::run(client, write, file, options)?;
    Ok(if output.line(&text).is_ok() { 0 } else { 10 })
}

fn serve(flags: Flags) -> Result<u8, Failure> {
    if let Some((name, why)) = flags.refused.first() {
        return Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            format!("{name} cannot be honoured: {why}"),
            "leave it out, if you can do without it",
        )
        .into());
    }
    let given = flags.policy.given()?;
    private_alone(&flags, &given)?;
    let global = Global {
        socket: flags.socket.clone(),
        no_autostart: flags.no_autostart,
        policy: flags.policy.clone(),
        ..Global::default()
    };
    let wanted = Wanted {
        http_credentials: flags.http_credentials.clone(),
        ignore_certificate_errors: flags.ignore_certificate_errors.then_some(true),
        permissions: flags.permissions.clone(),
        attach: flags.attach.clone(),
        attach_target: flags.target_id.clone(),
    };
    let server = Server::find(&global)?.wanting(&crate::wanted::read(&wanted)?)?;
    quiet_panics();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| cannot(&error))?;
    let code = runtime.block_on(speak(flags, given, server));
    // Nothing of it may hold the process: every wait that matters has a bound and is over.
    runtime.shutdown_background();
    code
}

fn cannot(error: &io::Error) -> Failure {
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Preflight,
        format!("glass cannot start: {error}"),
        "the system is short of something, such as file descriptors",
    )
    .into()
}

/// The session of a process whose sessions all have a prefix (contract 13.2).
fn within(prefix: &SessionName) -> Result<SessionName, Failure> {
    let name = format!("{prefix}{}", SessionName::shared_default());
    name.parse()
        .map_err(|error| Failure::invalid(format!("--prefix is too long: {error}"), "give a shorter one"))
}

/// Refuses sessions by name under a policy that has none (contract 10.2).
fn private_alone(flags: &Flags, given: &Given) -> Result<(), Failure> {
    let named = flags.session.is_some() || flags.sessions.is_some() || flags.prefix.is_some();
    let says = policy::compile(given.clone())?.says(Capability::NamedSessions);
    if named && says.stance == Stance::Deny {
        return Err(OpError::rejected(
            ErrorKind::InvalidConfiguration,
            Phase::Policy,
            format!("this policy has one private session alone: {says}"),
            "leave out --session, --sessions and --prefix, or add --policy-allow named_sessions",
        )
        .reason("policy_options")
        .into());
    }
    Ok(())
}

async fn speak(flags: Flags, given: Given, server: Server) -> Result<u8, Failure> {
    let mut signals = Signals::install().map_err(|error| cannot(&error))?;
    if io::stdin().is_terminal() {
        // A person who looks at a silent program should know what it waits for.
        let _ = diagnostic("glass speaks MCP on standard input; a client starts it (docs/mcp.md)");
    }
    let line = flags.mcp_line_limit.unwrap_or(Limits::default().line);
    let limits = Limits { line, ..Limits::default() };
    let (guard, shared) = Guard::start(io::stdin(), io::stdout(), limits, flags.cancel_reply, reader_is_gone)
        .map_err(|error| cannot(&error))?;
    let own = match (flags.session, &flags.prefix) {
        (None, Some(prefix)) => Some(within(prefix)?),
        (named, _) => named,
    };
    let others = match (flags.sessions, flags.prefix) {
        (Some(Sessions::Any), _) => Others::Any,
        (None, Some(prefix)) => Others::Prefix(prefix.into()),
        (None, None) => Others::None,
    };
    let tools = Tools::new(&flags.tools, others != Others::None).moving(flags.interaction);
    let link = Link::new(server, own, others).with_files_below(flags.file_root).under(given);
    let link = Arc::new(link);
    let handler = Handler {
        shared: shared.clone(),
        tools,
        store: Store::new(link.session().as_str()),
        link: link.clone(),
        page: std::sync::Mutex::default(),
        log: flags.log,
    };
    let running = serve_directly::<RoleServer, _, _, _, _>(Isolated(Arc::new(handler)), guard, None);
    let code = tokio::select! {
        // How it ended is of no use: there is nobody to tell.
        _ = running.waiting() => 0,
        () = shared.abandoned(writer_is_gone) => 0,
        signal = signals.next() => match signal {
            Signal::Interrupt => Signal::Interrupt.exit_code(),
            // Clients end their servers so.
            Signal::Terminate => 0,
        },
    };
    shared.flush(FLUSH).await;
    link.close().await;
    Ok(code)
}

/// Whether nobody can read our output any more.
fn reader_is_gone() -> bool {
    hung_up(&io::stdout())
}

/// Whether nobody can write to our input any more.
fn writer_is_gone() -> bool {
    hung_up(&io::stdin())
}

fn hung_up(stream: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // What cannot be told is no hang-up: reading or writing will say so.
    let found = poll(&mut polled, Some(&now)).unwrap_or(0);
    found > 0 && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// A panic is told by its place alone: its message may hold what a page or a client said.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "?".to_owned(), ToString::to_string);
        // Where nobody reads it, it is lost.
        let _ = diagnostic(&format!("glass: a fault at {place}"));
    }));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    fn packaging(name: &str) -> Value {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/mcp").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    // contract: 9.8
    #[test]
    fn what_the_registry_gets_is_what_its_schema_asks() {
        let server = packaging("server.json");
        let name = server["name"].as_str().unwrap();
        let (namespace, own) = name.split_once('/').unwrap();
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        assert!(namespace.contains('.') && plain(namespace) && plain(own) && !own.is_empty(), "{name}");
        assert!(server["description"].as_str().is_some_and(|text| (1..=100).contains(&text.len())));
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
        for package in server["packages"].as_array().unwrap() {
            assert_eq!(package["transport"]["type"], "stdio");
            assert_eq!(package["version"], server["version"]);
            assert!(package["registryType"].is_string() && package["identifier"].is_string());
            assert_eq!(package["packageArguments"][0]["name"], "--mcp");
        }
    }

    #[test]
    fn the_bundle_starts_the_program_of_this_version() {
        let manifest = packaging("manifest.json");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["server"]["mcp_config"]["args"][0], "--mcp");
        for needed in ["manifest_version", "name", "description"] {
            assert!(manifest[needed].is_string(), "{needed}");
        }
        assert!(manifest["author"]["name"].is_string());
    }
}
