//! `glassctl execution show|wait|cancel` (contract 12.5). Starts no daemon: where none runs, nothing is known.

use std::time::Duration;

use glass_proto::ExecutionId;
use glass_proto::wire::client as pb;
use serde::Serialize;

use crate::args::ExecutionCommand;
use crate::client::{Client, Server};
use crate::error::Failure;
use crate::execution::{self, Execution};
use crate::output::{Report, Table, duration};

/// How long one question waits for an end. Every operation has its deadline, so that waiting has an end too.
const TURN: Duration = Duration::from_secs(30);

pub(super) async fn run(command: ExecutionCommand, server: &Server) -> Result<Report, Failure> {
    let (ExecutionCommand::Show { id } | ExecutionCommand::Wait { id } | ExecutionCommand::Cancel { id }) =
        &command;
    let Some(mut client) = server.connect_running().await? else {
        return Err(execution::unknown(id).into());
    };
    match &command {
        ExecutionCommand::Show { id } => show(&find(&mut client, id, Duration::ZERO).await?),
        ExecutionCommand::Wait { id } => loop {
            let info = find(&mut client, id, TURN).await?;
            if info.state == "ended" {
                return match execution::error(&info) {
                    Some(error) => Err(error.into()),
                    None => show(&info),
                };
            }
        },
        ExecutionCommand::Cancel { id } => {
            if !client.cancel(id.to_string()).await? {
                return Err(execution::over(&find(&mut client, id, Duration::ZERO).await?).into());
            }
            #[derive(Serialize)]
            struct Cancelled<'a> {
                cancelled: &'a ExecutionId,
            }
            let text = format!("asked {id} to end; its own answer says how it ended");
            Report::of(&Cancelled { cancelled: id }, text)
        }
    }
}

async fn find(client: &mut Client, id: &ExecutionId, wait: Duration) -> Result<pb::ExecutionInfo, Failure> {
    let found = client.show_execution(id.to_string(), wait).await?;
    Ok(found.ok_or_else(|| execution::unknown(id))?)
}

fn show(info: &pb::ExecutionInfo) -> Result<Report, Failure> {
    let mut facts = Table::plain();
    facts.row(["execution", &info.execution_id]);
    if !info.session.is_empty() {
        facts.row(["session", &info.session]);
    }
    facts.row(["operation", &info.operation]);
    let state = match info.state.as_str() {
        "ended" => format!("ended {} ago", duration(info.ended_ago_ms)),
        state => state.to_owned(),
    };
    facts.row(["state", &state]);
    if !info.outcome.is_empty() {
        facts.row(["outcome", &info.outcome]);
    }
    facts.row(["dispatched", &info.dispatched]);
    facts.row(["took", &duration(info.took_ms)]);
    if let Some(error) = execution::error(info) {
        facts.row(["error", &format!("{}: {}", error.kind.name(), error.message)]);
    }
    #[derive(Serialize)]
    struct Shown<'a> {
        execution: Execution<'a>,
    }
    Report::of(&Shown { execution: Execution::of(info) }, facts.text())
}
