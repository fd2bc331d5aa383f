//! The steps of a batch as people write them: commands, one a line, or JSON (contract 12.6).

use std::path::PathBuf;

use clap::{Command, FromArgMatches as _, Subcommand as _};
use glass_proto::AnyOperation;
use glass_proto::op::{Batch, CallOptions, OperationCommand, Step};
use serde_json::{Map, Value};

use crate::error::Failure;

/// Reads what the file of a batch held into its steps.
///
/// # Errors
/// `invalid_argument`: which line or part is wrong, never what it holds.
pub(super) fn read(operation: &mut AnyOperation, options: &mut CallOptions) -> Result<(), Failure> {
    let AnyOperation::Batch(batch) = operation else { return Ok(()) };
    let text = std::mem::take(&mut batch.text);
    match text.trim_start().as_bytes().first() {
        Some(b'[') => batch.steps = list(&text)?,
        Some(b'{') => whole(&text, batch, options)?,
        _ => batch.steps = lines(&text)?,
    }
    Ok(())
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::invalid(message, "see `glassctl batch --help`")
}

fn no_json(error: &serde_json::Error) -> Failure {
    let (line, column) = (error.line(), error.column());
    wrong(format!("the steps are no JSON list of objects with an `operation`: line {line}, column {column}"))
}

fn list(text: &str) -> Result<Vec<Step>, Failure> {
    serde_json::from_str(text).map_err(|error| no_json(&error))
}

/// The object that `glass --mcp` takes: what the command line says beside it must not be said again.
fn whole(text: &str, batch: &mut Batch, options: &mut CallOptions) -> Result<(), Failure> {
    let mut object: Map<String, Value> = serde_json::from_str(text).map_err(|error| no_json(&error))?;
    if let Some(revision) = object.remove("expectedRevision") {
        if options.expected_revision.is_some() {
            return Err(wrong("expectedRevision is given by an option and in the file; give one of them"));
        }
        let revision = serde_json::from_value(revision);
        options.expected_revision =
            Some(revision.map_err(|_| wrong("expectedRevision is a whole number from 1 on"))?);
    }
    let plain = Batch { steps: Vec::new(), file: None, text: String::new(), ..batch.clone() };
    if plain != Batch::default() && ["mode", "atomic", "budgetMs"].iter().any(|key| object.contains_key(*key))
    {
        return Err(wrong("mode, atomic and budgetMs are given by options or in the file, not by both"));
    }
    let read: Batch = serde_json::from_value(Value::Object(object)).map_err(|error| no_json(&error))?;
    *batch = match plain == Batch::default() {
        true => read,
        false => Batch { steps: read.steps, ..plain },
    };
    Ok(())
}

/// One command a line, quoted as in a shell; empty lines and those that begin with `#` are nothing.
fn lines(text: &str) -> Result<Vec<Step>, Failure> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    let steps = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let command = Command::new("batch").no_binary_name(true).subcommand_required(true);
    let mut command = OperationCommand::augment_subcommands(command);
    let mut of_line =
        |(number, line)| of_line(&mut command, line).map_err(|why| wrong(format!("line {number}: {why}")));
    steps.map(&mut of_line).collect()
}

fn of_line(command: &mut Command, line: &str) -> Result<Step, String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let matches = command.try_get_matches_from_mut(words).map_err(|error| described(&error))?;
    let command = OperationCommand::from_arg_matches(&matches).map_err(|error| described(&error))?;
    let (mut operation, options) = command.split();
    if matches!(operation, AnyOperation::Batch(_)) {
        return Err("a batch holds no batch".to_owned());
    }
    if operation.text_input().is_some_and(|input| input.text == "-" || input.file.is_some()) {
        return Err("a step takes its text from the line, not from standard input or a file".to_owned());
    }
    if matches!(&operation, AnyOperation::Events(events) if events.follow) {
        return Err("a step has an end, and --follow has none".to_owned());
    }
    let places = taken(&mut operation);
    let mut step = Step::of(&operation, &options).map_err(|_| "it cannot be passed on".to_owned())?;
    for (name, place) in [(OUTPUT, places.output), (ARTIFACTS, places.artifacts)] {
        if let Some(place) = place {
            let place = place.into_os_string().into_string().map_err(|_| "a path is no text".to_owned())?;
            step.arguments.insert(name.to_owned(), place.into());
        }
    }
    Ok(step)
}

