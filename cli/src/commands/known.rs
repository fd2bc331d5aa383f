//! What glassctl knows by itself: `glassctl schema` (contract 12.7), `completions` and `man` (contract 12.5).

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use glass_proto::escape::visible;
use glass_proto::op::{Facts, OPERATIONS};
use serde_json::{Value, json};

use crate::args::{Cli, KnownCommand};
use crate::error::Failure;
use crate::output::Report;
use crate::schemas;

pub(super) fn run(command: KnownCommand) -> Result<Report, Failure> {
    match command {
        KnownCommand::Schema { operation: None } => pretty(&every_answer()),
        KnownCommand::Schema { operation: Some(name) } => pretty(&one(&name)?),
        KnownCommand::Completions { shell } => completions(shell),
        KnownCommand::Man { output: Some(directory), .. } => every_page(&directory),
        KnownCommand::Man { command, output: None } => page(&command),
    }
}

fn every_answer() -> Value {
    let names: Vec<_> = OPERATIONS.iter().map(|facts| facts.name).collect();
    json!({ "answer": schemas::answer(), "operations": names })
}

fn one(name: &str) -> Result<Value, Failure> {
    let facts = Facts::of(name).ok_or_else(|| {
        Failure::invalid("there is no operation of that name", "`glassctl schema` without a name lists them")
    })?;
    let (params, result) = schemas::operation(facts.name);
    Ok(json!({
        "operation": facts.name,
        "params": params,
        "options": schemas::options(),
        "result": result,
    }))
}

/// An answer that reads for a person as it does for a machine.
fn pretty(value: &Value) -> Result<Report, Failure> {
    Report::of(value, format!("{value:#}"))
}

fn completions(shell: Shell) -> Result<Report, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "glassctl", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Report::of(&json!({ "shell": shell.to_string(), "script": script }), script)
}

/// The command line with its global options in every command, and each command under its full name.
fn whole() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn page(path: &[String]) -> Result<Report, Failure> {
    let mut command = whole();
    for word in path {
        let Some(found) = command.find_subcommand(word) else {
            return Err(Failure::invalid("there is no such command", "`glassctl help` lists the commands"));
        };
        command = found.clone();
    }
    let mut roff = Vec::new();
    Man::new(command).render(&mut roff).map_err(|error| unwritable(&error))?;
    let roff = String::from_utf8_lossy(&roff).into_owned();
    Report::of(&json!({ "roff": roff }), roff)
}

fn every_page(directory: &Path) -> Result<Report, Failure> {
    if !directory.is_dir() {
        return Err(Failure::invalid("--output names no directory", "make the directory first"));
    }
    clap_mangen::generate_to(whole(), directory).map_err(|error| unwritable(&error))?;
    let path = directory.to_string_lossy();
    let text = format!("manual pages written to {}", visible(&path, false));
    Report::of(&json!({ "directory": path }), text)
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::invalid(
        format!("the pages cannot be written: {error}"),
        "look at the directory's rights and space",
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_operations() {
        for shell in Shell::value_variants() {
            let script = completions(*shell).unwrap().text;
            assert!(script.contains("list-targets") && script.contains("expected-revision"), "{shell}");
        }
    }

    #[test]
    fn every_command_has_a_page_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        every_page(directory.path()).unwrap();
        for facts in OPERATIONS {
            let name = facts.command();
            let page = std::fs::read_to_string(directory.path().join(format!("glassctl-{name}.1"))).unwrap();
            assert!(page.contains(".SH OPTIONS") && page.contains("timeout"), "{name}");
        }
        let session: Vec<String> = ["session", "list"].map(String::from).into();
        assert!(page(&session).unwrap().text.contains("glassctl\\-session\\-list"));
        assert!(page(&["fly".to_owned()]).is_err());
    }

    #[test]
    fn an_operation_is_found_by_both_its_names_and_another_word_is_refused() {
        let get = |name: &str| one(name).map(|found| found["operation"].clone());
        assert_eq!(get("getText").unwrap(), "getText");
        assert_eq!(get("get-text").unwrap(), "getText");
        assert_eq!(one("fly").unwrap_err().error.kind, glass_proto::ErrorKind::InvalidArgument);
    }
}
