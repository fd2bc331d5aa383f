//! Wrong calls in words: what is wrong, the nearest name, and how the command is called.
//!
//! Takes clap's findings and writes its own text. A value as given never stands in it: it may be typed text, a
//! script or a locator (contract 2.6). Names of options and commands do.

use std::error::Error as _;

use clap::CommandFactory;
use clap::error::{ContextKind as C, ContextValue, ErrorKind};
use glass_proto::escape::visible;

use crate::args::Cli;
use crate::error::Failure;

/// Words that other tools use, and ours.
const ELSEWHERE: &[(&str, &str)] = &[
    ("goto", "navigate"),
    ("open", "navigate"),
    ("visit", "navigate"),
    ("snapshot", "observe"),
    ("press", "key"),
    ("eval", "evaluate"),
    ("js", "evaluate"),
    ("text", "get-text"),
    ("query", "find"),
    ("tabs", "list-targets"),
    ("sessions", "session list"),
    ("close", "session close"),
    ("start", "daemon start"),
    ("stop", "daemon stop"),
];

/// What arguments came to that are no command to run.
#[derive(Debug)]
pub enum NoCommand {
    /// Help or the version was asked for: print it, exit 0.
    Print(String),
    /// The call is wrong.
    Wrong(Box<Failure>),
}

/// Sorts what clap found.
pub fn explain(error: &clap::Error) -> NoCommand {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return NoCommand::Print(error.to_string());
    }
    let (message, remedy) = words(error);
    let mut failure = Failure::invalid(message, remedy);
    failure.usage = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Some(error.to_string()),
        _ => error.get(C::Usage).map(ToString::to_string),
    };
    NoCommand::Wrong(Box::new(failure))
}

fn words(error: &clap::Error) -> (String, String) {
    let argument = || first(error, C::InvalidArg).unwrap_or_else(|| "an argument".to_owned());
    let see_help = || "--help after the command shows what it takes".to_owned();
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::UnknownArgument => unknown_argument(error),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let why = error.source().map(|why| format!(": {}", without_value(&why.to_string())));
            let valid = all(error, C::ValidValue);
            let remedy = match (first(error, C::SuggestedValue), valid.is_empty()) {
                (Some(near), _) => format!("did you mean {near}? It takes {}", valid.join(", ")),
                (None, false) => format!("it takes {}", valid.join(", ")),
                (None, true) => see_help(),
            };
            if error.get(C::InvalidValue).is_some_and(|value| value.to_string().is_empty()) && why.is_none() {
                return (format!("{} needs a value", argument()), remedy);
            }
            (format!("{} does not take this value{}", argument(), why.unwrap_or_default()), remedy)
        }
        ErrorKind::MissingRequiredArgument => {
            (format!("missing: {}", all(error, C::InvalidArg).join(", ")), see_help())
        }
        ErrorKind::ArgumentConflict => {
            let prior = all(error, C::PriorArg).join(", ");
            let message = match prior == argument() {
                true => format!("{} may be given only once", argument()),
                false => format!("{} and {prior} exclude each other", argument()),
            };
            (message, "leave one out".to_owned())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            ("a command is missing".to_owned(), "`glassctl help` lists the commands".to_owned())
        }
        ErrorKind::InvalidUtf8 => ("an argument is not UTF-8 text".to_owned(), see_help()),
        other => (other.as_str().unwrap_or("the arguments do not fit").to_owned(), see_help()),
    }
}

/// Parsers of numbers quote what they were given; what follows is enough.
fn without_value(why: &str) -> String {
    match why.split_once(" is not in ") {
        Some((_, range)) => format!("it is not in {range}"),
        None => visible(why, false).into_owned(),
    }
}

fn unknown_command(error: &clap::Error) -> (String, String) {
    let given = first(error, C::InvalidSubcommand).unwrap_or_default();
    let message = match is_word(&given) {
        true => format!("there is no command `{given}`"),
        false => "this is no command".to_owned(),
    };
    let near = ELSEWHERE
        .iter()
        .find(|(word, _)| given.eq_ignore_ascii_case(word))
        .map(|(_, ours)| (*ours).to_owned())
        // clap puts the likeliest last.
        .or_else(|| all(error, C::SuggestedSubcommand).pop())
        .or_else(|| nearest(&given));
    let remedy = match near {
        Some(near) => format!("did you mean `{near}`? `glassctl help` lists the commands"),
        None => "`glassctl help` lists the commands".to_owned(),
    };
    (message, remedy)
}

