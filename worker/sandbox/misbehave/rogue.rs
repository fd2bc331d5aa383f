//! A browser that was taken over: the real one does the work, and this stands between it and its worker.
//!
//! Started under a browser's name and with a browser's arguments. Everything passes through, until a command has
//! `rogue:NAME` in it; then it does what that name says, and the command goes on. `plan.json` beside the program says
//! which browser is the real one and what is to be reached.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nix::libc;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{bombs, plants, reach};

/// Where a browser reads commands and writes answers.
const COMMANDS: i32 = 3;
const ANSWERS: i32 = 4;

/// What the test wants.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The real browser.
    pub(crate) browser: PathBuf,
    /// A TCP port of the host's 127.0.0.1 that no rule allows.
    pub(crate) forbidden: u16,
    /// One that the rules allow.
    pub(crate) allowed: u16,
    /// Paths of the host that must not be there: files, directories, sockets.
    pub(crate) paths: Vec<PathBuf>,
    /// Processes of the host.
    pub(crate) pids: Vec<i32>,
    /// Where links are planted to.
    pub(crate) victim: PathBuf,
}

impl Plan {
    pub(crate) fn read() -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let text = fs::read(program.with_file_name("plan.json"))?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// Runs as the browser until the real one ends.
pub(crate) fn run(args: &[String]) -> io::Result<()> {
    let plan = Plan::read()?;
    if args == ["--version"] {
        return Err(Command::new(&plan.browser).arg("--version").exec());
    }
    // SAFETY: whoever starts a browser gives it these two, and nothing else here has them.
    let (commands, answers) =
        unsafe { (File::from(OwnedFd::from_raw_fd(COMMANDS)), File::from(OwnedFd::from_raw_fd(ANSWERS))) };
    let (their_commands, to_browser) = io::pipe()?;
    let (from_browser, their_answers) = io::pipe()?;
    let mut browser = Command::new(&plan.browser);
    browser.args(args);
    let (reads, writes) = (their_commands.as_raw_fd(), their_answers.as_raw_fd());
    // SAFETY: both calls are safe between fork and exec, and the numbers are open in the child.
    unsafe {
        browser.pre_exec(move || {
            match libc::dup2(reads, COMMANDS) == COMMANDS && libc::dup2(writes, ANSWERS) == ANSWERS {
                true => Ok(()),
                false => Err(io::Error::last_os_error()),
            }
        });
    }
    let child = browser.spawn()?;
    drop((their_commands, their_answers));
    let out = Arc::new(Out { to: Mutex::new(answers), mood: Mood::default() });
    let relayed = out.clone();
    std::thread::spawn(move || pass_commands(commands, to_browser, &plan, &relayed));
    pass_answers(BufReader::new(from_browser), &out, child)
}

/// How answers are treated.
#[derive(Default)]
struct Mood {
    silent: AtomicBool,
    garbling: AtomicBool,
}

/// The way to the worker.
pub(crate) struct Out {
    to: Mutex<File>,
    mood: Mood,
}

impl Out {
    /// Writes bytes as they are.
    fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }

    fn message(&self, message: &Value) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(message)?;
        bytes.push(0);
        self.raw(&bytes)
    }
}

fn pass_commands(commands: File, mut to_browser: io::PipeWriter, plan: &Plan, out: &Arc<Out>) {
    let mut commands = BufReader::new(commands);
    let mut message = Vec::new();
    loop {
        message.clear();
        match commands.read_until(0, &mut message) {
            Ok(0) | Err(_) => std::process::exit(0),
            Ok(_) => {}
        }
        if let Some(name) = asked(&message) {
            // Told to the test by what it cannot find then.
            let _ = act(&name, plan, out);
        }
        if to_browser.write_all(&message).is_err() {
            return;
        }
    }
}

/// The name after `rogue:` in a command.
fn asked(message: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(message);
    let (_, rest) = text.split_once("rogue:")?;
    Some(rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect())
}

fn pass_answers(mut answers: impl BufRead, out: &Out, mut browser: Child) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        message.clear();
        if answers.read_until(0, &mut message)? == 0 {
            browser.wait()?;
            return Ok(());
        }
        if out.mood.silent.load(Ordering::Relaxed) {
            continue;
        }
        if out.mood.garbling.load(Ordering::Relaxed) {
            out.raw(&garbled(&message))?;
            continue;
        }
        out.raw(&message)?;
    }
}

/// The same message with other contents.
fn garbled(message: &[u8]) -> Vec<u8> {
    let text = message.strip_suffix(&[0]).unwrap_or(message);
    let mut value: Value = serde_json::from_slice(text).unwrap_or_default();
    for (member, other) in [("result", json!([1, "two", null])), ("params", json!(7)), ("error", json!("no"))]
    {
        if let Some(found) = value.get_mut(member) {
            *found = other;
        }
    }
    let mut bytes = value.to_string().into_bytes();
    bytes.push(0);
    bytes
}

