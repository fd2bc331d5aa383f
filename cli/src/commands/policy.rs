//! `glassctl policy show|check|explain` (contract 10.1, 12.5). Asks the daemon that runs, else glassd's program: nothing is
//! started for a question. The options of the command line count, so that what a client may do can be tried out.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use glass_proto::authority::{Answer, LayerTold, Question, Told};
use glass_proto::escape::visible;
use glass_proto::policy::layer::Given;
use glass_proto::{ErrorKind, OpError, Phase};
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::args::PolicyCommand;
use crate::client::Server;
use crate::error::Failure;
use crate::launch;
use crate::output::{Report, Table};

/// How long glassd's program may take to read a file.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) async fn run(command: PolicyCommand, given: &Given, server: &Server) -> Result<Report, Failure> {
    let items = match &command {
        PolicyCommand::Show => Vec::new(),
        PolicyCommand::Check { items } | PolicyCommand::Explain { items } => items.clone(),
    };
    let told = ask(server, given, &items).await?;
    if !told.mistakes.is_empty() {
        return Err(mistakes(&told).into());
    }
    match command {
        PolicyCommand::Show => Report::of(&told, show(&told)),
        PolicyCommand::Check { .. } => check(&told),
        PolicyCommand::Explain { .. } => Report::of(&told.answers, explain(&told.answers)),
    }
}

/// What holds for a client of these options.
///
/// # Errors
/// An item that is none, and what keeps glassd from answering.
pub(super) async fn ask(server: &Server, given: &Given, items: &[String]) -> Result<Told, OpError> {
    match server.connect_running().await? {
        Some(mut client) => client.policy(items.to_vec()).await,
        None => of_program(given, items).await,
    }
}

/// The same of the program, which reads the file and tells, and starts nothing.
async fn of_program(given: &Given, items: &[String]) -> Result<Told, OpError> {
    let broken = |message: String| {
        let remedy = "use the programs of one installation; `glassctl doctor` looks at them";
        OpError::rejected(ErrorKind::DaemonUnreachable, Phase::Transport, message, remedy)
    };
    let program = launch::find_program().map_err(|error| broken(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("--tell-policy").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| broken(format!("glassd cannot be run: {error}")))?;
    let question = Question { flags: given.clone(), items: items.to_vec() };
    let text =
        serde_json::to_vec(&question).map_err(|_| broken("the question cannot be written".to_owned()))?;
    let answered = async {
        if let Some(mut input) = child.stdin.take() {
            input.write_all(&text).await?;
        }
        child.wait_with_output().await
    };
    let output = match timeout(LIMIT, answered).await {
        Ok(output) => output.map_err(|error| broken(format!("glassd cannot be asked: {error}")))?,
        Err(_) => return Err(broken(format!("glassd did not answer within {} s", LIMIT.as_secs()))),
    };
    if let Ok(error) = serde_json::from_slice::<OpError>(&output.stdout) {
        return Err(error);
    }
    serde_json::from_slice(&output.stdout).map_err(|_| broken("glassd did not tell its policy".to_owned()))
}

fn mistakes(told: &Told) -> OpError {
    let more = told.mistakes.len().saturating_sub(1);
    let first = told.mistakes.first().map(String::as_str).unwrap_or_default();
    let message =
        if more == 0 { first.to_owned() } else { format!("{first}; and {more} more, listed in details") };
    OpError::rejected(
        ErrorKind::InvalidConfiguration,
        Phase::Policy,
        visible(&message, false),
        "correct the places that are named; until then glassd does not start with this file, and one that runs goes by what it read before",
    )
    .reason("policy_file")
    .detail("mistakes", told.mistakes.clone())
}

fn check(told: &Told) -> Result<Report, Failure> {
    if told.answers.is_empty() {
        let what = if told.exists { "can be used" } else { "is absent; the preset development holds" };
        let text = format!("{} {what}", visible(&told.path, false));
        #[derive(Serialize)]
        struct Checked<'a> {
            path: &'a str,
            exists: bool,
        }
        return Report::of(&Checked { path: &told.path, exists: told.exists }, text);
    }
    let mut table = Table::new(&["item", "says", "rule"]);
    for answer in &told.answers {
        table.row([answer.item.as_str(), &answer.says, &answer.rule_id]);
    }
    let denied: Vec<_> = told.answers.iter().filter(|answer| answer.says == "deny").collect();
    let Some(first) = denied.first() else { return Report::of(&told.answers, table.text()) };
    let reason = first.reason.as_deref().unwrap_or_default();
    let message = match denied.len() {
        1 => format!("{} is denied by {}: {reason}", first.item, first.rule_id),
        count => {
            let rows: Vec<_> =
                denied.iter().map(|answer| format!("{} by {}", answer.item, answer.rule_id)).collect();
            format!("{count} of {} are denied: {}", told.answers.len(), rows.join(", "))
        }
    };
    let remedy = first.remedy.as_deref().unwrap_or_default();
    let answers = serde_json::to_value(&told.answers).unwrap_or_default();
    Err(OpError::rejected(ErrorKind::Denied, Phase::Policy, message, remedy)
        .reason("policy_check")
        .detail("ruleId", first.rule_id.as_str())
        .detail("answers", answers)
        .into())
}

fn explain(answers: &[Answer]) -> String {
    let mut text = String::new();
    for answer in answers {
        let _ = writeln!(text, "{}: {} by {}", answer.item, answer.says, answer.rule_id);
        for line in &answer.considered {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(reason) = &answer.reason {
            let _ = writeln!(text, "  so: {reason}");
        }
        if let Some(remedy) = &answer.remedy {
            let _ = writeln!(text, "  to change it: {remedy}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn show(told: &Told) -> String {
    let absent = if told.exists { "" } else { " (absent)" };
    let mut text = format!("{}{absent}\n", visible(&told.path, false));
    for layer in &told.layers {
        let _ = writeln!(text, "{}", side(layer));
    }
    let mut table = Table::new(&["capability", "says", "rule"]);
    for answer in &told.capabilities {
        table.row([answer.item.as_str(), &answer.says, &answer.rule_id]);
    }
    text + &table.text()
}

fn side(layer: &LayerTold) -> String {
    let preset = layer.preset.as_deref().map_or(String::new(), |preset| format!(" preset {preset},"));
    let mut text = format!("{}:{preset} ", layer.source);
    text.push_str(if layer.any_host { "any host" } else { "listed hosts alone" });
    let lists = [
        ("allowed", &layer.allow_hosts),
        ("allowed for parts of pages", &layer.allow_subresource_hosts),
        ("denied", &layer.deny_hosts),
    ];
    for (name, rules) in lists.into_iter().filter(|(_, rules)| !rules.is_empty()) {
        let _ = write!(text, "; {name}: {}", rules.join(", "));
    }
    if layer.public_addresses_only {
        text.push_str("; public addresses alone, but for those that a rule names");
    }
    if layer.requires_egress {
        text.push_str("; only where the kernel enforces it");
    }
    text
}
