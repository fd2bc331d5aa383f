//! glassctl itself, as a process, against a daemon that answers from a script.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod calls;
mod fake;
mod giving_up;
mod starting;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// glassctl with nothing of the developer's own environment that could change its answers.
pub(crate) fn glassctl(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_glassctl"));
    for name in ["GLASS_SESSION", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "NO_COLOR"] {
        command.env_remove(name);
    }
    command.env("HOME", home).current_dir(home).stdin(Stdio::null());
    command
}

/// glassctl talking to `fake`, run to its end.
pub(crate) fn ask(fake: &fake::Fake, arguments: &[&str]) -> Output {
    let home = fake.socket();
    let home = home.parent().unwrap();
    glassctl(home).arg("--socket").arg(fake.socket()).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output as the one JSON object that it must be.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    let text = text(&output.stdout);
    assert_eq!(text.matches('\n').count(), 1, "one line: {text}");
    assert!(output.stderr.is_empty(), "nothing beside it: {}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], 1);
    json
}
