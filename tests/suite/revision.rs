//! Every kind of change that DESIGN 6 lists moves the revision, or the guard catches it.
//!
//! A MutationObserver alone misses most of them, which is why each stands here by itself.

use glass_tests::{Stage, holds};
use std::time::Duration;

/// What is changed, the script that changes it, and the element that a guarded click goes to.
const KINDS: &[(&str, &str)] = &[
    ("text", "words.textContent = 'other words'"),
    ("a new row", "area.append(Object.assign(document.createElement('button'), {textContent: 'New'}))"),
    ("a removed row", "document.getElementById('extra').remove()"),
    ("name by attribute", "document.getElementById('labelled').setAttribute('aria-label', 'Else')"),
    ("name by text", "document.getElementById('plain').textContent = 'Else'"),
    ("role", "document.getElementById('plain').setAttribute('role', 'link')"),
    ("live value", "field.value = 'typed'"),
    ("live value of a text area", "area2.value = 'typed'"),
    ("checked", "box.checked = true"),
    ("indeterminate", "box.indeterminate = true"),
    ("a radio's checked", "radio2.checked = true"),
    ("selectedIndex", "choice.selectedIndex = 1"),
    ("an option's text", "choice.options[0].textContent = 'Renamed'"),
    ("disabled", "document.getElementById('plain').disabled = true"),
    ("disabled by fieldset", "fields.disabled = true"),
    ("inert", "document.getElementById('region').inert = true"),
    ("aria-expanded", "document.getElementById('labelled').setAttribute('aria-expanded', 'true')"),
    ("hidden by style", "document.getElementById('region').style.display = 'none'"),
    ("hidden by a stylesheet rule", "document.styleSheets[0].insertRule('#region { visibility: hidden }')"),
    ("a stylesheet switched on", "document.getElementById('off').disabled = false"),
    (
        "an adopted stylesheet",
        "const s = new CSSStyleSheet(); s.replaceSync('#region { display: none }'); document.adoptedStyleSheets = [s]",
    ),
    ("popover", "pop.showPopover()"),
    ("modal dialog", "dialog.showModal()"),
    ("details opened", "details.open = true"),
    ("text in an open shadow root", "host.shadowRoot.querySelector('button').textContent = 'Else'"),
    ("live value in a shadow root", "host.shadowRoot.querySelector('input').value = 'typed'"),
    ("shadow root attached later", "late.attachShadow({mode: 'open'}).innerHTML = '<button>Shadow</button>'"),
    ("validity", "field.setCustomValidity('wrong')"),
    ("focus", "field.focus()"),
    ("hash", "location.hash = 'elsewhere'"),
    ("pushState", "history.pushState({}, '', '?pushed')"),
    ("replaceState", "history.replaceState({}, '', '?replaced')"),
    ("title", "document.title = 'Other title'"),
    ("a frame's text", "document.getElementById('frame').contentDocument.body.textContent = 'other'"),
    (
        "a frame's live value",
        "document.getElementById('frame').contentDocument.querySelector('input').value = 'typed'",
    ),
    (
        "a frame added",
        "region.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<button>In new frame</button>\"></iframe>')",
    ),
    ("editable text", "rich.textContent = 'typed'"),
    ("a progress value", "progress.value = 0.9"),
    ("a text node's data", "words.firstChild.data = 'other data'"),
    ("a slot's content", "slotted.assignedSlot === null; slotted.slot = 'nowhere'"),
];

// contract: 3.4 report: 101
#[test]
fn each_kind_of_change_moves_the_revision() {
    let stage = Stage::take();
    let mut missed = Vec::new();
    for (kind, change) in KINDS {
        let visit = stage.visit("changes.html");
        stage.ok(&["wait", "text=Frame words"]);
        let before = stage.revision();
        // Set from a timer, so that nothing of Glass runs in the moment of the change.
        stage.eval(&format!("setTimeout(() => {{ {change}; window.changed = true }}, 20)"));
        holds("the change", Duration::from_secs(10), || stage.eval("window.changed === true") == true);
        if stage.revision() <= before {
            missed.push(*kind);
        }
        drop(visit);
    }
    assert!(missed.is_empty(), "the revision did not move for: {missed:#?}");
}

// contract: 3.6 report: 101
#[test]
fn each_kind_of_change_is_caught_by_the_guard() {
    let stage = Stage::take();
    let mut missed = Vec::new();
    for (kind, change) in KINDS {
        let visit = stage.visit("changes.html");
        stage.ok(&["wait", "text=Frame words"]);
        let revision = stage.revision().to_string();
        stage.eval(&format!("setTimeout(() => {{ {change}; window.changed = true }}, 20)"));
        holds("the change", Duration::from_secs(10), || stage.eval("window.changed === true") == true);
        let answer = stage.ask(&[
            "click",
            "css=#guarded",
            "--expected-revision",
            &revision,
            "--guard-scope",
            "page",
            "--timeout-ms",
            "1500",
        ]);
        if answer.kind() != Some("stale_revision") || !visit.clicks().is_empty() {
            missed.push(format!("{kind}: {}", answer.json));
        }
    }
    assert!(missed.is_empty(), "the guard let through: {missed:#?}");
}

// contract: 3.4
#[test]
fn nothing_moves_the_revision_of_a_page_that_stands_still() {
    let (stage, _visit) = Stage::open("changes.html");
    stage.ok(&["wait", "text=Frame words"]);
    let before = stage.revision();
    for operation in [
        &["observe"][..],
        &["get-text"],
        &["find", "role=button"],
        &["screenshot"],
        &["list-targets"],
        &["evaluate", "1"],
    ] {
        stage.ok(operation);
        assert_eq!(stage.revision(), before, "{operation:?}");
    }
}
