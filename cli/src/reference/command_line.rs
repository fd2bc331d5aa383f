//! `docs/reference/command-line.md`: global options, and the commands that are no operations.

use clap::{Arg, Command, CommandFactory};
use glass_proto::op::Facts;

use super::markdown::{Table, code, prose};
use super::{Files, MARK};
use crate::args::Cli;

/// The command line as it is parsed, with its global options in every command.
pub(super) fn command() -> Command {
    let mut command = Cli::command().term_width(0);
    command.build();
    command
}

/// What a person sees of the arguments; not the global ones.
pub(super) fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_global_set())
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
}

/// How it is written: `--button <BUTTON>`.
pub(super) fn spelled(arg: &Arg) -> String {
    arg.to_string()
}

/// Its help, with the words that it takes.
pub(super) fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let words: Vec<_> = arg
        .get_possible_values()
        .iter()
        .filter(|word| !word.is_hide_set() && arg.get_action().takes_values())
        .map(|word| word.get_name().to_owned())
        .collect();
    if words.is_empty() { help } else { format!("{help} ({})", words.join(", ")) }
}

/// The first line of the help, and the rest.
pub(super) fn about(command: &Command) -> (String, String) {
    let short = command.get_about().map(ToString::to_string).unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let rest = long.strip_prefix(&short).unwrap_or(&long).trim().to_owned();
    (short, rest)
}

/// How the command is called.
pub(super) fn usage(command: &Command) -> String {
    let text = command.clone().render_usage().to_string();
    text.strip_prefix("Usage: ").unwrap_or(&text).trim().to_owned()
}

pub(super) fn files() -> Files {
    let command = command();
    let mut page =
        format!("{MARK}{HEAD}\n{}", table(command.get_arguments().filter(|arg| arg.is_global_set())));
    page.push_str("\n## Commands\n\nBeside the [operations](operations.md), each of which is a command:\n");
    for sub in command.get_subcommands().filter(|sub| !is_operation(sub) && !sub.is_hide_set()) {
        section(&mut page, sub, "###");
    }
    [("docs/reference/command-line.md".into(), page)].into()
}

const HEAD: &str = "# Command line

`glassctl [GLOBAL OPTIONS] COMMAND …`; global options are taken after the command too. `--` ends options. Exit codes are
in [errors.md](errors.md).

## Global options
";

fn is_operation(command: &Command) -> bool {
    Facts::of(command.get_name()).is_some()
}

fn section(page: &mut String, command: &Command, level: &str) {
    if command.get_name() == "help" {
        return;
    }
    if command.has_subcommands() {
        for sub in command.get_subcommands() {
            section(page, sub, level);
        }
        return;
    }
    let (short, long) = about(command);
    page.push_str(&format!("\n{level} `{}`\n\n{}.\n", usage(command), prose(&short)));
    if !long.is_empty() {
        page.push_str(&format!("\n{}\n", prose(&long)));
    }
    if arguments(command).next().is_some() {
        page.push_str(&format!("\n{}", table(arguments(command))));
    }
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let mut table = Table::new(&["argument", "meaning"]);
    for arg in arguments.filter(|arg| !arg.is_hide_set()) {
        table.row(&[&code(&spelled(arg)), &prose(&meaning(arg))]);
    }
    table.text().to_owned()
}
