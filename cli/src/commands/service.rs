//! `glassctl service install|uninstall|status`: the units that let the user's systemd start glassd (contract 12.5).
//!
//! Writes two files into the user's own unit directory and asks systemctl for the rest. Every call of systemctl is
//! bounded. Elsewhere than under systemd it is `unsupported`, and clients start the daemon as ever.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use glass_proto::diagnosis::Finding;
use glass_proto::escape::{cut, visible};
use glass_proto::{ErrorKind, OpError, Phase};
use serde::Serialize;
use tokio::process::Command;
use tokio::time::timeout;

use crate::args::ServiceCommand;
use crate::client::Server;
use crate::error::Failure;
use crate::launch;
use crate::output::Report;

const SOCKET_UNIT: &str = include_str!("../../../packaging/systemd/glassd.socket");
const SERVICE_UNIT: &str = include_str!("../../../packaging/systemd/glassd.service");
/// The path of glassd in the unit as it is packaged.
const PACKAGED: &str = "/usr/bin/glassd";
/// How long systemd may take for one answer.
const LIMIT: Duration = Duration::from_secs(10);
/// How long it may take for the doctor.
const GLANCE: Duration = Duration::from_secs(2);

pub(super) async fn run(command: ServiceCommand, server: &Server) -> Result<Report, Failure> {
    match command {
        ServiceCommand::Install => install(server).await,
        ServiceCommand::Uninstall => uninstall().await,
        ServiceCommand::Status => status().await,
    }
}

/// How the units are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Units {
    /// Where the files of this user are.
    directory: PathBuf,
    /// Whether they are there.
    installed: bool,
    /// `enabled`, `disabled`, `not-found`, …, as systemd says.
    enabled: String,
    /// `active`, `inactive`, …
    socket: String,
    /// `active`, `inactive`, `failed`, …
    service: String,
}

async fn install(server: &Server) -> Result<Report, Failure> {
    // Its socket would be taken from under a daemon that a client started, and its sessions with it.
    if look().await?.socket != "active" && server.connect_running().await?.is_some() {
        return Err(OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            "glassd runs already, started by a client",
            "`glassctl daemon stop` first; its sessions end with it",
        )
        .reason("daemon_running")
        .into());
    }
    let program = launch::find_program().map_err(|error| failed(&error.to_string()))?;
    let program = program.canonicalize().map_err(|error| failed(&error.to_string()))?;
    let service = unit(&program)?;
    let directory = directory()?;
    let write = || -> io::Result<()> {
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("glassd.socket"), SOCKET_UNIT)?;
        fs::write(directory.join("glassd.service"), service)
    };
    write().map_err(|error| failed(&format!("{}: {error}", directory.display())))?;
    done(&["daemon-reload"]).await?;
    done(&["enable", "--now", "glassd.socket"]).await?;
    report(look().await?, "installed: systemd starts glassd with the first command")
}

/// The service with the path of this installation in it.
fn unit(program: &Path) -> Result<String, Failure> {
    let path = program.to_str().filter(|path| !path.contains(['"', '\\', '%', '$', '\n', ' ', '\'']));
    let path = path.ok_or_else(|| failed("the path of glassd has characters that a unit cannot hold"))?;
    Ok(SERVICE_UNIT.replace(PACKAGED, path))
}

async fn uninstall() -> Result<Report, Failure> {
    let before = look().await?;
    if before.installed || before.enabled == "enabled" {
        done(&["disable", "--now", "glassd.socket"]).await?;
        done(&["stop", "glassd.service"]).await?;
    }
    for name in ["glassd.socket", "glassd.service"] {
        let path = before.directory.join(name);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&format!("{}: {error}", path.display()))),
        }
    }
    done(&["daemon-reload"]).await?;
    report(look().await?, "uninstalled: the first command starts glassd again")
}

async fn status() -> Result<Report, Failure> {
    let units = look().await?;
    let text = match units.installed {
        true => {
            format!("glassd.socket {}, {}; glassd.service {}", units.enabled, units.socket, units.service)
        }
        false => "not installed; the first command starts glassd".to_owned(),
    };
    report(units, &text)
}

