//! One connection's rules: era, handshake, how many requests at once, and who is owed which answer (contract 9.2 to 9.4).
//!
//! Pure: bytes of whole frames in, what to serve and what to answer out. No clock, no I/O.

use std::collections::HashMap;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::frame::{Framing, Refusal};
use super::message::{self, Content, Malformed, Message, code};

/// The revisions with a handshake, newest first.
pub const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revision without one.
pub const STATELESS: &str = "2026-07-28";
/// The only revision with batches.
const BATCHES: &str = "2025-03-26";
/// The revision that the cancel reply was written for.
const SEED: &str = "2024-11-05";

/// The largest answer, in bytes (contract 9.3).
pub const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// Requests at once (contract 9.3).
pub const AT_ONCE: usize = 8;
/// Further ones for control tools.
const CONTROL_AT_ONCE: usize = 1;

/// Tools that answer while everything else is busy.
const CONTROL: [&str; 7] = [
    "health",
    "executionStatus",
    "cancelExecution",
    "acceptDialog",
    "dismissDialog",
    "closeTarget",
    "recover",
];

/// The methods whose parameters are checked: what does not fit one of these is -32602, not an unknown method.
const METHODS: [&str; 9] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// Whether a cancelled request is answered (contract 9.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CancelReply {
    /// On connections of revision 2024-11-05.
    #[default]
    Auto,
    /// On every connection with a handshake.
    Always,
    /// Never.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No request was served yet.
    New,
    /// `initialize` was answered and not confirmed.
    Initializing,
    /// The handshake is done.
    Ready,
    /// Every request brings its own revision.
    Stateless,
}

/// One answer on its way out.
#[derive(Debug, PartialEq, Eq)]
pub struct Out {
    /// How it is written.
    pub framing: Framing,
    /// The JSON text.
    pub text: Vec<u8>,
}

/// What a frame came to.
#[derive(Debug, Default)]
pub struct Received {
    /// Requests to serve.
    pub serve: Vec<ClientJsonRpcMessage>,
    /// What is answered at once.
    pub answers: Vec<Out>,
}

#[derive(Debug)]
struct Open {
    framing: Framing,
    batch: Option<u64>,
    control: bool,
    stateless: bool,
    cancelled: bool,
    token: CancellationToken,
}

#[derive(Debug)]
struct Batch {
    framing: Framing,
    left: usize,
    answers: Vec<Vec<u8>>,
    size: usize,
}

/// The rules with their memory.
#[derive(Debug)]
pub struct Connection {
    reply: CancelReply,
    phase: Phase,
    version: String,
    open: HashMap<RequestId, Open>,
    batches: HashMap<u64, Batch>,
    next_batch: u64,
}

/// Why a request is not served.
struct No {
    code: i32,
    message: String,
    data: Option<Value>,
}

fn no<T>(code: i32, message: impl Into<String>) -> Result<T, No> {
    Err(No { code, message: message.into(), data: None })
}

impl Connection {
    /// A connection on which nothing was said.
    pub fn new(reply: CancelReply) -> Self {
        Self {
            reply,
            phase: Phase::New,
            version: String::new(),
            open: HashMap::new(),
            batches: HashMap::new(),
            next_batch: 0,
        }
    }

    /// How many requests are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Whether this request is still owed its answer and may be told of.
    pub fn wants_news(&self, id: &RequestId) -> Option<Framing> {
        self.open.get(id).filter(|open| !open.cancelled).map(|open| open.framing)
    }

    /// What tells that this request was cancelled.
    pub fn token(&self, id: &RequestId) -> CancellationToken {
        self.open.get(id).map(|open| open.token.clone()).unwrap_or_default()
    }

    /// Cancels everything that is open: nobody waits for it any more.
    pub fn cancel_all(&mut self) {
        for open in self.open.values_mut() {
            open.cancelled = true;
            open.token.cancel();
        }
    }

    /// The answer to a frame that is no message.
    pub fn refused(framing: Framing, why: Refusal) -> Out {
        let code = if why == Refusal::Cut { code::PARSE } else { code::INVALID_REQUEST };
        Out { framing, text: message::error(None, code, &why.to_string(), None) }
    }

    /// Takes a frame.
    pub fn receive(&mut self, framing: Framing, frame: &[u8]) -> Received {
        let mut received = Received::default();
        match message::read(frame) {
            Ok(Content::One(value)) => {
                if let Some(text) = self.message(framing, value, None, &mut received.serve) {
                    received.answers.push(Out { framing, text });
                }
            }
            Ok(Content::Batch(values)) => self.batch(framing, values, &mut received),
            Err(malformed) => received.answers.push(Out { framing, text: refusal(&malformed) }),
        }
        received
    }

