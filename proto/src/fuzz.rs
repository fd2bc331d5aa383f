//! Fuzz targets: whatever a caller, a page or a peer sends is answered with a value or an error, never with a panic, and
//! what is shown holds nothing that a terminal would act on.

use prost::Message;
use serde_json::Value;

use crate::error::OpError;
use crate::escape::{is_hidden, visible};
use crate::op::locator::Locator;
use crate::op::{AnyOperation, CallOptions, Chord, Condition, OPERATIONS, Ref};
use crate::redact;
use crate::result::{Answer, error_text};
use crate::wire;

const LOCATOR: &[&str] = &[
    "role=button",
    ";name=",
    ";level=2",
    ";checked=true",
    ";expanded=false",
    "text=~",
    "label=",
    "css=",
    "xpath=",
    "ref=r7:",
    "f2e3",
    "ordinal=1",
    "testid=\"",
    " >> ",
    "\\u00e9",
    "\\\"",
];

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// The word of an error without its texts, so that one error counts as one.
fn kind(error: &impl std::fmt::Debug) -> String {
    format!("{error:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

fn readable(shown: &str) {
    let bad = shown.chars().find(|letter| is_hidden(*letter) && *letter != '\n');
    assert_eq!(bad, None, "a terminal would act on this");
}

#[test]
fn fuzz_locators() {
    glass_fuzz::run("locator", LOCATOR, |input| match text(input).parse::<Locator>() {
        Ok(locator) => {
            let printed = locator.to_string();
            // What is printed may be longer than what was read, by its quotes and escapes.
            if printed.len() <= crate::op::locator::MAX_LOCATOR {
                assert_eq!(printed.parse::<Locator>().as_ref(), Ok(&locator), "{printed}");
            }
            format!("{} {}", locator.scopes.len(), kind(&locator.step))
        }
        Err(error) => {
            readable(&error.to_string());
            kind(&error)
        }
    });
}

#[test]
fn fuzz_conditions() {
    let words = [&["text=", "title=", "url=", "visible=", "hidden=", "js=", "count="], LOCATOR].concat();
    glass_fuzz::run("condition", &words, |input| match text(input).parse::<Condition>() {
        Ok(condition) => {
            let printed = condition.to_string();
            if printed.len() <= crate::op::locator::MAX_LOCATOR {
                assert_eq!(printed.parse::<Condition>().as_ref(), Ok(&condition), "{printed}");
            }
            kind(&condition)
        }
        Err(error) => kind(&error),
    });
}

#[test]
fn fuzz_keys_and_refs() {
    glass_fuzz::run("chord", &["Control+", "Shift+", "Enter", "ArrowDown", "r7:", "f1", "e2"], |input| {
        let text = text(input);
        let reference = text.parse::<Ref>().map(|found| {
            assert_eq!(found.to_string().parse::<Ref>(), Ok(found));
        });
        match text.parse::<Chord>() {
            Ok(chord) => {
                assert_eq!(chord.to_string().parse::<Chord>().as_ref(), Ok(&chord));
                format!("{} {}", chord.modifiers.len(), kind(&chord.key))
            }
            Err(error) => format!("{} {}", kind(&error), reference.is_ok()),
        }
    });
}

/// The first line names an operation, the rest are its parameters.
#[test]
fn fuzz_parameters() {
    let names: Vec<&str> = OPERATIONS.iter().map(|facts| facts.name).collect();
    glass_fuzz::run("params", &names, |input| {
        let input = text(input);
        let (name, json) = input.split_once('\n').unwrap_or(("", &input));
        let options = CallOptions::decode(json.as_bytes()).map(|options| {
            let again = CallOptions::decode(&options.encode().expect("options can be written"));
            assert_eq!(again.expect("what is written can be read"), options);
        });
        match AnyOperation::decode(name, json.as_bytes()) {
            Ok(mut operation) => {
                let _ = operation.text_input();
                let again = AnyOperation::decode(name, &operation.encode().expect("it can be written"));
                assert_eq!(again.expect("what is written can be read"), operation);
                format!("{name} {}", options.is_ok())
            }
            Err(error) => {
                assert!(error.to_string().len() < 4096);
                format!("{name} {}", kind(&error))
            }
        }
    });
}

/// The first line names an operation, the rest is its answer.
#[test]
fn fuzz_answers() {
    let operations: Vec<AnyOperation> = read_operations();
    let names: Vec<&str> = OPERATIONS.iter().map(|facts| facts.name).collect();
    let words = [&names[..], &["\\u001b[2J", "\\u202e", "\\n", "\\u0007"]].concat();
    glass_fuzz::run("answer", &words, |input| {
        let input = text(input);
        let (name, json) = input.split_once('\n').unwrap_or(("", &input));
        if let Ok(error) = serde_json::from_str::<OpError>(json) {
            readable(&error_text(&error));
        }
        let Some(operation) = operations.iter().find(|one| one.name() == name) else {
            return "no operation".to_owned();
        };
        match Answer::decode(operation, json.as_bytes()) {
            Ok(answer) => {
                readable(&answer.text());
                kind(&answer)
            }
            Err(_) => format!("{name} error"),
        }
    });
}

/// One of each that the examples of `params` hold.
fn read_operations() -> Vec<AnyOperation> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/params");
    let files = std::fs::read_dir(corpus).expect("the examples of parameters");
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        let (name, json) = text.split_once('\n')?;
        AnyOperation::decode(name, json.as_bytes()).ok()
    };
    files.filter_map(|file| read(file.ok()?.path())).collect()
}

