//! Whether a person has agreed to a call that asks for it (contract 10.4).
//!
//! A call grants nothing and waits for nobody: it is refused with the confirmation's id, and finds the grant when it is
//! made again. What makes two calls the same is decided here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use glass_policy::decide::{Policy, Ruling};
use glass_policy::egress::Source;
use glass_policy::{Capability, Stance};
use glass_proto::confirmation::Pending;
use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::{ConfirmationId, SessionName};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::admit::Checked;
use super::run::{Call, Gate, Prepared, client_key};
use crate::audit;
use crate::confirm::{About, Asker, Found, IN_ALL, Key, LIFE, No, Used};
use crate::session::quota;

/// Longest arguments that a person is shown whole, in bytes.
const MAX_SHOWN: usize = 16 * 1024;
/// What is shown of the beginning and of the end of longer ones.
const SHOWN_HEAD: usize = 12 * 1024;
const SHOWN_TAIL: usize = 3 * 1024;
/// Files that were put into sessions and are known by what is in them.
const MAX_STAGED: usize = 1024;

/// A capability that a person is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Who asks for it, and where.
    pub ruling: Ruling,
    /// How many operations of the call need it.
    operations: u32,
    /// How many the client's command line has agreed to beforehand.
    gave: u32,
}

/// Everything that a person is asked about, of what each part of a call needs.
pub(super) fn asks(policy: &Policy, parts: &[Vec<Capability>]) -> Vec<Ask> {
    let asked = |capability: &Capability| {
        let ruling = policy.capability(*capability);
        if ruling.says.stance != Stance::Confirm {
            return None;
        }
        let operations = parts.iter().filter(|part| part.contains(capability)).count();
        let operations = u32::try_from(operations).ok().filter(|operations| *operations > 0)?;
        Some(Ask { ruling, operations, gave: policy.tokens(*capability) })
    };
    Capability::ALL.iter().filter_map(asked).collect()
}

/// What staged files hold, by the ids that sessions gave them: a file that is put in again for the same call is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged(Arc<Mutex<VecDeque<(String, Value)>>>);

impl Staged {
    /// Notes what a file holds.
    pub(super) fn note(&self, session: &SessionName, id: &str, content: Value) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_STAGED {
            all.pop_front();
        }
        all.push_back((format!("{session}/{id}"), content));
    }

    fn find(&self, session: &SessionName, id: &str) -> Option<Value> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{session}/{id}");
        all.iter().rev().find(|(known, _)| *known == key).map(|(_, content)| content.clone())
    }

    /// Puts what files hold in the place of their ids, at any depth.
    fn resolve(&self, session: &SessionName, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    match value {
                        Value::Array(ids) if key == "fileIds" => {
                            for id in ids {
                                let content = id.as_str().and_then(|id| self.find(session, id));
                                *id = content.unwrap_or_else(|| id.take());
                            }
                        }
                        value => self.resolve(session, value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.resolve(session, item)),
            _ => {}
        }
    }
}

/// A call's arguments in the one form that they have however they were written.
fn canonical(checked: &Checked, session: &SessionName, staged: &Staged) -> serde_json::Result<Value> {
    let mut params: Value = serde_json::from_slice(&checked.operation.encode()?)?;
    let options: Value = serde_json::from_slice(&checked.options.encode()?)?;
    if let (Value::Object(params), Value::Object(options)) = (&mut params, options) {
        params.extend(options);
    }
    staged.resolve(session, &mut params);
    Ok(params)
}

/// A text that a person can look through, however long it is.
fn shown(text: String) -> String {
    if text.len() <= MAX_SHOWN {
        return text;
    }
    let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (head, tail) = (boundary(SHOWN_HEAD), boundary(text.len() - SHOWN_TAIL));
    format!("{}\n[{} bytes are left out here]\n{}", &text[..head], tail - head, &text[tail..])
}

