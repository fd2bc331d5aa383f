//! `glassctl config show|check|schema` (contract 12.5). glassd alone reads the configuration, so it is asked: the program,
//! not a daemon that runs, which goes by what it read when it started.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use glass_proto::configuration::Settings;
use glass_proto::escape::visible;
use glass_proto::{ErrorKind, OpError, Phase};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::args::ConfigCommand;
use crate::error::Failure;
use crate::launch;
use crate::output::{Report, Table};
use crate::terminal::ask as ask_terminal;

/// How long glassd may take to read a file.
const LIMIT: Duration = Duration::from_secs(10);

/// What glassd tells.
#[derive(Deserialize)]
struct Told {
    settings: Settings,
    schema: Value,
}

pub(super) async fn run(command: ConfigCommand) -> Result<Report, Failure> {
    let file = match &command {
        ConfigCommand::Check { file } => file.clone(),
        ConfigCommand::Secret => return secret().await,
        ConfigCommand::Show | ConfigCommand::Schema => None,
    };
    let Told { settings, schema } = ask(file.as_deref()).await?;
    match command {
        ConfigCommand::Schema => Report::of(&schema, format!("{schema:#}")),
        _ if settings.mistake.is_some() => Err(mistake(&settings).into()),
        ConfigCommand::Show | ConfigCommand::Secret => Report::of(&settings, show(&settings)),
        ConfigCommand::Check { .. } => {
            let what = if settings.exists { "can be used" } else { "is absent; the defaults hold" };
            let text = format!("{} {what}", visible(&settings.path, false));
            Report::of(&json!({ "path": settings.path, "exists": settings.exists }), text)
        }
    }
}

async fn ask(file: Option<&Path>) -> Result<Told, Failure> {
    let broken = |message: String| {
        let remedy = "use the programs of one installation; `glassctl doctor` looks at them";
        Failure::from(OpError::rejected(ErrorKind::DaemonUnreachable, Phase::Transport, message, remedy))
    };
    let program = launch::find_program().map_err(|error| broken(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("--tell-settings").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some(file) = file {
        command.arg("--config").arg(file);
    }
    let output = match timeout(LIMIT, command.output()).await {
        Ok(output) => output.map_err(|error| broken(format!("glassd cannot be run: {error}")))?,
        Err(_) => return Err(broken(format!("glassd did not answer within {} s", LIMIT.as_secs()))),
    };
    serde_json::from_slice(&output.stdout).map_err(|_| broken("glassd did not tell its settings".to_owned()))
}

/// Asks for a secret, twice where that is on a terminal, and has glassd's program hash it.
async fn secret() -> Result<Report, Failure> {
    let broken = |message: String| {
        let remedy = "use the programs of one installation; `glassctl doctor` looks at them";
        Failure::from(OpError::rejected(ErrorKind::DaemonUnreachable, Phase::Transport, message, remedy))
    };
    let unusable = |error: std::io::Error| {
        Failure::invalid(format!("the secret cannot be read: {error}"), "give the command in a terminal")
    };
    let secret = ask_terminal("New secret: ", true).await.map_err(unusable)?;
    if std::io::stdin().is_terminal() && ask_terminal("Again: ", true).await.map_err(unusable)? != secret {
        return Err(Failure::invalid("these are two different secrets", "try again"));
    }
    let program = launch::find_program().map_err(|error| broken(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("--hash-secret").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| broken(format!("glassd cannot be run: {error}")))?;
    let hashed = async {
        if let Some(mut input) = child.stdin.take() {
            input.write_all(secret.as_bytes()).await?;
        }
        child.wait_with_output().await
    };
    let output = match timeout(LIMIT, hashed).await {
        Ok(output) => output.map_err(|error| broken(format!("glassd cannot be asked: {error}")))?,
        Err(_) => return Err(broken(format!("glassd did not answer within {} s", LIMIT.as_secs()))),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = visible(said.trim().trim_start_matches("glassd: "), false).into_owned();
        return Err(Failure::invalid(said, "choose another secret"));
    }
    let hash = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let text = format!("[confirm]\nsecret = \"{hash}\"");
    Report::of(&json!({ "hash": hash }), text)
}

fn mistake(settings: &Settings) -> OpError {
    OpError::rejected(
        ErrorKind::InvalidConfiguration,
        Phase::Preflight,
        settings.mistake.clone().unwrap_or_default(),
        "correct the place that is named; glassd does not start with this file",
    )
}

fn show(settings: &Settings) -> String {
    let mut table = Table::new(&["setting", "value", "from"]);
    for setting in &settings.settings {
        table.row([setting.key.as_str(), &setting.value.to_string(), setting.from.text()]);
    }
    let absent = if settings.exists { "" } else { " (absent)" };
    format!("{}{absent}\n{}", visible(&settings.path, false), table.text())
}

/// The file of `config check`, which must be there: a name that is misspelt is no good configuration.
pub(super) fn named(file: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match file {
        Some(file) if !file.exists() => {
            Err(Failure::invalid("there is no such file", "name a file, or none"))
        }
        file => Ok(file),
    }
}
