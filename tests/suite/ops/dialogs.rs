//! `acceptDialog` and `dismissDialog`: a dialog is told at once, blocks only its page, and is answered at once.

use std::time::Duration;

use glass_tests::Stage;
use serde_json::Value;

fn dialog(result: &Value) -> &Value {
    let dialog = &result["evidence"]["dialog"];
    assert!(dialog.is_object(), "{result}");
    dialog
}

// contract: 5.5, 2.4 report: 34, 106, 111
#[test]
fn a_click_that_opens_a_dialog_returns_with_it() {
    let (stage, _visit) = Stage::open("dialogs.html");
    for (button, kind) in
        [("Alert", "alert"), ("Confirm", "confirm"), ("Prompt", "prompt"), ("On press", "alert")]
    {
        let answer = stage.ask(&["click", &format!("name={button}")]);
        assert_eq!(dialog(answer.result())["type"], kind, "{button}");
        assert!(answer.run.took < Duration::from_secs(4), "{button}: {}", answer.run);
        let accepted = stage.ask(&["accept-dialog"]);
        assert_eq!(accepted.result()["dialog"]["type"], kind);
        assert!(accepted.run.took < Duration::from_secs(2), "{button}: {}", accepted.run);
    }
}

// contract: 5.5 report: 34
#[test]
fn a_dialog_that_comes_right_after_the_click_is_told_by_it_or_by_the_next() {
    let (stage, _visit) = Stage::open("dialogs.html");
    let answer = stage.ask(&["click", "name=Later"]);
    if answer.result()["evidence"]["dialog"].is_null() {
        let error = stage.fails("dialog_blocked", &["get-text"]);
        assert!(error.to_string().contains("confirm"), "{error}");
    }
    assert_eq!(stage.ok(&["dismiss-dialog"])["dialog"]["type"], "confirm");
    assert_eq!(stage.eval("window.answers.join()"), "false");
}

// contract: 5.5
#[test]
fn while_a_dialog_is_open_page_operations_say_so_and_observe_shows_it() {
    let (stage, _visit) = Stage::open("dialogs.html");
    stage.ok(&["click", "name=Confirm"]);
    for operation in
        [&["click", "name=Alert"][..], &["get-text"], &["evaluate", "1"], &["fill", "css=input", "x"]]
    {
        let answer = stage.ask(operation);
        let error = answer.fails("dialog_blocked");
        assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
        assert!(answer.run.took < Duration::from_secs(2), "{}", answer.run);
    }
    let observed = stage.ok(&["observe"]);
    assert_eq!(observed["dialog"]["type"], "confirm", "{observed}");
    assert_eq!(observed["dialog"]["pageMessage"], "Sure?");
    stage.ok(&["list-targets"]);
    stage.ok(&["accept-dialog"]);
    assert_eq!(stage.eval("window.answers.join()"), "true");
}

// contract: 5.5
#[test]
fn a_prompt_takes_a_text_and_nothing_else_does() {
    let (stage, _visit) = Stage::open("dialogs.html");
    stage.ok(&["click", "name=Prompt"]);
    stage.ok(&["accept-dialog", "--prompt-text", "Ann é"]);
    stage.ok(&["click", "name=Prompt"]);
    stage.ok(&["dismiss-dialog"]);
    stage.ok(&["click", "name=Alert"]);
    let answer = stage.ask(&["accept-dialog", "--prompt-text", "x"]);
    assert_eq!(answer.error()["outcome"], "rejected", "{}", answer.run);
    stage.ok(&["accept-dialog"]);
    assert_eq!(stage.eval("JSON.stringify(window.answers)"), "[\"Ann é\",null]");
}

// contract: 5.5
#[test]
fn an_answer_to_an_old_dialog_or_to_none_is_rejected() {
    let (stage, _visit) = Stage::open("dialogs.html");
    let answer = stage.ask(&["accept-dialog"]);
    assert_eq!(answer.error()["outcome"], "rejected", "{}", answer.run);
    let result = stage.ok(&["click", "name=Alert"]);
    let old = dialog(&result)["dialogId"].as_str().expect("an id").to_owned();
    stage.ok(&["accept-dialog", "--dialog-id", &old]);
    stage.ok(&["click", "name=Confirm"]);
    let answer = stage.ask(&["accept-dialog", "--dialog-id", &old]);
    assert_eq!(answer.error()["outcome"], "rejected", "{}", answer.run);
    stage.ok(&["dismiss-dialog"]);
    assert_eq!(stage.eval("window.answers.join()"), "false");
}

// contract: 5.5, 5.7 report: 34
#[test]
fn the_mouse_is_clean_after_a_dialog_in_the_middle_of_a_press() {
    let (stage, visit) = Stage::open("dialogs.html");
    stage.ok(&["click", "name=On press"]);
    stage.ok(&["accept-dialog"]);
    stage.ok(&["click", "name=Plain"]);
    assert_eq!(visit.clicks().last().map(String::as_str), Some("plain"));
    assert_eq!(stage.eval("window.buttons"), 0);
}