    fn batch(&mut self, framing: Framing, values: Vec<Value>, received: &mut Received) {
        let refuse =
            |message| Out { framing, text: message::error(None, code::INVALID_REQUEST, message, None) };
        if self.version != BATCHES || self.phase != Phase::Ready {
            received.answers.push(refuse("batches are taken in protocol 2025-03-26 alone"));
            return;
        }
        if values.is_empty() {
            received.answers.push(refuse("the batch is empty"));
            return;
        }
        let number = self.next_batch;
        self.next_batch += 1;
        self.batches.insert(number, Batch { framing, left: 0, answers: Vec::new(), size: 0 });
        let mut answers = Vec::new();
        for value in values {
            answers.extend(self.message(framing, value, Some(number), &mut received.serve));
        }
        if let Some(batch) = self.batches.get_mut(&number) {
            batch.left = self.open.values().filter(|open| open.batch == Some(number)).count();
            for answer in answers {
                batch.add(answer);
            }
        }
        received.answers.extend(self.whole(number));
    }

    /// The batch, once nothing of it is open.
    fn whole(&mut self, number: u64) -> Option<Out> {
        if self.batches.get(&number)?.left > 0 {
            return None;
        }
        let batch = self.batches.remove(&number)?;
        if batch.answers.is_empty() {
            return None;
        }
        let mut text = b"[".to_vec();
        text.extend(batch.answers.join(&b','));
        text.push(b']');
        Some(Out { framing: batch.framing, text })
    }

    /// Takes one message; gives what is answered at once.
    fn message(
        &mut self,
        framing: Framing,
        value: Value,
        batch: Option<u64>,
        serve: &mut Vec<ClientJsonRpcMessage>,
    ) -> Option<Vec<u8>> {
        match message::classify(value) {
            Err(malformed) => Some(refusal(&malformed)),
            Ok(Message::Answer) => None,
            Ok(Message::Notification { method, params }) => {
                self.notified(&method, &params);
                None
            }
            Ok(Message::Request { id, method, .. }) if method == "ping" => {
                Some(message::answer(&id, &json!({})))
            }
            Ok(Message::Request { id, method, whole }) => {
                match self.admit(&id, &method, whole, framing, batch) {
                    Ok(request) => {
                        serve.push(request);
                        None
                    }
                    Err(no) => Some(message::error(Some(&id), no.code, &no.message, no.data)),
                }
            }
        }
    }

    fn notified(&mut self, method: &str, params: &Value) {
        match method {
            "notifications/initialized" if self.phase == Phase::Initializing => self.phase = Phase::Ready,
            "notifications/cancelled" => {
                let id = params.get("requestId").and_then(message::id);
                if let Some(open) = id.and_then(|id| self.open.get_mut(&id)) {
                    open.cancelled = true;
                    open.token.cancel();
                }
            }
            _ => {}
        }
    }

    fn admit(
        &mut self,
        id: &RequestId,
        method: &str,
        mut whole: Map<String, Value>,
        framing: Framing,
        batch: Option<u64>,
    ) -> Result<ClientJsonRpcMessage, No> {
        if self.open.contains_key(id) {
            return no(code::INVALID_REQUEST, "a request with this id is open");
        }
        let stateless = own_revision(&whole)?;
        let next = self.next_phase(method, stateless, batch.is_some())?;
        let version = match method {
            "initialize" => Some(prepare_initialize(&mut whole)?),
            _ => None,
        };
        let tool = whole.get("params").and_then(|params| params.get("name")).and_then(Value::as_str);
        let control = method == "tools/call" && tool.is_some_and(|tool| CONTROL.contains(&tool));
        let control = self.room(control, stateless)?;
        let request = typed(method, whole)?;
        self.phase = next;
        if let Some(version) = version {
            self.version = version;
        }
        let open =
            Open { framing, batch, control, stateless, cancelled: false, token: CancellationToken::new() };
        self.open.insert(id.clone(), open);
        Ok(request)
    }

    /// Whether the request may be made now, and where the connection is after it.
    fn next_phase(&self, method: &str, stateless: bool, in_batch: bool) -> Result<Phase, No> {
        match (method, self.phase) {
            ("server/discover", phase) => Ok(phase),
            ("initialize", Phase::New) if !stateless && !in_batch => Ok(Phase::Initializing),
            ("initialize", Phase::New) => {
                no(code::INVALID_REQUEST, "initialize is made without `_meta` revision and alone")
            }
            ("initialize", _) => no(code::INVALID_REQUEST, "this connection is initialized already"),
            (_, Phase::New | Phase::Stateless) if stateless => Ok(Phase::Stateless),
            (_, Phase::Stateless) => no(
                code::INVALID_REQUEST,
                "this connection began without a handshake: each request needs its revision in `_meta`",
            ),
            (_, _) if stateless => no(
                code::INVALID_REQUEST,
                "this connection began with a handshake: no revision of its own in `_meta`",
            ),
            (_, Phase::Ready) => Ok(Phase::Ready),
            (_, Phase::New | Phase::Initializing) => {
                no(code::NOT_INITIALIZED, "not initialized: first initialize, then notifications/initialized")
            }
        }
    }

