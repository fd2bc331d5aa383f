//! A client of `glass --mcp` that knows nothing but bytes and JSON: what a test sends is what is sent.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::eventually;
use crate::world::World;

/// No answer takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server with its client.
#[derive(Debug)]
pub struct Mcp {
    child: RefCell<Child>,
    input: RefCell<Option<ChildStdin>>,
    lines: Receiver<Value>,
    errors: Receiver<String>,
    next: Cell<i64>,
    /// What came while something else was waited for.
    aside: RefCell<Vec<Value>>,
}

/// A tool's result.
#[derive(Clone, Debug)]
pub struct Result {
    /// The whole result.
    pub json: Value,
}

impl Mcp {
    /// A server in this world, on which nothing was said yet.
    pub fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command("glass");
        command.arg("--mcp").args(arguments);
        Self::of(command)
    }

    /// A server started by this command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start glass");
        let output = child.stdout.take().expect("its output is a pipe");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().expect("its errors are a pipe");
        let (send, errors) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            // What is not UTF-8 ends the text; the test that looks at it says so.
            let _ = stderr.read_to_string(&mut text);
            let _ = send.send(text);
        });
        let input = RefCell::new(child.stdin.take());
        Self {
            child: RefCell::new(child),
            input,
            lines,
            errors,
            next: Cell::new(1),
            aside: RefCell::default(),
        }
    }

    /// A server that has been greeted in this revision.
    #[track_caller]
    pub fn greeted(world: &World, arguments: &[&str], revision: &str) -> Self {
        let server = Self::start(world, arguments);
        server.greet(revision);
        server
    }

    /// The handshake.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn greet(&self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    /// Its pid.
    ///
    /// # Panics
    /// Never: a pid fits its type.
    pub fn pid(&self) -> i32 {
        self.child.borrow().id().try_into().expect("a pid fits its type")
    }

    /// Writes bytes.
    ///
    /// # Panics
    /// When its input is closed.
    #[track_caller]
    pub fn write(&self, bytes: &[u8]) {
        let mut input = self.input.borrow_mut();
        let input = input.as_mut().expect("its input is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("glass reads its input");
    }

    /// Sends a message on one line.
    #[track_caller]
    pub fn send(&self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id.
    #[track_caller]
    pub fn request(&self, method: &str, params: &Value) -> i64 {
        let id = self.next.get();
        self.next.set(id + 1);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Begins a call of a tool.
    #[track_caller]
    pub fn begin(&self, tool: &str, arguments: &Value) -> i64 {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The next message.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn message(&self) -> Value {
        self.message_within(LIMIT).expect("a message in time")
    }

    /// The next message, unless none comes in this time.
    pub fn message_within(&self, limit: Duration) -> Option<Value> {
        if !self.aside.borrow().is_empty() {
            return Some(self.aside.borrow_mut().remove(0));
        }
        self.lines.recv_timeout(limit).ok()
    }

    /// The answer to a request. What else comes is kept for [`Mcp::message`].
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn answer(&self, id: i64) -> Value {
        let kept = self.aside.borrow().iter().position(|message| message["id"] == id);
        if let Some(at) = kept {
            return self.aside.borrow_mut().remove(at);
        }
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message =
                self.lines.recv_timeout(left).unwrap_or_else(|why| panic!("no answer to {id}: {why}"));
            if message["id"] == id {
                return message;
            }
            self.aside.borrow_mut().push(message);
        }
    }

    /// Asks, and waits for the answer.
    #[track_caller]
    pub fn ask(&self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> Result {
        let id = self.begin(tool, arguments);
        self.result(id)
    }

    /// Calls a tool that succeeds, and returns the text of its result.
    #[track_caller]
    pub fn ok(&self, tool: &str, arguments: &Value) -> String {
        self.call(tool, arguments).good().text(0)
    }

    /// The result of a call.
    ///
    /// # Panics
    /// When the answer is an error of the protocol.
    #[track_caller]
    pub fn result(&self, id: i64) -> Result {
        let answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{answer}");
        Result { json: answer["result"].clone() }
    }

    /// Closes its input.
    pub fn close(&self) {
        drop(self.input.borrow_mut().take());
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn ended(&self, limit: Duration) -> ExitStatus {
        eventually("glass has ended", limit, || {
            self.child.borrow_mut().try_wait().expect("its end can be asked for")
        })
    }

    /// What it wrote to standard error; it has ended.
    pub fn errors(&self) -> String {
        self.errors.recv_timeout(LIMIT).unwrap_or_default()
    }
}

/// The next message in either framing; one with a header has `framing: "header"` beside what it says.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut line = String::new();
    // What is not UTF-8 ends the reading; the test that waits says so.
    if output.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let line = line.trim_end();
    let Some(length) = line.strip_prefix("Content-Length: ") else {
        // What is no JSON on standard output is a fault that every reader of it should see.
        return Some(serde_json::from_str(line).unwrap_or_else(|_| json!({ "noJson": line })));
    };
    let mut body = vec![0; length.parse::<usize>().ok()? + 2];
    output.read_exact(&mut body).ok()?;
    let mut message: Value = serde_json::from_slice(body.strip_prefix(b"\r\n")?).ok()?;
    message["framing"] = "header".into();
    Some(message)
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.close();
        if std::thread::panicking() {
            // The test has said what is wrong.
            let _ = kill(Pid::from_raw(self.pid()), Signal::SIGKILL);
        }
        let _ = self.child.borrow_mut().wait();
    }
}

impl Result {
    /// Asserts that the tool succeeded.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn good(self) -> Self {
        assert_ne!(self.json["isError"], true, "{}", self.json);
        self
    }

    /// Asserts that the tool failed with this kind, and returns the error.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn fails(&self, kind: &str) -> Value {
        assert_eq!(self.json["isError"], true, "{}", self.json);
        let error: Value = serde_json::from_str(&self.text(0)).expect("an error is JSON");
        assert_eq!(error["kind"], kind, "{error}");
        error
    }

    /// The text of one of its content blocks.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn text(&self, at: usize) -> String {
        let text = self.json["content"][at]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text at {at}: {}", self.json)).to_owned()
    }
}