// contract: 5.5
#[test]
fn leaving_a_page_that_asks_back_does_not_hang() {
    let (stage, visit) = Stage::open("dialogs.html");
    stage.ok(&["click", "name=Ask before leaving"]);
    let answer = stage.ask(&["navigate", &visit.url("form.html")]);
    assert_eq!(answer.result()["page"]["title"], "A form");
    assert!(answer.run.took < Duration::from_secs(6), "{}", answer.run);
}

// contract: 5.5
#[test]
fn an_evaluate_that_a_dialog_withholds_is_unknown_with_the_dialog() {
    let (stage, _visit) = Stage::open("dialogs.html");
    let answer = stage.ask(&["evaluate", "confirm('In script')"]);
    let error = answer.fails("unknown_outcome");
    assert!(error.to_string().contains("In script") || error["reason"] == "dialog", "{error}");
    stage.ok(&["dismiss-dialog"]);
    assert_eq!(stage.eval("1 + 1"), 2);
}

// contract: 1.7
#[test]
fn status_and_list_answer_while_a_dialog_is_open() {
    let (stage, _visit) = Stage::open("dialogs.html");
    stage.ok(&["click", "name=Alert"]);
    for command in [&["daemon", "status"][..], &["session", "list"], &["session", "show", "default"]] {
        let answer = stage.ask(command);
        assert!(answer.run.took < Duration::from_secs(1), "{}", answer.run);
    }
    stage.ok(&["accept-dialog"]);
}

// contract: 5.5, 1.7 report: 34, 106
#[test]
fn a_dialog_of_a_page_that_shares_the_script_is_what_blocks_the_other() {
    let stage = Stage::take();
    let visit = glass_tests::site::site().visit();
    visit.serve("asks.html", "<!doctype html><title>Asks</title><script>alert('On load')</script>");
    visit.serve(
        "opens.html",
        "<!doctype html><title>Opens</title><button onclick=\"window.open('asks.html')\">Open</button>
         <button onclick=\"window.open('javascript:alert(2)')\">Script</button><button onclick=\"this.dataset.done = 1\">Beside</button>",
    );
    stage.go(&visit, "opens.html");
    for (button, message) in [("Open", "On load"), ("Script", "2")] {
        let opened = stage.ask(&["click", &format!("name={button}")]);
        assert!(opened.run.took < Duration::from_secs(4), "{}", opened.run);
        let popup = opened.result()["evidence"]["popups"][0]["targetId"].clone();
        let popup = popup.as_str().expect("a popup");
        let blocked = stage.ask(&["click", "name=Beside"]);
        let error = blocked.fails("dialog_blocked");
        assert!(blocked.run.took < Duration::from_secs(4), "{}", blocked.run);
        assert_eq!(
            (&error["details"]["dialog"]["targetId"], &error["details"]["dialog"]["pageMessage"]),
            (&popup.into(), &message.into()),
            "{error}"
        );
        assert_eq!((&error["outcome"], &error["dispatched"]), (&"rejected".into(), &"no".into()), "{error}");
        assert!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains(popup)), "{error}");
        stage.ok(&["accept-dialog", "--target-id", popup]);
        stage.ok(&["click", "name=Beside"]);
    }
    // One of another site blocks nobody.
    visit.serve(
        "far.html",
        "<!doctype html><title>Far</title><a target=_blank href='http://b.localhost:{{port}}/{{visit}}/asks.html'>Far</a><button>Beside</button>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "far.html")]);
    let opened = stage.ok(&["click", "name=Far"]);
    let popup = opened["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
    stage.fails("dialog_blocked", &["click", "text=Nothing", "--target-id", &popup]);
    stage.ok(&["click", "name=Beside"]);
    stage.ok(&["accept-dialog", "--target-id", &popup]);
}

// contract: 5.5, 2.1 report: 34
#[test]
fn a_dialog_that_opens_with_the_focus_of_a_field_comes_before_any_text() {
    let stage = Stage::take();
    stage.show(
        "<!doctype html><title>Focus</title><input aria-label=Field onfocus=\"alert('Focus')\"><select aria-label=List onfocus=\"alert('List')\"><option>a<option>b</select>",
    );
    for command in [
        &["fill", "label=Field", "words"][..],
        &["type", "--target", "label=Field", "words"],
        &["select", "label=List", "b"],
    ] {
        let error = stage.fails("dialog_blocked", command);
        assert_eq!((&error["outcome"], &error["dispatched"]), (&"failed".into(), &"yes".into()), "{error}");
        stage.ok(&["accept-dialog"]);
        stage.eval("document.activeElement.blur()");
        assert_eq!(
            stage.eval("[...document.querySelectorAll('input, select')].map((one) => one.value).join()"),
            ",a"
        );
    }
}