impl Gate {
    /// Lets a call on that needs nobody's word, or has it.
    ///
    /// # Errors
    /// `confirmation_required`, or `denied` where somebody said no.
    pub(super) async fn agreed(&self, call: &Call, mut prepared: Prepared) -> Result<Prepared, Box<OpError>> {
        let Some(first) = prepared.asks.first().copied() else { return Ok(prepared) };
        let tokens: Vec<_> =
            prepared.asks.iter().map(|ask| (ask.ruling.capability, ask.operations, ask.gave)).collect();
        // A command of a shell makes one call, and has its command line for it.
        let stays = (!call.caller.viewer().is_empty()).then_some(&call.caller.id);
        if let Some(used) = self.confirmations.use_tokens(stays, &tokens) {
            prepared.used = Some(used);
            return Ok(prepared);
        }
        let operation = prepared.checked.operation.name();
        let unreadable = |_| OpError::invalid("the parameters cannot be passed on", "report this as a bug");
        let arguments = canonical(&prepared.checked, &prepared.name, &self.staged).map_err(unreadable)?;
        let wanted = prepared.checked.session.encode().map_err(unreadable)?;
        // A one-off session has another name each time.
        let session = if prepared.one_off { "new".to_owned() } else { prepared.name.to_string() };
        let mut hash = Sha256::new();
        hash.update(arguments.to_string().as_bytes());
        hash.update([0]);
        hash.update(&wanted);
        let key = Key {
            client: client_key(&call.caller, &call.session),
            session,
            call: (operation, hash.finalize().into()),
        };
        let id = ConfirmationId::generate();
        let pending = self.pending(call, &prepared, &key, &id);
        let summary = pending.summary.clone();
        let about = || About {
            shown: pending,
            arguments: shown(arguments.to_string()),
            asker: Asker::of(&call.peer),
        };
        let rule = first.ruling.rule();
        let overridable = prepared.asks.iter().all(|ask| ask.ruling.says.source == Source::Client);
        let refused = |kind, message: String, remedy: String| {
            OpError::rejected(kind, Phase::Policy, message, remedy)
                .detail("operation", operation)
                .detail("ruleId", rule.as_str())
                .detail("overridePossible", overridable)
        };
        match self.confirmations.ask(key, id, about).await {
            Found::Granted(grant) => {
                prepared.used = Some(Used::Grant(grant.into()));
                Ok(prepared)
            }
            Found::Waiting { id, left, .. } => {
                let capability = first.ruling.capability;
                let message = format!("a person has to agree to {operation} first ({capability}: {rule})");
                let remedy = self.confirmations.remedy(&id, left);
                let error = refused(ErrorKind::ConfirmationRequired, message, remedy)
                    .detail("confirmationId", id.as_str())
                    .detail("summary", summary)
                    .detail("expires", expires(left))
                    .detail("expiresInMs", u64::try_from(left.as_millis()).unwrap_or(0));
                Err(error.into())
            }
            Found::Denied { id, why } => {
                let (why, reason) = match why {
                    No::Said => ("a person, or the approver, said no to this call", "confirmation_denied"),
                    No::Locked => ("too many secrets were wrong for this call", "confirmation_locked"),
                };
                let remedy = "do something else; the same call may ask again in a minute".to_owned();
                let error = refused(ErrorKind::Denied, why.to_owned(), remedy);
                Err(error.reason(reason).detail("confirmationId", id.as_str()).into())
            }
            Found::Full { limit } => {
                let whose = if limit == IN_ALL { "in all" } else { "of this client" };
                let message = format!("{limit} calls {whose} wait for a person already");
                Err(quota("confirmations", limit, limit, message))
            }
        }
    }

    fn pending(&self, call: &Call, prepared: &Prepared, key: &Key, id: &ConfirmationId) -> Pending {
        let operation = prepared.checked.operation.name();
        let host = audit::host(&prepared.checked.operation);
        let to = host.as_ref().map_or(String::new(), |host| format!(" to {host}"));
        let client = call.peer.told(&call.caller.kind);
        let words = prepared.checked.session.words();
        let with = if words.is_empty() { String::new() } else { format!(" with {}", words.join(", ")) };
        let summary = format!(
            "{operation}{to}{with} in session {} for {} (process {})",
            key.session, client.name, client.pid
        );
        Pending {
            confirmation_id: id.to_string(),
            operation: operation.to_owned(),
            summary: cut(&summary, 300).into_owned(),
            capabilities: prepared.asks.iter().map(|ask| ask.ruling.capability.to_string()).collect(),
            rule_id: prepared.asks.first().map(|ask| ask.ruling.rule()).unwrap_or_default(),
            session: key.session.clone(),
            host,
            client,
            granted: false,
            left_ms: u64::try_from(LIFE.as_millis()).unwrap_or(0),
        }
    }
}

