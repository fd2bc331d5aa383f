//! What programs may rely on within schema 1 (user reports, entry 83): fields only come, they never go or change.
//!
//! `schema-1.txt` has every field that was ever promised. New ones are added to it by the test; what a definition no
//! longer holds fails, and is not written away. A field that no release had yet may be taken out of the file by hand.

use std::collections::BTreeMap;

use glass_proto::op::{OPERATIONS, written_schema};
use glass_proto::result::Evidence;
use serde_json::Value;

use super::rows::rows;
use crate::schemas;

const PLACE: &str = "cli/src/reference/schema-1.txt";

/// Whether a program writes a thing or reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Parameters: what was taken must be taken, and nothing more may be needed.
    Given,
    /// Answers: what was there must be there.
    Answered,
}

/// One promise: whether the field is always there (or needed), and what it holds.
#[derive(Clone, Debug, PartialEq)]
struct Promise {
    required: bool,
    kind: String,
}

type Promises = BTreeMap<String, Promise>;

fn side(key: &str) -> Side {
    match key.starts_with("options ") || key.contains(".params ") {
        true => Side::Given,
        false => Side::Answered,
    }
}

fn promised() -> Promises {
    let mut all = Promises::new();
    let mut add = |name: &str, schema: &Value| {
        for row in rows(schema) {
            // Told once, not in every answer that holds it.
            if name == "evidence" || !row.path.contains("evidence.") {
                let promise = Promise { required: row.required, kind: row.kind };
                all.insert(format!("{name} {}", row.path), promise);
            }
        }
    };
    add("answer", &schemas::answer());
    add("options", &schemas::options());
    add("evidence", &written_schema::<Evidence>().to_value());
    for facts in OPERATIONS {
        let (params, result) = schemas::operation(facts.name);
        add(&format!("{}.params", facts.name), &params);
        add(&format!("{}.result", facts.name), &result);
    }
    all
}

fn read(text: &str) -> Promises {
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let key = parts.next()?.to_owned();
        let required = parts.next()? == "required";
        Some((key, Promise { required, kind: parts.next()?.to_owned() }))
    };
    text.lines().filter_map(line).collect()
}

fn write(promises: &Promises) -> String {
    let word = |required| if required { "required" } else { "optional" };
    promises.iter().map(|(key, one)| format!("{key}\t{}\t{}\n", word(one.required), one.kind)).collect()
}

/// What is broken, in words.
fn broken(old: &Promises, new: &Promises) -> Vec<String> {
    let mut broken = Vec::new();
    for (key, before) in old {
        let Some(after) = new.get(key) else {
            broken.push(format!("`{key}` is gone"));
            continue;
        };
        match side(key) {
            Side::Answered if before.required && !after.required => {
                broken.push(format!("`{key}` was always there"));
            }
            Side::Given if !before.required && after.required => broken.push(format!("`{key}` was optional")),
            _ => {}
        }
        if !holds(&before.kind, &after.kind) {
            broken.push(format!("`{key}` was {}, and is {}", before.kind, after.kind));
        }
    }
    for (key, after) in new {
        let operation = key.split(' ').next().unwrap_or_default();
        let known = old.keys().any(|other| other.split(' ').next() == Some(operation));
        // What is needed within something that may be left out, and is new itself, breaks nobody.
        let within = key.rsplit_once('.').map(|(outer, _)| outer).filter(|outer| outer.contains(' '));
        let needed = within.is_none_or(|outer| old.contains_key(outer));
        if side(key) == Side::Given && after.required && known && needed && !old.contains_key(key) {
            broken.push(format!("`{key}` is new and needed, so older calls fail"));
        }
    }
    broken
}

/// Whether what was so before may become so: words may come, bounds may move, nothing else changes.
fn holds(before: &str, after: &str) -> bool {
    if before.contains('`') {
        return before.split(", ").all(|word| after.split(", ").any(|other| other == word));
    }
    let base = |kind: &str| kind.split(", ").next().unwrap_or_default().to_owned();
    base(before) == base(after)
}

#[test]
fn generated_promises_of_schema_1_only_grow() {
    let old = std::fs::read_to_string(super::root().join(PLACE)).unwrap_or_default();
    let (before, now) = (read(&old), promised());
    let broken = broken(&before, &now);
    assert!(
        broken.is_empty(),
        "error: programs that rely on schema 1 would break (user reports, 83): {broken:?}. Keep the field; or, if no \
         release had it, take its line out of {PLACE}"
    );
    super::current(&[(PLACE.into(), write(&now))].into(), &[]);
}

#[test]
fn what_breaks_a_program_is_told_and_what_is_added_is_not() {
    let old = read(
        "x.result a\trequired\tstring\nx.result b\toptional\t`p`, `q`\nx.params c\toptional\tinteger, 1 to 9\n",
    );
    let more = "x.result d\trequired\tstring\nx.params e\toptional\tstring\ny.params f\trequired\tstring\n\
        x.params g\toptional\tobject\nx.params g.h\trequired\tinteger\n";
    let grown = "x.result a\trequired\tstring\nx.result b\trequired\t`p`, `q`, `r`\nx.params c\toptional\tinteger, 0 to 10\n";
    assert_eq!(broken(&old, &read(&format!("{grown}{more}"))), Vec::<String>::new());
    for (bad, word) in [
        (
            "x.result a\toptional\tstring\nx.result b\toptional\t`p`, `q`\nx.params c\toptional\tinteger\n",
            "always",
        ),
        (
            "x.result a\trequired\tstring\nx.result b\toptional\t`p`\nx.params c\toptional\tinteger\n",
            "was `p`, `q`",
        ),
        (
            "x.result a\trequired\tstring\nx.result b\toptional\t`p`, `q`\nx.params c\trequired\tinteger\n",
            "optional",
        ),
        ("x.result a\trequired\tstring\nx.params c\toptional\tinteger\n", "gone"),
        (
            "x.result a\trequired\tobject\nx.result b\toptional\t`p`, `q`\nx.params c\toptional\tinteger\n",
            "object",
        ),
    ] {
        let found = broken(&old, &read(bad));
        assert!(found.len() == 1 && found[0].contains(word), "{word}: {found:?}");
    }
    let needed = format!("{}x.params z\trequired\tstring\n", write(&old));
    assert_eq!(broken(&old, &read(&needed)).len(), 1);
}
