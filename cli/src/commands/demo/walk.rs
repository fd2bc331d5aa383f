//! Runs the demo's commands one by one, shows each with its answer, and checks the answer.

use std::time::{Duration, Instant};

use glass_proto::escape::visible;
use glass_proto::{ErrorKind, OpError, Phase};
use serde::Serialize;

use super::world::{Ran, World};
use crate::error::Failure;
use crate::output::Output;

/// What a command has to answer for the demo to go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expect {
    exit: i32,
    shows: &'static str,
}

/// The command ends well and shows this.
pub(super) const fn done(shows: &'static str) -> Expect {
    Expect { exit: 0, shows }
}

/// The command ends with this exit code and error kind: an honest refusal.
pub(super) const fn refused(exit: i32, shows: &'static str) -> Expect {
    Expect { exit, shows }
}

/// One command that ran, in the machine form.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
    command: String,
    exit: Option<i32>,
    ms: u64,
    output: String,
}

/// The walk so far.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    world: &'a World,
    output: Output,
    /// Commands that ran.
    pub(super) steps: Vec<Step>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(world: &'a World, output: Output) -> Self {
        Self { world, output, steps: Vec::new() }
    }

    /// Tells what comes next.
    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        if self.output.is_json() {
            Ok(())
        } else {
            self.output.line(&format!("\n# {text}")).map_err(unprinted)
        }
    }

    /// Runs one command; answers its standard output.
    ///
    /// # Errors
    /// `verification_failed` when the answer is not the expected one.
    pub(super) async fn run(&mut self, arguments: &[&str], expect: Expect) -> Result<String, Failure> {
        self.run_with(arguments, "", expect).await
    }

    /// Runs one command with this standard input, which is not shown.
    pub(super) async fn run_with(
        &mut self,
        arguments: &[&str],
        input: &str,
        expect: Expect,
    ) -> Result<String, Failure> {
        let mut command = shell_line(arguments);
        if !input.is_empty() {
            command = format!("printf %s \"$PASSWORD\" | {command}");
        }
        let begun = Instant::now();
        let ran = self.world.glassctl(arguments, input).await.map_err(|error| unrun(&error))?;
        self.show(&command, &ran, begun.elapsed())?;
        let output = if ran.err.is_empty() { ran.out.clone() } else { format!("{}\n{}", ran.out, ran.err) };
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let good = ran.exit == Some(expect.exit) && output.contains(expect.shows);
        self.steps.push(Step { command: command.clone(), exit: ran.exit, ms, output });
        if good { Ok(ran.out) } else { Err(self.surprise(&command, &ran, expect)) }
    }

    fn show(&self, command: &str, ran: &Ran, took: Duration) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        let mut text = format!("\n$ {command}");
        for part in [&ran.out, &ran.err] {
            if !part.is_empty() {
                text.push('\n');
                // Escaped by the command already; a broken one may not have.
                text.push_str(&visible(part, true));
            }
        }
        let exit = match ran.exit {
            Some(0) => String::new(),
            Some(code) => format!("exit {code}, "),
            None => "no exit code, ".to_owned(),
        };
        text.push_str(&format!("\n  ({exit}{} ms)", took.as_millis()));
        self.output.line(&text).map_err(unprinted)
    }

    fn surprise(&self, command: &str, ran: &Ran, expect: Expect) -> Failure {
        let exit = ran.exit.map_or("none".to_owned(), |code| code.to_string());
        let message = format!(
            "step {} did not answer as expected: `{command}` has exit {exit} (expected {}) and should show {:?}",
            self.steps.len(),
            expect.exit,
            expect.shows
        );
        let remedy = match ran.exit {
            Some(10) => "the answer above says what is missing on this machine",
            _ => "run it again; if it stays so, report it with this output",
        };
        let error = OpError::failed(ErrorKind::VerificationFailed, Phase::Verification, message, remedy);
        error.reason("demo").detail("output", ran_text(ran)).into()
    }
}

fn ran_text(ran: &Ran) -> String {
    glass_proto::escape::cut(&format!("{}\n{}", ran.out, ran.err), 2048).trim().to_owned()
}

/// The command as somebody would type it.
fn shell_line(arguments: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = arguments.iter().map(|argument| match !argument.is_empty() && argument.chars().all(plain) {
        true => (*argument).to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    });
    std::iter::once("glassctl".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

fn unprinted(error: std::io::Error) -> Failure {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("the demo's output cannot be written: {error}"),
        "give it an output that stays open",
    )
    .into()
}

fn unrun(error: &std::io::Error) -> Failure {
    OpError::failed(
        ErrorKind::Transport,
        Phase::Transport,
        format!("glassctl cannot be run by the demo: {error}"),
        "install glassctl as a program that can be run",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        assert_eq!(
            shell_line(&["click", "role=button;name=Sign in", "it's"]),
            r"glassctl click 'role=button;name=Sign in' 'it'\''s'"
        );
    }
}