fn expires(left: Duration) -> String {
    humantime::format_rfc3339_seconds(SystemTime::now() + left).to_string()
}

/// What a staged file holds.
pub(super) fn content(name: &str, size: u64, sha256: &str) -> Value {
    json!({ "name": name, "size": size, "sha256": sha256 })
}

#[cfg(test)]
mod tests {
    use glass_policy::layer::{Given, Layer};

    use super::*;
    use crate::gate::admit::check;
    use crate::gate::permit;

    fn call(operation: &str, params: &str, options: &str) -> Checked {
        check(operation, params.as_bytes(), options.as_bytes(), b"").unwrap()
    }

    fn form(checked: &Checked, staged: &Staged) -> String {
        canonical(checked, &SessionName::shared_default(), staged).unwrap().to_string()
    }

    // contract: 10.4
    #[test]
    fn calls_are_the_same_however_they_are_written_and_differ_in_anything_that_counts() {
        let none = Staged::default();
        let one = form(&call("evaluate", r#"{"expression":"1"}"#, r#"{"timeoutMs":500}"#), &none);
        let same = form(&call("evaluate", " { \"expression\" : \"1\" } ", r#"{"timeoutMs":500}"#), &none);
        assert_eq!(one, same);
        for (params, options) in [
            (r#"{"expression":"2"}"#, r#"{"timeoutMs":500}"#),
            (r#"{"expression":"1"}"#, r#"{"timeoutMs":501}"#),
            (r#"{"expression":"1"}"#, r#"{"timeoutMs":500,"targetId":"T"}"#),
        ] {
            assert_ne!(one, form(&call("evaluate", params, options), &none), "{params} {options}");
        }
        let there = |url: &str| form(&call("navigate", &format!(r#"{{"url":"{url}"}}"#), ""), &none);
        assert_eq!(there("EXAMPLE.com"), there("https://example.com/"));
    }

    #[test]
    fn a_file_is_known_by_what_it_holds() {
        let staged = Staged::default();
        let session = SessionName::shared_default();
        staged.note(&session, "f1", content("a.txt", 3, "aa"));
        staged.note(&session, "f2", content("a.txt", 3, "aa"));
        staged.note(&session, "f3", content("a.txt", 3, "bb"));
        let upload = |id: &str| {
            form(&call("upload", &format!(r#"{{"target":"label=Photo","fileIds":["{id}"]}}"#), ""), &staged)
        };
        assert_eq!(upload("f1"), upload("f2"));
        assert_ne!(upload("f1"), upload("f3"));
        assert_ne!(upload("f4"), upload("f5"));
        for number in 0..MAX_STAGED {
            staged.note(&session, &format!("n{number}"), Value::Null);
        }
        assert_ne!(upload("f1"), upload("f2"), "what is forgotten is another file");
    }

    #[test]
    fn each_operation_of_a_batch_counts() {
        let daemon = Given::default().compile(Source::Daemon).unwrap();
        let client = Given { confirm_once: vec![Capability::Evaluate], ..Given::default() };
        let policy =
            Policy::new(Arc::new(daemon), Arc::<Layer>::new(client.compile(Source::Client).unwrap()));
        let steps = r#"[{"operation":"evaluate","expression":"1"},{"operation":"back"},{"operation":"evaluate","expression":"2"}]"#;
        let mut batch = call("batch", &format!(r#"{{"steps":{steps}}}"#), "");
        let parts = permit::operation(&policy, &mut batch.operation, &batch.options).unwrap();
        let asks = asks(&policy, &parts);
        assert_eq!(asks.len(), 1);
        assert_eq!(
            (asks[0].ruling.capability, asks[0].operations, asks[0].gave),
            (Capability::Evaluate, 2, 1)
        );
        assert!(super::asks(&policy, &[vec![Capability::Read]]).is_empty());
    }

    #[test]
    fn long_arguments_are_shown_from_both_ends() {
        let text = shown(format!("{}{}", "a".repeat(40_000), "é".repeat(100)));
        assert!(text.len() < MAX_SHOWN && text.starts_with('a') && text.ends_with('é'));
        assert!(text.contains("bytes are left out here"));
    }
}