#[test]
fn fuzz_the_wire() {
    glass_fuzz::run("wire", &[], |input| {
        let event = wire::client::ExecuteEvent::decode(input).is_ok();
        let request = wire::client::ExecuteRequest::decode(input).is_ok();
        let hello = wire::client::Hello::decode(input);
        let worker = wire::worker::ExecuteRequest::decode(input).is_ok();
        let checked = hello
            .ok()
            .map(|hello| wire::client::Hello::check(Some(hello)).map_err(|error| kind(&error)).err());
        format!("{event} {request} {worker} {checked:?}")
    });
}

#[test]
fn fuzz_text_for_terminals() {
    glass_fuzz::run("escape", &["\u{1b}[31m", "\u{9b}", "\u{2066}", "\u{e0001}", "\r", "\u{7f}"], |input| {
        let text = text(input);
        let shown = visible(&text, false);
        assert!(!shown.chars().any(is_hidden), "{shown:?}");
        readable(&visible(&text, true));
        for most in [0, 1, 5, 160] {
            let cut = crate::escape::cut(&text, most);
            assert!(cut.len() <= most.max(3), "{} bytes for {most}", cut.len());
        }
        let json = serde_json::from_slice::<Value>(input).is_ok();
        format!("{} {json}", shown.len() == text.len())
    });
}

/// The first line is a secret, the rest an answer that may hold it, or a text with addresses.
#[test]
fn fuzz_redaction() {
    let words = [
        "very-secret",
        "\\u0076ery-secret",
        "https://u:p@x.test/?k=v#f",
        "?token=",
        "%20",
        "\\\"",
        "\\\\",
        "[secret:S]",
    ];
    glass_fuzz::run("redact", &words, |input| {
        let input = text(input);
        let (secret, rest) = input.split_once('\n').unwrap_or(("", &input));
        readable(&redact::text(rest));
        readable(&redact::address(rest));
        let before = serde_json::from_str::<Value>(rest);
        let told = redact::secrets(rest.as_bytes().to_vec(), &[("S", secret)]);
        let changed = told != rest.as_bytes();
        assert!(!changed || secret.len() >= redact::SHORTEST);
        let Ok(before) = before else { return format!("no JSON {changed}") };
        let after: Value = serde_json::from_slice(&told).expect("JSON stays JSON");
        assert_eq!(std::mem::discriminant(&before), std::mem::discriminant(&after));
        if secret.len() >= redact::SHORTEST && !"[secret:S]".contains(secret) {
            assert!(!holds(&after, secret), "{after}");
        }
        format!("{changed}")
    });
}

fn holds(told: &Value, secret: &str) -> bool {
    match told {
        Value::String(text) => text.contains(secret),
        Value::Array(items) => items.iter().any(|item| holds(item, secret)),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.contains(secret) || holds(value, secret))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
