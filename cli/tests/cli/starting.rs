//! No daemon, daemons that do not start, and the one that does (contract 12.1).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::fake::{Service, accepted, completed, eventually, serve, serve_on};
use crate::{glassctl, json, text};

/// A directory with glassctl and a `glassd` that is this shell script.
struct Installed {
    directory: tempfile::TempDir,
}

impl Installed {
    fn new(script: Option<&str>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::copy(env!("CARGO_BIN_EXE_glassctl"), directory.path().join("glassctl")).unwrap();
        if let Some(script) = script {
            let path = directory.path().join("glassd");
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("glassctl"));
        command.env("HOME", self.directory.path()).env_remove("XDG_RUNTIME_DIR").env_remove("XDG_STATE_HOME");
        command.env_remove("GLASS_SESSION").stdin(Stdio::null());
        command.arg("--socket").arg(self.path("s")).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(10));
    let said = text(&output.stderr);
    assert!(said.starts_with("error: daemon_unreachable: no glassd answers at "), "{said}");
    assert!(said.contains("\nhint: "), "{said}");
    said
}

#[test]
fn without_a_daemon_there_are_no_sessions_and_none_is_started() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| glassctl(home.path()).args(arguments).output().unwrap();
    let listed = run(&["session", "list"]);
    assert_eq!((listed.status.code(), text(&listed.stdout).as_str()), (Some(0), "no sessions\n"));
    assert_eq!(json(&run(&["session", "list", "--json"]))["result"], json!({"sessions": []}));
    assert_eq!(run(&["session", "close", "--all"]).status.code(), Some(0));
    assert_eq!(run(&["session", "close", "x"]).status.code(), Some(3));
    assert_eq!(run(&["daemon", "stop"]).status.code(), Some(0));
    refused(&run(&["status"]));
    refused(&run(&["observe", "--no-autostart"]));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_socket_path_that_cannot_be_is_told() {
    let home = tempfile::tempdir().unwrap();
    let long = home.path().join("x".repeat(120));
    let output = glassctl(home.path()).arg("--socket").arg(long).arg("observe").output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    assert!(text(&output.stderr).contains("at most"), "{}", text(&output.stderr));
}

#[test]
fn a_missing_program_is_told() {
    let said = refused(&Installed::new(None).run(&["observe"]));
    assert!(said.contains("there is no glassd beside glassctl"), "{said}");
}

#[test]
fn what_a_failed_start_said_is_told() {
    let installed = Installed::new(Some("echo 'glassd: config.toml:3:7: no such key' >&2; exit 78"));
    let output = installed.run(&["observe"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("exit status: 78") && said.contains("config.toml:3:7: no such key"), "{said}");
    let answer = json(&installed.run(&["daemon", "start", "--json"]));
    assert_eq!(answer["error"]["kind"], "invalid_configuration");
    assert_eq!((&answer["error"]["retry"], &answer["outcome"]), (&json!("never"), &json!("rejected")));
}

#[test]
fn an_ignored_sigchld_of_the_caller_hides_no_exit() {
    let installed = Installed::new(Some("echo 'glassd: no space' >&2; exit 3"));
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' CHLD; exec \"$0\" --socket \"$1\" observe"]);
    command.arg(installed.path("glassctl")).arg(installed.path("s")).env("HOME", installed.path(""));
    let said = refused(&command.env_remove("GLASS_SESSION").stdin(Stdio::null()).output().unwrap());
    assert!(said.contains("exit status: 3") && said.contains("no space"), "{said}");
}

#[test]
fn a_started_daemon_is_waited_for_also_when_it_gives_way_first() {
    // The first two give way, as they do while another daemon is ending; the third is the one.
    let installed = Installed::new(Some("echo \"$@\" >> \"$HOME/started\"; exit 0"));
    let started = installed.path("started");
    let mut command = installed.command(&["evaluate", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("three starts", || lines(&started).len() >= 3);
    let _runtime = serve(&installed.path("s"), Service::answering(|_| vec![accepted(), completed(value())]));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "1\n"));
    let socket = installed.path("s");
    assert_eq!(lines(&started)[0], format!("--from-client --socket {}", socket.display()));
}

#[test]
fn a_connection_that_a_dying_daemon_took_is_not_counted_as_sent() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("s");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let dying = std::thread::spawn(move || {
        for _ in 0..3 {
            drop(listener.accept().unwrap());
        }
        serve_on(listener, Service::answering(|_| vec![accepted(), completed(value())]))
    });
    let output = glassctl(home.path()).arg("--socket").arg(&socket).args(["evaluate", "1"]).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "1\n"));
    drop(dying.join().unwrap());
}

fn value() -> serde_json::Value {
    json!({"value": 1, "targetId": "T", "previousRevision": 1, "revision": 1, "evidence": {}})
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

// report 84
#[test]
fn a_started_daemon_holds_nothing_of_its_client() {
    // It tells where its standard streams lead and where it stands.
    let script =
        "cd -P . && pwd > \"$HOME/told\"; readlink /proc/self/fd/0 /proc/self/fd/1 >> \"$HOME/told\"; exit 9";
    let installed = Installed::new(Some(script));
    refused(&installed.run(&["observe"]));
    assert_eq!(lines(&installed.path("told"))[0], "/");
    assert_eq!(lines(&installed.path("told"))[1], "/dev/null");
}