fn act(name: &str, plan: &Plan, out: &Arc<Out>) -> io::Result<()> {
    match name {
        "attempts" => reach::report(plan),
        "plants" => plants::plant(plan),
        "hides" => plants::hide(),
        "fork-bomb" => bombs::forks(),
        "memory-bomb" => bombs::memory(),
        "disk-bomb" => bombs::disk(),
        "silent" => {
            out.mood.silent.store(true, Ordering::Relaxed);
            Ok(())
        }
        "garble" => {
            out.mood.garbling.store(true, Ordering::Relaxed);
            Ok(())
        }
        // Never reads a command again.
        "deaf" => loop {
            std::thread::park();
        },
        "endless" => {
            let out = out.clone();
            std::thread::spawn(move || while flood(&out, 1000).is_ok() {});
            Ok(())
        }
        "lies" => lie(out),
        "pages" => pages(out),
        "download" => download(out),
        _ => Ok(()),
    }
}

/// Messages that no browser sends.
fn lie(out: &Out) -> io::Result<()> {
    let mut huge = vec![b'x'; 1 << 20];
    for _ in 0..80 {
        out.raw(&huge)?;
    }
    out.raw(&[0])?;
    huge.fill(b'[');
    out.raw(&huge)?;
    out.raw(&[0])?;
    for text in [
        &b""[..],
        b"\xff\xfe",
        b"{",
        b"null",
        b"[]",
        b"{\"id\":-1}",
        b"{\"id\":1e400,\"result\":{}}",
        b"{\"id\":\"7\",\"result\":{}}",
        b"{\"method\":7}",
        b"{\"method\":\"Target.attachedToTarget\"}",
        b"{\"method\":\"Target.attachedToTarget\",\"params\":{\"sessionId\":7}}",
        b"{\"method\":\"Target.detachedFromTarget\",\"params\":{\"sessionId\":\"nobody\"}}",
        b"{\"method\":\"Page.javascriptDialogOpening\",\"params\":{\"type\":\"\\u0000\"},\"sessionId\":\"nobody\"}",
        b"{\"error\":{\"code\":1}}",
    ] {
        out.raw(text)?;
        out.raw(&[0])?;
    }
    // Answers to what was not asked, and would be asked next.
    for id in 0..20_000_u64 {
        out.message(&json!({ "id": 1_000_000 + id, "result": { "product": "Chrome/1.2.3.4" } }))?;
    }
    flood(out, 20_000)
}

fn flood(out: &Out, count: usize) -> io::Result<()> {
    for number in 0..count {
        let frame = json!({ "id": format!("F{number}"), "loaderId": "L", "url": "https://example.com/", "parentId": "P" });
        out.message(&match number % 3 {
            0 => json!({ "method": "Page.frameNavigated", "params": { "frame": frame } }),
            1 => {
                json!({ "method": "Network.requestWillBeSent", "sessionId": format!("S{number}"), "params": {
                "requestId": format!("R{number}"), "request": { "url": "x".repeat(1000) } } })
            }
            _ => json!({ "method": "Runtime.consoleAPICalled", "sessionId": "nobody", "params": {
                "type": "log", "args": [{ "type": "string", "value": "y".repeat(1000) }] } }),
        })?;
    }
    Ok(())
}

/// Pages that do not exist.
fn pages(out: &Out) -> io::Result<()> {
    for number in 0..3000 {
        let info = json!({ "targetId": format!("T{number}"), "type": "page", "title": "t".repeat(5000),
            "url": format!("https://example.com/{number}"), "attached": true, "canAccessOpener": false,
            "browserContextId": "B" });
        out.message(&json!({ "method": "Target.targetCreated", "params": { "targetInfo": info } }))?;
        out.message(&json!({ "method": "Target.attachedToTarget", "params": {
            "sessionId": format!("S{number}"), "targetInfo": info, "waitingForDebugger": true } }))?;
    }
    Ok(())
}

/// Downloads whose files are links to what is not theirs.
fn download(out: &Out) -> io::Result<()> {
    for guid in ["planted", "../../../../etc/passwd", "/proc/1/environ", "planted-twice", "planted-pipe"] {
        let size = json!({ "guid": guid, "totalBytes": 9, "receivedBytes": 9, "state": "completed",
            "filePath": "/etc/passwd" });
        out.message(
            &json!({ "method": "Browser.downloadWillBegin", "params": { "guid": guid, "frameId": "F",
            "url": "https://example.com/x", "suggestedFilename": "../../\u{202e}evil/\u{0}x" } }),
        )?;
        out.message(&json!({ "method": "Browser.downloadProgress", "params": size }))?;
    }
    Ok(())
}