/// The command nearest in spelling, whatever the case and the dashes.
fn nearest(given: &str) -> Option<String> {
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    let given = plain(given);
    Cli::command()
        .get_subcommands()
        .map(|command| {
            (strsim::jaro_winkler(&plain(command.get_name()), &given), command.get_name().to_owned())
        })
        .filter(|(likeness, _)| *likeness >= 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

fn unknown_argument(error: &clap::Error) -> (String, String) {
    let given = first(error, C::InvalidArg).unwrap_or_default();
    if !given.starts_with('-') || given.len() < 2 {
        let remedy = "quote a text that has spaces in it; --help after the command shows what it takes";
        return ("there is one argument too many".to_owned(), remedy.to_owned());
    }
    let message = match is_word(given.trim_start_matches('-')) {
        true => format!("there is no option {given}"),
        false => "this is no option".to_owned(),
    };
    let near = first(error, C::SuggestedArg).map_or(String::new(), |near| format!("did you mean {near}? "));
    (message, format!("{near}what is meant as text and begins with a dash goes after `--`"))
}

/// Whether a text can stand in a message: it looks like a name that somebody mistyped, not like content.
fn is_word(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'))
}

fn all(error: &clap::Error, kind: C) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn first(error: &clap::Error, kind: C) -> Option<String> {
    all(error, kind).into_iter().next()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn wrong(args: &[&str]) -> (String, String) {
        let arguments: Vec<_> = ["glassctl"].iter().chain(args).map(OsString::from).collect();
        let error = Cli::read(&arguments).unwrap_err();
        match explain(&error) {
            NoCommand::Wrong(failure) => {
                assert_eq!(failure.exit_code(), 2, "{args:?}");
                (failure.error.message.clone(), failure.error.remedy.clone())
            }
            NoCommand::Print(text) => panic!("{args:?} printed {text}"),
        }
    }

    #[test]
    fn the_nearest_command_is_named() {
        for (given, near) in [
            ("clik", "`click`"),
            ("navgate", "`navigate`"),
            ("getTxt", "`get"),
            ("GETTEXT", "`get-text`"),
            ("listtargets", "`list"),
            ("snapshot", "`observe`"),
            ("goto", "`navigate`"),
        ] {
            let (message, remedy) = wrong(&[given]);
            assert!(message.contains(given) && remedy.contains(near), "{given}: {message} / {remedy}");
        }
    }

    #[test]
    fn the_nearest_option_and_value_are_named() {
        assert!(wrong(&["click", "e1", "--timeout", "5"]).1.contains("--timeout-ms"));
        assert!(wrong(&["click", "e1", "--buton", "left"]).1.contains("--button"));
        assert!(wrong(&["click", "e1", "--button", "lef"]).1.contains("left"));
        assert!(wrong(&["observe", "--jsn"]).1.contains("--json"));
    }

    #[test]
    fn what_was_given_as_content_is_not_repeated() {
        for args in [
            &["fill", "label=Password", "hunter2", "hunter3"][..],
            &["click", "role=hunter2;name=\"x"],
            &["click", "e1", "--timeout-ms", "hunter2"],
            &["click", "e1", "--button", "hunter2"],
            &["observe", "--depth", "hunter2"],
            &["wait", "hunter2"],
            &["key", "hunter2"],
            &["--session", "hunter2 x", "observe"],
            &["fill", "e1", "--hunter2 and more"],
            &["my secret hunter2"],
        ] {
            let (message, remedy) = wrong(args);
            assert!(!message.contains("hunter2") && !remedy.contains("hunter2"), "{message} / {remedy}");
        }
    }

    #[test]
    fn help_on_an_unknown_command_is_an_error() {
        for args in
            [&["clik", "--help"][..], &["help", "clik"], &["session", "lst", "--help"], &["--hlep"], &[]]
        {
            wrong(args);
        }
    }

    #[test]
    fn bounds_are_told() {
        let (message, _) = wrong(&["click", "e1", "--timeout-ms", "0"]);
        assert!(message.contains("300000"), "{message}");
        assert!(wrong(&["fill"]).0.contains("<TARGET>"));
    }
}