fn report(units: Units, text: &str) -> Result<Report, Failure> {
    let shown = visible(&units.directory.to_string_lossy(), false).into_owned();
    Report::of(&units, format!("{text}\nunits in {shown}"))
}

/// Where this user's units are: `$XDG_CONFIG_HOME/systemd/user`.
fn directory() -> Result<PathBuf, Failure> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    configuration
        .map(|configuration| configuration.join("systemd/user"))
        .ok_or_else(|| failed("neither HOME nor XDG_CONFIG_HOME says where units belong"))
}

async fn look() -> Result<Units, Failure> {
    let directory = directory()?;
    let said = async |what, unit| Ok::<_, Failure>(systemctl(&[what, unit], LIMIT).await?.said);
    Ok(Units {
        installed: directory.join("glassd.socket").exists() && directory.join("glassd.service").exists(),
        directory,
        enabled: said("is-enabled", "glassd.socket").await?,
        socket: said("is-active", "glassd.socket").await?,
        service: said("is-active", "glassd.service").await?,
    })
}

/// What systemctl came to.
struct Answer {
    success: bool,
    said: String,
    complained: String,
}

async fn systemctl(arguments: &[&str], limit: Duration) -> Result<Answer, Failure> {
    let mut command = Command::new("systemctl");
    command.arg("--user").args(arguments.iter().map(OsStr::new));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let unsupported = |why: String| {
        let error = OpError::rejected(
            ErrorKind::Unsupported,
            Phase::Preflight,
            why,
            "services need systemd's user manager; without it the first command starts glassd",
        );
        Failure::from(error.reason("no_systemd"))
    };
    match timeout(limit, command.output()).await {
        Ok(Ok(output)) => {
            let line = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes);
                cut(&visible(text.trim(), false), 300).into_owned()
            };
            let answer = Answer {
                success: output.status.success(),
                said: line(&output.stdout),
                complained: line(&output.stderr),
            };
            if answer.complained.contains("Failed to connect to bus") {
                return Err(unsupported("no user manager of systemd runs here".to_owned()));
            }
            Ok(answer)
        }
        Ok(Err(error)) => Err(unsupported(format!("systemctl cannot be run: {error}"))),
        Err(_) => Err(failed(&format!("systemctl gave no answer within {} s", limit.as_secs()))),
    }
}

/// Asks for something that must succeed.
async fn done(arguments: &[&str]) -> Result<(), Failure> {
    let answer = systemctl(arguments, LIMIT).await?;
    if answer.success {
        return Ok(());
    }
    Err(failed(&format!("systemctl --user {}: {}", arguments.join(" "), answer.complained)))
}

fn failed(why: &str) -> Failure {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        visible(why, false),
        "look with `systemctl --user status glassd.socket glassd.service`",
    )
    .reason("service")
    .into()
}

/// What `glassctl doctor` says about the units. None where there is no systemd to ask.
pub(super) async fn finding() -> Option<Finding> {
    let enabled = systemctl(&["is-enabled", "glassd.socket"], GLANCE).await.ok()?.said;
    let service = systemctl(&["is-active", "glassd.service"], GLANCE).await.ok()?.said;
    Some(match (enabled.as_str(), service.as_str()) {
        (_, "failed") => Finding::degraded(
            "service",
            "glassd.service has failed",
            "`systemctl --user status glassd.service` says why; `systemctl --user reset-failed glassd.service`",
        ),
        ("enabled", _) => {
            Finding::good("service", format!("glassd.socket is enabled; glassd.service is {service}"))
        }
        ("disabled" | "masked", _) => {
            Finding::good("service", format!("glassd.socket is {enabled}; clients start glassd"))
        }
        _ => Finding::good("service", "not installed; clients start glassd"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_names_the_installed_program_and_nothing_else_changes() {
        let text = unit(Path::new("/opt/glass/bin/glassd")).unwrap();
        assert!(text.contains("ExecStart=/opt/glass/bin/glassd --foreground\n"));
        assert_eq!(text.replace("/opt/glass/bin/glassd", PACKAGED), SERVICE_UNIT);
        for path in ["/a b/glassd", "/a%h/glassd", "/a\"/glassd", "/a$x/glassd"] {
            assert!(unit(Path::new(path)).is_err(), "{path}");
        }
    }
}