    /// Whether there is room; gives whether the request takes the control tools' own place.
    fn room(&self, control: bool, stateless: bool) -> Result<bool, No> {
        let taken = |control| self.open.values().filter(|open| open.control == control).count();
        if taken(false) < AT_ONCE {
            return Ok(false);
        }
        if control && taken(true) < CONTROL_AT_ONCE {
            return Ok(true);
        }
        let code = if stateless { code::INTERNAL } else { code::OVERLOADED };
        let message = format!("{AT_ONCE} requests are open, which is as many as may be; nothing was done");
        Err(No { code, message, data: Some(json!({ "kind": "overloaded", "retry": "safe" })) })
    }

    /// Takes the answer to a request. What is written for it, if anything is.
    pub fn answered(&mut self, id: &RequestId, text: Vec<u8>, is_cancel: bool) -> Option<Out> {
        let open = self.open.remove(id)?;
        let text = match open.cancelled {
            false => Some(text),
            true if !self.answers_cancelled(&open) => None,
            true if is_cancel => Some(text),
            // It ended well before it could be cancelled.
            true => Some(cancelled(id, None, "yes")),
        };
        let Some(number) = open.batch else {
            return text.map(|text| Out { framing: open.framing, text });
        };
        let batch = self.batches.get_mut(&number)?;
        batch.left -= 1;
        if let Some(text) = text {
            let size = batch.size + text.len();
            batch.add(if size > MAX_ANSWER { too_large(id) } else { text });
        }
        self.whole(number)
    }

    fn answers_cancelled(&self, open: &Open) -> bool {
        match self.reply {
            _ if open.stateless => false,
            CancelReply::Auto => self.version == SEED,
            CancelReply::Always => true,
            CancelReply::Never => false,
        }
    }
}

impl Batch {
    fn add(&mut self, answer: Vec<u8>) {
        self.size += answer.len();
        self.answers.push(answer);
    }
}

/// The answer to a cancelled request.
pub fn cancelled(id: &RequestId, execution: Option<&str>, dispatched: &str) -> Vec<u8> {
    let mut data = json!({ "dispatched": dispatched });
    if let Some(execution) = execution {
        data["executionId"] = execution.into();
    }
    message::error(Some(id), code::CANCELLED, "the request was cancelled", Some(data))
}

/// The answer in place of one that is larger than its bound.
pub fn too_large(id: &RequestId) -> Vec<u8> {
    let data = json!({ "kind": "result_too_large", "limit": MAX_ANSWER });
    message::error(Some(id), code::TOO_LARGE, "the result is larger than 32 MiB", Some(data))
}

fn refusal(malformed: &Malformed) -> Vec<u8> {
    message::error(malformed.id.as_ref(), malformed.code, malformed.message, None)
}

/// Whether the request brings its own revision.
fn own_revision(whole: &Map<String, Value>) -> Result<bool, No> {
    let meta = whole.get("params").and_then(|params| params.get("_meta"));
    match meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion")) {
        None => Ok(false),
        Some(Value::String(version)) if version == STATELESS => Ok(true),
        Some(version) => Err(unsupported(code::UNSUPPORTED_VERSION, Some(version))),
    }
}

fn unsupported(code: i32, requested: Option<&Value>) -> No {
    let supported: Vec<&str> = match code {
        code::UNSUPPORTED_VERSION => std::iter::once(STATELESS).chain(HANDSHAKE).collect(),
        _ => HANDSHAKE.to_vec(),
    };
    // What is repeated is a short string or nothing.
    let requested = requested.and_then(Value::as_str).filter(|text| text.len() <= 64);
    let data = json!({ "supported": supported, "requested": requested });
    No { code, message: "this protocol revision is not spoken".to_owned(), data: Some(data) }
}

/// Checks an `initialize`, and adds what some clients leave out.
fn prepare_initialize(whole: &mut Map<String, Value>) -> Result<String, No> {
    let version = whole.get("params").and_then(|params| params.get("protocolVersion")).cloned();
    let known = version.as_ref().and_then(Value::as_str).filter(|text| HANDSHAKE.contains(text));
    let Some(known) = known.map(str::to_owned) else {
        return Err(unsupported(code::INVALID_PARAMS, version.as_ref()));
    };
    if let Some(params) = whole.get_mut("params").and_then(Value::as_object_mut) {
        params.entry("capabilities").or_insert_with(|| json!({}));
        params.entry("clientInfo").or_insert_with(|| json!({ "name": "unknown", "version": "0" }));
    }
    Ok(known)
}

fn typed(method: &str, whole: Map<String, Value>) -> Result<ClientJsonRpcMessage, No> {
    let unfit = || No {
        code: code::INVALID_PARAMS,
        message: "the parameters do not fit the method".to_owned(),
        data: None,
    };
    let request: ClientJsonRpcMessage = serde_json::from_value(Value::Object(whole)).map_err(|_| unfit())?;
    match &request {
        JsonRpcMessage::Request(typed)
            if matches!(typed.request, ClientRequest::CustomRequest(_)) && METHODS.contains(&method) =>
        {
            Err(unfit())
        }
        JsonRpcMessage::Request(_) => Ok(request),
        _ => Err(unfit()),
    }
}

#[cfg(test)]
mod tests;