/// Arguments of steps that are for glassctl alone: where files go.
const OUTPUT: &str = "output";
const ARTIFACTS: &str = "artifacts";

/// Where the files of a step go.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// A picture, a page or a body.
    pub(super) output: Option<PathBuf>,
    /// What a script keeps.
    pub(super) artifacts: Option<PathBuf>,
}

/// Takes them out of an operation.
fn taken(operation: &mut AnyOperation) -> Places {
    let output = match operation {
        AnyOperation::Screenshot(of) => of.output.take(),
        AnyOperation::Observe(of) => of.output.take(),
        AnyOperation::ExportPage(of) => of.output.take(),
        AnyOperation::NetworkBody(of) => {
            // The whole of it goes into a file.
            of.as_resource |= of.output.is_some();
            of.output.take()
        }
        _ => None,
    };
    let artifacts = match operation {
        AnyOperation::Evaluate(of) => of.artifacts.take(),
        _ => None,
    };
    Places { output, artifacts }
}

/// Takes out of the steps where their files go: each operation as it is alone, with its number.
///
/// # Errors
/// `invalid_argument`: which step takes no such place.
pub(super) fn places(batch: &mut Batch) -> Result<Vec<(u32, AnyOperation, Places)>, Failure> {
    let mut all = Vec::new();
    for (number, step) in (1..).zip(&mut batch.steps) {
        let mut place = |name: &str| match step.arguments.remove(name) {
            None => Ok(None),
            Some(Value::String(path)) => Ok(Some(PathBuf::from(path))),
            Some(_) => Err(wrong(format!("step {number}: {name} is a path"))),
        };
        let places = Places { output: place(OUTPUT)?, artifacts: place(ARTIFACTS)? };
        if places.output.is_some() && step.name() == "networkBody" {
            step.arguments.insert("asResource".to_owned(), true.into());
        }
        let decoded = step.decode().map_err(|error| wrong(format!("step {number}: {error}")))?;
        let mut operation = decoded.0;
        let fits = match &mut operation {
            AnyOperation::Screenshot(of) => give(&mut of.output, &places.output),
            AnyOperation::Observe(of) if of.include_screenshot => give(&mut of.output, &places.output),
            AnyOperation::ExportPage(of) => give(&mut of.output, &places.output),
            AnyOperation::NetworkBody(of) => give(&mut of.output, &places.output),
            _ => places.output.is_none(),
        };
        if !fits || (places.artifacts.is_some() && !matches!(operation, AnyOperation::Evaluate(_))) {
            return Err(wrong(format!("step {number}: it writes no file to a place that is named")));
        }
        all.push((number, operation, places));
    }
    Ok(all)
}

fn give(to: &mut Option<PathBuf>, place: &Option<PathBuf>) -> bool {
    to.clone_from(place);
    true
}

