//! `docs/reference/operations.md` with one page for each operation, and `docs/reference/call-options.md`.

use clap::{Arg, Command};
use glass_proto::op::{
    AnyOperation, CallOptions, Capability, Effect, Facts, Lane, Needs, OPERATIONS, schema, written_schema,
};
use glass_proto::result::Evidence;
use serde_json::Value;

use super::command_line::{about, arguments, command, meaning, spelled, usage};
use super::markdown::{Table, code, prose};
use super::rows::{Row, rows};
use super::{Files, MARK};

pub(super) fn files() -> Files {
    let command = command();
    let mut files = Files::new();
    let mut all = Table::new(&["operation", "command", "what it does"]);
    let mut sorted: Vec<_> = OPERATIONS.iter().collect();
    // By the alphabet: pages that two people add at once merge by themselves more often.
    sorted.sort_by_key(|facts| facts.name);
    for facts in sorted {
        let sub = command.find_subcommand(facts.name).expect("each operation is a command");
        let name = sub.get_name();
        let (short, _) = about(sub);
        all.row(&[&format!("[`{}`](operations/{name}.md)", facts.name), &code(name), &prose(&short)]);
        files.insert(format!("docs/reference/operations/{name}.md").into(), page(facts, sub));
    }
    files.insert("docs/reference/operations.md".into(), format!("{MARK}{}\n{}", INDEX, all.text()));
    files.insert("docs/reference/call-options.md".into(), options(&command));
    files.insert("docs/reference/evidence.md".into(), evidence());
    files
}

const INDEX: &str = "# Operations

What can be asked of a session. Each page tells the parameters, the command line and the answer. `glassctl help COMMAND`
says the same of the command line, and `glassctl schema OPERATION` prints the JSON schemas, which are also in
[schemas/](schemas/answer.json). Every operation takes the [call options](call-options.md) too.
";

fn page(facts: &Facts, sub: &Command) -> String {
    let (short, long) = about(sub);
    let (params, result) = AnyOperation::schemas(facts.name).expect("each operation has schemas");
    let mut page = format!("{MARK}# {}\n\n{}.\n", facts.name, prose(&short));
    if !long.is_empty() {
        page.push_str(&format!("\n{}\n", prose(&long)));
    }
    page.push_str(&format!("\n```\n{}\n```\n", usage(sub)));
    page.push_str(&format!("\n{}", about_facts(facts)));
    page.push_str(&format!("\n## Parameters\n\n{}", parameters(&params.to_value(), sub)));
    page.push_str(&format!("\n## Answer\n\nThe fields of `result`.\n\n{}", answer(&result.to_value())));
    page
}

fn about_facts(facts: &Facts) -> String {
    let mut table = Table::new(&["fact", ""]);
    let effect = match facts.effect {
        Effect::Read => "reads only",
        Effect::Mutation => "can have an effect",
    };
    table.row(&["effect", effect]);
    table.row(&["capability", &code(Capability::name(facts.capability))]);
    let lane = match facts.lane {
        Lane::Page => "page: one at a time in a session, in the order of arrival",
        Lane::Watch => "watch: beside the others; blocks nothing",
        Lane::Control => "control: at once, also while an operation runs or a page spins",
    };
    table.row(&["lane", lane]);
    let needs = match facts.needs {
        Needs::StartsSession => "nothing; begins the session where there is none",
        Needs::OpenPage => "a page that somebody opened",
    };
    table.row(&["needs", needs]);
    table
        .row(&["deadline", &format!("{} ms unless `--timeout-ms` names another", facts.timeout.as_millis())]);
    let taken = |takes| if takes { "taken" } else { "refused" };
    table.row(&["`expectedRevision`", taken(facts.guarded)]);
    table.row(&["`targetId`", taken(facts.targeted)]);
    table.text().to_owned()
}

/// The parameters in JSON and on the command line, side by side.
fn parameters(schema: &Value, sub: &Command) -> String {
    let rows = rows(schema);
    let ours: Vec<&Arg> = arguments(sub).filter(|arg| !is_call_option(arg)).collect();
    if rows.is_empty() && ours.is_empty() {
        return "None.\n".to_owned();
    }
    let mut table = Table::new(&["parameter", "command line", "takes", "unless given", "meaning"]);
    for row in &rows {
        let arg = ours.iter().find(|arg| camel_case(arg.get_id().as_str()) == row.path);
        let otherwise = match (&schema["properties"][&row.path]["default"], row.required) {
            (_, true) => "required".to_owned(),
            (Value::Null, false) => String::new(),
            (value, false) => code(&value.to_string()),
        };
        let line = arg.map_or(String::new(), |arg| code(&spelled(arg)));
        table.row(&[&code(&row.path), &line, &row.kind, &otherwise, &prose(&row.meaning)]);
    }
    for arg in ours {
        let name = camel_case(arg.get_id().as_str());
        if !rows.iter().any(|row| row.path == name) {
            table.row(&["", &code(&spelled(arg)), "", "", &prose(&meaning(arg))]);
        }
    }
    table.text().to_owned()
}

fn answer(schema: &Value) -> String {
    let mut rows = rows(schema);
    // One page for all, since a new field of it would change every page else.
    rows.retain(|row| !row.path.contains("evidence."));
    for row in rows.iter_mut().filter(|row| row.path.ends_with("evidence")) {
        row.kind = "[evidence](../evidence.md)".to_owned();
    }
    fields(rows)
}

fn fields(rows: Vec<Row>) -> String {
    let mut table = Table::new(&["field", "holds", "there", "meaning"]);
    for row in rows {
        let always = if row.required { "always" } else { "where it applies" };
        table.row(&[&code(&row.path), &row.kind, always, &prose(&row.meaning)]);
    }
    table.text().to_owned()
}

fn evidence() -> String {
    format!(
        "{MARK}# Evidence\n\nWhat was measured of an effect: the before-state ahead of dispatch, the after-state once the page \
         has settled. A field that was not measured is absent, never `false`.\n\n{}",
        fields(rows(&written_schema::<Evidence>().to_value()))
    )
}

fn options(command: &Command) -> String {
    let sub = command.find_subcommand(OPERATIONS[0].name).expect("each operation is a command");
    let mut table = Table::new(&["option", "command line", "takes", "meaning"]);
    for row in rows(&schema::<CallOptions>().to_value()) {
        let arg = arguments(sub).find(|arg| camel_case(arg.get_id().as_str()) == row.path);
        // What is hidden from the help is not there yet.
        let Some(arg) = arg else { continue };
        table.row(&[&code(&row.path), &code(&spelled(arg)), &row.kind, &prose(&row.meaning)]);
    }
    format!(
        "{MARK}# Call options\n\nTaken by every operation beside its own parameters. An option that an operation cannot \
         go by is refused, never ignored.\n\n{}",
        table.text()
    )
}

fn is_call_option(arg: &Arg) -> bool {
    let options = schema::<CallOptions>().to_value();
    options["properties"].get(camel_case(arg.get_id().as_str())).is_some()
}

fn camel_case(id: &str) -> String {
    let mut parts = id.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut done, part| {
        let mut letters = part.chars();
        done.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        done + letters.as_str()
    })
}
