//! Front-end stacks: small pages of real packages are filled, picked, ticked, dragged and submitted through glassctl, and
//! what Glass claims is held against the state that the framework itself holds.
//!
//! `make frontends` takes all of them, and prints how long each took; `make test` takes four. The packages come from npm
//! into the build directory. Where node or the registry is out of reach the run says so, and nothing was tested.

#![forbid(unsafe_code)]

mod packages;
mod stacks;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use glass_tests::site::Visit;
use glass_tests::{Stage, holds};
use serde_json::Value;

use stacks::{STACKS, Stack, Step};

/// How long a page may take to draw itself.
const DRAWN: Duration = Duration::from_secs(15);

// contract: 2.1, 5.3, 5.6
#[test]
fn what_glass_claims_is_what_the_framework_holds() {
    // `all`, `quick` (which `make test` takes), or names with commas between them.
    let wanted = std::env::var("GLASS_FRONTENDS").unwrap_or_else(|_| "quick".to_owned());
    let chosen: Vec<_> = STACKS
        .iter()
        .filter(|stack| match wanted.as_str() {
            "all" => true,
            "quick" => stack.quick,
            names => names.split(',').any(|name| name == stack.name),
        })
        .collect();
    assert!(!chosen.is_empty(), "no stack is called {wanted}");
    let names: Vec<_> = chosen.iter().map(|stack| stack.name).collect();
    let built = match packages::built(&names, chosen.iter().all(|stack| stack.quick)) {
        Ok(built) => built,
        Err(why) => return packages::left_out(&why),
    };
    let stage = Stage::take();
    let mut wrong = Vec::new();
    for stack in chosen {
        let since = Instant::now();
        let faults = work(&stage, &built, stack);
        println!("| {} | {} | {} ms |", stack.what, stack.steps.len(), since.elapsed().as_millis());
        wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", stack.name)));
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Goes through the steps of a stack, and says what was not as promised.
fn work(stage: &Stage, built: &Path, stack: &Stack) -> Vec<String> {
    let visit = served(built, stack.name);
    stage.go(&visit, &format!("{}.html", stack.name));
    holds("the page is drawn", DRAWN, || stage.eval("Boolean(window.state)") == true);
    let mut faults = Vec::new();
    for step in stack.steps {
        faults.extend(take(stage, step));
    }
    let untrusted = visit
        .events()
        .into_iter()
        .find(|event| !event.trusted && !matches!(event.kind.as_str(), "input" | "change"));
    faults.extend(untrusted.map(|event| format!("an event was no trusted one: {event:?}")));
    faults
}

fn take(stage: &Stage, step: &Step) -> Option<String> {
    let before = state(stage);
    let answer = stage.ask(step.command);
    let after = state(stage);
    let has = stage.eval(&format!("Boolean({})", step.then)) == true;
    let claims = &answer.json["result"]["evidence"]["valueMatches"];
    let fault = match (answer.kind(), step.fails) {
        (None, None) if has => return None,
        (None, _) if *claims == true && !has => "FALSE SUCCESS, valueMatches",
        (None, None) => "completed, and the framework does not hold it",
        (None, Some(_)) => "completed, and was to fail",
        (Some(kind), Some(wanted)) if kind == wanted && has => {
            let same = answer.json["error"]["outcome"] == "completed" || before == after;
            return (!same).then(|| format!("{:?}: told as without effect: {before} {after}", step.command));
        }
        (Some(_), _) => "failed",
    };
    Some(format!("{:?}: {fault}: not {}: {after} {}", step.command, step.then, answer.json))
}

fn state(stage: &Stage) -> Value {
    stage.eval("JSON.stringify(window.state)")
}

/// The files of a stack, on the site.
fn served(built: &Path, name: &str) -> Visit {
    let visit = glass_tests::site::site().visit();
    for (ending, media_type) in [("html", "text/html"), ("js", "text/javascript"), ("css", "text/css")] {
        let file = format!("{name}.{ending}");
        if let Ok(text) = fs::read_to_string(built.join(&file)) {
            visit.serve_with(&file, &text, &[("Content-Type", &format!("{media_type}; charset=utf-8"))]);
        }
    }
    visit
}