/// What clap says of it, without what was given.
fn described(error: &clap::Error) -> String {
    use clap::error::ErrorKind as Kind;
    match error.kind() {
        Kind::InvalidSubcommand | Kind::MissingSubcommand => "there is no such operation".to_owned(),
        Kind::UnknownArgument => "it takes no such argument".to_owned(),
        Kind::MissingRequiredArgument | Kind::TooFewValues => "an argument is missing".to_owned(),
        Kind::ArgumentConflict => "two of its arguments exclude each other".to_owned(),
        Kind::DisplayHelp | Kind::DisplayVersion => "help is no step".to_owned(),
        _ => "an argument has no value that fits".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(text: &str) -> Result<(Batch, CallOptions), String> {
        let mut operation = AnyOperation::Batch(Batch { text: text.to_owned(), ..Batch::default() });
        let mut options = CallOptions::default();
        read(&mut operation, &mut options).map_err(|failure| failure.error.message.clone())?;
        let AnyOperation::Batch(batch) = operation else { panic!("another operation") };
        batch.check_steps().map(|()| (batch, options))
    }

    trait Check {
        fn check_steps(&self) -> Result<(), String>;
    }

    impl Check for Batch {
        fn check_steps(&self) -> Result<(), String> {
            glass_proto::op::Operation::check(self).map_err(|error| error.to_string())
        }
    }

    // contract: 6, 12.6
    #[test]
    fn lines_lists_and_objects_are_the_same_steps() {
        let lines = "# a comment\n\nfill 'label=First name' \"Ann O'Hara\" --timeout-ms 900\nclick Save\n";
        let list = r#"[{"operation":"fill","target":"label=First name","text":"Ann O'Hara","timeoutMs":900},
            {"operation":"click","target":"Save"}]"#;
        let decoded = |text: &str| batch(text).unwrap().0.decoded().unwrap();
        assert_eq!(decoded(lines), decoded(list));
        let (whole, options) =
            batch(&format!(r#"{{"steps":{list},"mode":"chain","expectedRevision":7,"atomic":true}}"#))
                .unwrap();
        assert_eq!(whole.decoded().unwrap(), decoded(list));
        assert_eq!(options.expected_revision.map(u64::from), Some(7));
        assert!(whole.atomic);
    }

    // contract: 6
    #[test]
    fn where_files_go_is_taken_out_of_steps_written_either_way() {
        let lines = "screenshot -o a.png\nevaluate 1 --artifacts kept\nclick Save\nnetwork-body r1 -o b.bin";
        let list = r#"[{"operation":"screenshot","output":"a.png"},{"operation":"evaluate","expression":"1","artifacts":"kept"},
            {"operation":"click","target":"Save"},{"operation":"networkBody","requestId":"r1","output":"b.bin"}]"#;
        let of = |text: &str| {
            let mut operation = AnyOperation::Batch(Batch { text: text.to_owned(), ..Batch::default() });
            read(&mut operation, &mut CallOptions::default())
                .unwrap_or_else(|failure| panic!("{}", failure.error.message));
            let AnyOperation::Batch(mut batch) = operation else { panic!("another operation") };
            let all = places(&mut batch).unwrap_or_else(|failure| panic!("{}", failure.error.message));
            batch.check_steps().unwrap();
            (all, batch)
        };
        let (all, batch) = of(lines);
        assert_eq!((all.len(), batch.decoded().unwrap()), (4, of(list).1.decoded().unwrap()));
        assert_eq!(all[0].2.output, Some("a.png".into()));
        assert_eq!(all[1].2.artifacts, Some("kept".into()));
        assert!(
            matches!(&all[3].1, AnyOperation::NetworkBody(body) if body.as_resource && body.output.is_some())
        );
        for bad in [
            r#"[{"operation":"click","target":"a","output":"x"}]"#,
            r#"[{"operation":"screenshot","output":5}]"#,
        ] {
            let mut batch = Batch { steps: list_of(bad), ..Batch::default() };
            assert!(places(&mut batch).is_err(), "{bad}");
        }
    }

    fn list_of(text: &str) -> Vec<Step> {
        list(text).unwrap_or_default()
    }

    #[test]
    fn lines_know_nothing_of_each_other() {
        let lines = "click A --timeout-ms 5\nclick B\nget-dom\nclick C --button right\nclick D";
        let (batch, _) = batch(lines).unwrap();
        let of = |at: usize| serde_json::to_value(&batch.steps[at]).unwrap();
        assert_eq!((of(0)["timeoutMs"].as_u64(), of(1)["timeoutMs"].as_u64()), (Some(5), None));
        assert_eq!((&of(2)["operation"], &of(3)["button"]), (&"getDOM".into(), &"right".into()));
        assert_ne!(of(4)["button"], "right");
    }

    #[test]
    fn what_is_wrong_is_told_by_its_place_and_without_values() {
        for (text, part) in [
            ("", "1 to 32"),
            ("click 'hunter2", "line 1"),
            ("back\nfly hunter2", "line 2"),
            ("click hunter2=x", "line 1"),
            ("click a hunter2", "line 1"),
            ("fill a -", "line 1"),
            ("batch hunter2", "line 1"),
            ("[{\"operation\":5}]", "line 1"),
            ("{\"steps\":[],\"hunter2\":1}", "JSON"),
        ] {
            let error = batch(text).unwrap_err();
            assert!(error.contains(part) && !error.contains("hunter2"), "{text}: {error}");
        }
    }
}
