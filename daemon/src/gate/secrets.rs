//! What operations have to do with the session's vault (contract 10.8): some are about nothing else, one fills it, and
//! some take a value along that their answer must not hold.

use std::collections::BTreeSet;

use glass_policy::Capability;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::AnyOperation;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::redact;
use glass_proto::result::SecretsCaptured;
use glass_proto::wire::{Caller, client, worker};
use glass_proto::{SecretName, SessionName};
use serde::Serialize;

use super::permit;
use super::relay::Answer;
use super::run::Gate;
use crate::confirm::on_terminal;
use crate::peer::Peer;
use crate::vault::{self, Value, Vault};

/// What the daemon answers by itself, without the worker.
pub(super) fn answer(operation: &AnyOperation, vault: &Vault) -> Option<Result<Answer, Box<OpError>>> {
    match operation {
        AnyOperation::ListSecrets(_) => Some(written(&vault.list())),
        AnyOperation::DeleteSecrets(delete) => Some(written(&vault.delete(&delete.names))),
        _ => None,
    }
}

fn written(result: &impl Serialize) -> Result<Answer, Box<OpError>> {
    let unwritable = |_| OpError::invalid("the answer cannot be written", "report this as a bug").into();
    serde_json::to_vec(result).map(Answer::Result).map_err(unwritable)
}

/// What the worker is given along: the values that the operation names.
///
/// # Errors
/// There is no such secret; or a capture that the vault has no room for.
pub(super) fn along(operation: &AnyOperation, vault: &Vault) -> Result<Vec<worker::Secret>, Box<OpError>> {
    if matches!(operation, AnyOperation::CaptureSecrets(_)) {
        vault.ready().map_err(|error| error.to_op_error())?;
    }
    let values = vault.values(&operation.secrets()).map_err(|name| absent(&name))?;
    let secret = |(name, mut value): (SecretName, Value)| worker::Secret {
        name: name.into(),
        value: std::mem::take(&mut *value),
    };
    Ok(values.into_iter().map(secret).collect())
}

fn absent(name: &SecretName) -> OpError {
    OpError::invalid(
        format!("the session's vault holds no secret {name}, or its 10 minutes are over"),
        "list-secrets names what there is; capture-secrets takes it anew",
    )
    .reason("no_such_secret")
}

/// Keeps what a capture took, and answers what it answered; nothing of it is kept where that cannot be.
///
/// # Errors
/// Why nothing is kept.
pub(super) fn keep(
    vault: &Vault,
    taken: Vec<worker::Secret>,
    outcome: Outcome,
    answer: Answer,
) -> Result<Answer, Box<OpError>> {
    if outcome != Outcome::Completed {
        return Ok(answer);
    }
    let mut values = Vec::with_capacity(taken.len());
    for mut secret in taken {
        let name: SecretName = std::mem::take(&mut secret.name).parse().map_err(|_| lost())?;
        values.push((name, Value::new(std::mem::take(&mut secret.value))));
    }
    if let Answer::Result(json) = &answer {
        let told: SecretsCaptured = serde_json::from_slice(json).map_err(|_| lost())?;
        let told: BTreeSet<&SecretName> = told.names.iter().collect();
        if told != values.iter().map(|(name, _)| name).collect() {
            return Err(lost().into());
        }
    }
    vault.keep(values).map_err(|error| failed(error.to_op_error()))?;
    Ok(answer)
}

/// The code ran; its values did not come here. So it is when the call was given up in that moment.
fn lost() -> OpError {
    failed(OpError::rejected(
        ErrorKind::Transport,
        Phase::Transport,
        "the code ran, and what it set did not reach the vault; nothing is kept",
        "call it again, if the code may run twice",
    ))
}

fn failed(error: OpError) -> OpError {
    error.ended(Outcome::Failed, Dispatched::Yes)
}

impl Gate {
    /// The values of a session's secrets, all where none is named, for a person at the terminal of `peer`.
    ///
    /// # Errors
    /// Policy denies it, nobody sits at a terminal there, or there is no such secret.
    pub fn export(
        &self,
        caller: &Caller,
        peer: &Peer,
        session: &SessionName,
        names: &[SecretName],
    ) -> Result<Vec<client::Secret>, Box<OpError>> {
        let policy = self.authority.policy(&caller.policy)?;
        permit::capabilities(&policy, "secret export", &[Capability::CaptureSecrets])?;
        if let Err(why) = on_terminal(peer) {
            tracing::warn!(%session, pid = peer.pid, %why, "an export of secrets was refused");
            return Err(OpError::rejected(
                ErrorKind::Denied,
                Phase::Policy,
                "secrets are exported to a person alone, by a command in the foreground of a terminal that it reads from",
                "run `glassctl secret export` yourself, in a terminal window and with nothing piped into it",
            )
            .reason("no_terminal")
            .into());
        }
        let vault = self.registry.vault(session).ok_or_else(|| {
            let message = format!("there is no session {session}, so it holds no secrets");
            OpError::rejected(
                ErrorKind::TargetNotFound,
                Phase::Preflight,
                message,
                "`glassctl session list` names them",
            )
            .reason("no_such_session")
        })?;
        let values =
            if names.is_empty() { vault.all() } else { vault.values(names).map_err(|name| absent(&name))? };
        tracing::info!(%session, pid = peer.pid, count = values.len(), "secrets were exported");
        let secret = |(name, mut value): (SecretName, Value)| client::Secret {
            name: name.into(),
            value: std::mem::take(&mut *value),
        };
        Ok(values.into_iter().map(secret).collect())
    }
}

/// The answer without what the vault holds, wherever a page shows it.
pub(super) fn hide(vault: &Vault, answer: Answer) -> Answer {
    let secrets = vault.all();
    if secrets.is_empty() {
        return answer;
    }
    let secrets = vault::texts(&secrets);
    match answer {
        Answer::Result(json) => Answer::Result(redact::secrets(json, &secrets)),
        Answer::Error(json) => Answer::Error(redact::secrets(json, &secrets)),
    }
}
