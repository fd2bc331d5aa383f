//! Somebody else's browser: a Chromium that Glass did not start, with a profile and a debugging port of its own.
//!
//! It runs as an ordinary user, under Chromium's own sandbox, and outside of every world: what Glass does to it is seen by
//! asking it over HTTP, as its user's other tools would.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, geteuid};
use serde_json::Value;
use tempfile::TempDir;

use crate::eventually;
use crate::who::Lease;

/// Where Chromium is installed, real programs before wrappers.
const PLACES: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];
/// How long it may take to listen; two of them and a session's may start at once.
const STARTS: Duration = Duration::from_secs(30);

/// A browser that runs until this is dropped.
#[derive(Debug)]
pub struct Chrome {
    child: Child,
    port: u16,
    socket: String,
    _profile: TempDir,
    _lease: Option<Lease>,
}

impl Chrome {
    /// Starts one with these flags beside its own.
    ///
    /// # Panics
    /// When it does not listen.
    pub fn start(flags: &[&str]) -> Self {
        let lease = geteuid().is_root().then(Lease::take);
        let profile = tempfile::Builder::new().prefix("gc").tempdir().expect("a profile");
        fs::set_permissions(profile.path(), fs::Permissions::from_mode(0o700)).expect("make it private");
        let program = PLACES.iter().find(|place| Path::new(place).exists()).expect("Chromium is installed");
        let mut command = Command::new(program);
        command
            .args([
                "--headless",
                "--remote-debugging-port=0",
                "--no-first-run",
                "--disable-gpu",
                "--mute-audio",
            ])
            .args(["--disable-background-networking", "--window-size=1200,900", "--password-store=basic"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(flags)
            .arg("about:blank")
            .env_clear()
            .env("HOME", profile.path())
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if let Some(lease) = &lease {
            chown(profile.path(), Some(lease.uid), Some(lease.uid)).expect("give the profile to its user");
            command.uid(lease.uid).gid(lease.uid);
        }
        let child = command.spawn().expect("start Chromium");
        let file = profile.path().join("DevToolsActivePort");
        let (port, socket) = eventually("another browser listens", STARTS, || {
            let text = fs::read_to_string(&file).ok()?;
            let (port, path) = text.trim().split_once('\n')?;
            Some((port.parse().ok()?, path.to_owned()))
        });
        Self { child, port, socket, _profile: profile, _lease: lease }
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The endpoint of its socket.
    pub fn socket(&self) -> String {
        format!("ws://localhost:{}{}", self.port, self.socket)
    }

    /// Opens a page in it, as its user would, and answers the page's id.
    ///
    /// # Panics
    /// When that does not work.
    pub fn open(&self, url: &str) -> String {
        let opened = self.http("PUT", &format!("/json/new?{url}"));
        opened["id"].as_str().expect("a page has an id").to_owned()
    }

    /// Its pages: ids and addresses.
    pub fn pages(&self) -> Vec<(String, String)> {
        let listed = self.http("GET", "/json/list");
        let pages = listed.as_array().expect("a list").iter().filter(|page| page["type"] == "page");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        pages.map(|page| (text(&page["id"]), text(&page["url"]))).collect()
    }

    /// Ends it without a word.
    pub fn kill(&self) {
        // Its pid is its group's; a group that is gone needs no signal.
        let _ = killpg(Pid::from_raw(i32::try_from(self.child.id()).expect("a pid")), Signal::SIGKILL);
    }

    fn http(&self, method: &str, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).expect("ask it");
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        // It keeps the connection open whatever it is told.
        loop {
            if let Some(body) = body(&answer) {
                return serde_json::from_slice(body).expect("it answers in JSON");
            }
            match stream.read(&mut piece).expect("read its answer") {
                0 => panic!("it ended in its answer: {}", String::from_utf8_lossy(&answer)),
                read => answer.extend_from_slice(&piece[..read]),
            }
        }
    }
}

/// The body of an answer that is all there.
fn body(answer: &[u8]) -> Option<&[u8]> {
    let text = String::from_utf8_lossy(answer);
    let head = text.split_once("\r\n\r\n")?.0.to_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    let body = answer.get(head.len() + 4..)?;
    (body.len() >= length).then(|| &body[..length])
}

impl Drop for Chrome {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}
