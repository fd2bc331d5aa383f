//! `glassctl confirm` and `glassctl deny` (contract 10.4).
//!
//! What may be decided, and by whom, is glassd's matter: it looks at this process and its terminal itself. Here a person is
//! shown what it is about, and asked.

use std::fmt::Write as _;

use glass_proto::confirmation::{Decided, Pending, Protection, Shown};
use glass_proto::escape::visible;
use glass_proto::{ConfirmationId, ErrorKind, OpError, Phase};

use crate::client::{Client, Server};
use crate::error::Failure;
use crate::output::{Report, Table, diagnostic};
use crate::terminal::ask;

/// What is asked.
#[derive(Debug)]
pub(super) enum Prepared {
    List,
    Confirm(ConfirmationId),
    Deny(ConfirmationId),
}

pub(super) async fn run(prepared: Prepared, server: &Server) -> Result<Report, Failure> {
    let Some(mut client) = server.connect_running().await? else {
        return match prepared {
            Prepared::List => list(&[]),
            Prepared::Confirm(_) | Prepared::Deny(_) => Err(OpError::rejected(
                ErrorKind::DaemonUnreachable,
                Phase::Transport,
                "no glassd runs, so nothing waits for anybody",
                "make the call again; it asks again",
            )
            .into()),
        };
    };
    match prepared {
        Prepared::List => list(&client.confirmations().await?),
        Prepared::Confirm(id) => confirm(&mut client, id).await,
        Prepared::Deny(id) => decided(&client.decide(&id, false, "").await?),
    }
}

async fn confirm(client: &mut Client, id: ConfirmationId) -> Result<Report, Failure> {
    let shown = client.confirmation(&id).await?;
    if shown.protection == Protection::Approver {
        return decided(&client.decide(&id, true, "").await?);
    }
    // On standard error: with --json, standard output is for the answer.
    diagnostic(&told(&shown)).map_err(no_terminal)?;
    let answer = ask("Let this call be made, once? [y/N] ", false).await.map_err(no_terminal)?;
    if !["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        return decided(&client.decide(&id, false, "").await?);
    }
    if shown.protection == Protection::Terminal {
        return decided(&client.decide(&id, true, "").await?);
    }
    loop {
        let secret = ask("Secret: ", true).await.map_err(no_terminal)?;
        // An empty one is none, and would not be counted.
        if secret.is_empty() {
            return Err(crate::error::cancelled().into());
        }
        match client.decide(&id, true, &secret).await {
            Err(error) if error.reason.as_deref() == Some("wrong_secret") => {
                diagnostic(&visible(&error.message, false)).map_err(no_terminal)?;
            }
            other => return decided(&other?),
        }
    }
}

fn no_terminal(error: std::io::Error) -> Failure {
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Preflight,
        format!("the terminal cannot be used: {error}"),
        "give the command in another terminal window",
    )
    .into()
}

fn told(shown: &Shown) -> String {
    let Pending { summary, capabilities, rule_id, client, .. } = &shown.pending;
    let mut table = Table::plain();
    table.row(["call", summary.as_str()]);
    table.row(["program", client.executable.as_deref().unwrap_or("unknown")]);
    table.row(["asked by", &format!("{rule_id} ({})", capabilities.join(", "))]);
    let mut text = table.text();
    let _ = write!(text, "\narguments {}", visible(&shown.arguments, true));
    text
}

fn list(pending: &[Pending]) -> Result<Report, Failure> {
    let mut table = Table::new(&["id", "left", "state", "call", "program"]);
    for one in pending {
        let state = if one.granted { "granted" } else { "waits" };
        let left = format!("{} s", one.left_ms / 1000);
        let program = one.client.executable.as_deref().unwrap_or("unknown");
        table.row([one.confirmation_id.as_str(), &left, state, &one.summary, program]);
    }
    let text = if pending.is_empty() { "nothing waits for a person".to_owned() } else { table.text() };
    Report::of(&serde_json::json!({ "confirmations": pending }), text)
}

fn decided(decided: &Decided) -> Result<Report, Failure> {
    let id = &decided.confirmation_id;
    let mut text = match decided.granted {
        true => format!("{id} is granted: the same call may be made once, within a minute"),
        false => format!("{id} is denied"),
    };
    let _ = write!(text, " (protection: {})", decided.protection.name());
    if let Some(note) = &decided.note {
        let _ = write!(text, "\n{}", visible(note, false));
    }
    Report::of(decided, text)
}
