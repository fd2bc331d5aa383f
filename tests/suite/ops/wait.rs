//! `wait`: returns when the page is so, beside everything else, or says that it did not come.

use std::time::Duration;

use glass_tests::{Stage, holds};

const LIMIT: Duration = Duration::from_secs(20);

// contract: 8.1
#[test]
fn each_condition_is_met_by_a_later_change() {
    let (stage, visit) = Stage::open("form.html");
    for (condition, change) in [
        ("text=now here", "out.textContent = 'it is now here'"),
        ("title=Other", "document.title = 'Other'"),
        ("visible=role=button;name=Late", "form.insertAdjacentHTML('beforeend', '<button>Late</button>')"),
        ("hidden=role=button;name=Late", "form.lastElementChild.style.display = 'none'"),
        ("url=URL", "location.hash = 'x'"),
    ] {
        let condition = condition.replace("URL", &visit.url("form.html#x"));
        let waiting = stage.begin(&["wait", &condition, "--timeout-ms", "15000"]);
        // The wait is beside: the change can be made by a page operation meanwhile.
        stage.eval(&format!("setTimeout(() => {{ {change} }}, 100)"));
        let answer = waiting.answer_within(LIMIT);
        assert!(answer.result()["waitedMs"].is_u64(), "{}", answer.run);
    }
}

// contract: 8.1
#[test]
fn what_already_holds_returns_at_once() {
    let (stage, visit) = Stage::open("form.html");
    for condition in [
        "text=Sign in".to_owned(),
        "title=A form".to_owned(),
        format!("url={}", visit.url("form.html")),
        "visible=Save".to_owned(),
        "hidden=Nothing".to_owned(),
    ] {
        let answer = stage.ask(&["wait", &condition]);
        assert!(answer.result()["waitedMs"].as_u64() < Some(1000), "{}", answer.run);
    }
}

// contract: 8.1, 2.6
#[test]
fn a_condition_that_never_holds_is_a_timeout_and_nothing_more() {
    let (stage, _visit) = Stage::open("form.html");
    for condition in ["text=never", "visible=role=button;name=Never", "hidden=Save", "title=Never"] {
        let answer = stage.ask(&["wait", condition, "--timeout-ms", "500"]);
        answer.fails("timeout");
        assert_eq!(answer.run.code, Some(6));
        assert!(answer.run.took < Duration::from_secs(4), "{}", answer.run);
    }
}

// contract: 8.1
#[test]
fn a_second_match_ends_a_wait_for_one() {
    let (stage, _visit) = Stage::open("twins.html");
    stage.fails("ambiguous_target", &["wait", "visible=role=button;name=Delete"]);
}

// contract: 8.1
#[test]
fn a_wait_survives_a_navigation() {
    let (stage, visit) = Stage::open("sections.html");
    let waiting = stage.begin(&["wait", "text=Sign in", "--timeout-ms", "15000"]);
    stage.go(&visit, "form.html");
    waiting.answer_within(LIMIT).result();
}

// contract: 1.7, 2.8 report: 63
#[test]
fn a_wait_whose_client_is_killed_is_over() {
    let (stage, _visit) = Stage::open("form.html");
    let waits = || stage.ok(&["session", "show", "default"]).to_string().contains("wait");
    for _ in 0..5 {
        let waiting = stage.begin(&["wait", "text=never", "--timeout-ms", "60000"]);
        holds("the wait is under way", LIMIT, waits);
        waiting.running.kill();
        drop(waiting);
        assert_eq!(stage.eval("1"), 1);
        holds("no wait is left", LIMIT, || !waits());
    }
}

// contract: 12.6
#[test]
fn an_unknown_condition_is_a_wrong_call() {
    let (stage, _visit) = Stage::open("form.html");
    for condition in ["", "networkidle", "text=", "visible=", "visible=a=b"] {
        assert_eq!(stage.glassctl(["wait", condition]).code, Some(2), "{condition}");
    }
}

// contract: 8.1
#[test]
fn elements_are_waited_for_in_every_state() {
    let stage = Stage::take();
    stage.show(
        "<title>W</title><button id=on disabled>On</button><button id=off>Off</button><p id=p>Here</p>
         <div id=list><i class=x>1</i></div>",
    );
    for (condition, change) in [
        ("enabled=On", "document.getElementById('on').disabled = false"),
        ("disabled=Off", "document.getElementById('off').disabled = true"),
        ("attached=css=#made", "document.body.insertAdjacentHTML('beforeend', '<b id=made hidden>Made</b>')"),
        ("detached=css=#made", "document.getElementById('made').remove()"),
        ("count=css=i.x;3", "list.innerHTML = '<i class=x>1</i><i class=x>2</i><i class=x hidden>3</i>'"),
        ("count=css=i.x;0", "list.innerHTML = ''"),
        ("gone-text=Here", "document.getElementById('p').hidden = true"),
        ("title=Now", "document.title = 'Now'"),
        ("js=window.ready === 1", "window.ready = 1"),
        ("js=window.app.state.ready", "window.app = { state: { ready: true } }"),
    ] {
        let waiting = stage.begin(&["wait", condition, "--timeout-ms", "15000"]);
        stage.eval(&format!("setTimeout(() => {{ {change} }}, 150)"));
        let answer = waiting.answer_within(LIMIT);
        assert_eq!(answer.result()["condition"], condition.split('=').next().unwrap_or_default());
    }
}

// contract: 8.1
#[test]
fn urls_are_waited_for_whole_by_their_start_and_by_a_glob() {
    let (stage, visit) = Stage::open("form.html");
    let start = visit.url("form.html");
    for (condition, hash) in [
        (format!("url-prefix={start}#sta"), "start"),
        ("url-glob=**/form.html#{on,two}e".to_owned(), "one"),
        ("url-glob=*://*/*/form.html#x".to_owned(), "x"),
    ] {
        let waiting = stage.begin(&["wait", &condition, "--timeout-ms", "15000"]);
        stage.eval(&format!("setTimeout(() => {{ location.hash = '{hash}' }}, 100)"));
        waiting.answer_within(LIMIT).result();
    }
    stage.fails("timeout", &["wait", "url-glob=http://*/form.html", "--timeout-ms", "300"]);
}

// contract: 8.1
#[test]
fn match_says_how_many_of_the_elements_must_be_so() {
    let stage = Stage::take();
    stage.show("<title>M</title><button>One</button><button disabled>One</button>");
    stage.fails("ambiguous_target", &["wait", "enabled=One"]);
    stage.ok(&["wait", "enabled=One", "--match", "any"]);
    let error = stage.fails("timeout", &["wait", "enabled=One", "--match", "all", "--timeout-ms", "400"]);
    assert_eq!(
        (&error["details"]["last"]["total"], &error["details"]["last"]["fitting"]),
        (&2.into(), &1.into())
    );
    stage.eval("document.querySelectorAll('button')[1].disabled = false");
    stage.ok(&["wait", "enabled=One", "--match", "all"]);
    // Nothing that fits is never so, and always gone.
    stage.fails("timeout", &["wait", "visible=Nothing", "--match", "all", "--timeout-ms", "300"]);
    stage.fails("invalid_argument", &["wait", "hidden=One", "--match", "any"]);
}

// contract: 8.1, 3.5
#[test]
fn a_ref_whose_element_became_something_else_is_not_gone() {
    let stage = Stage::take();
    stage.show("<title>R</title><button>Save</button>");
    let seen = stage.ok(&["observe"]);
    let nodes = seen["nodes"].as_array().expect("rows");
    let save = nodes.iter().find(|node| node["name"] == "Save").expect("the button");
    let hidden = format!("hidden={}", save["ref"].as_str().expect("a ref"));
    stage.eval("document.querySelector('button').textContent = 'Delete'");
    stage.fails("timeout", &["wait", &hidden, "--timeout-ms", "400"]);
    stage.eval("document.querySelector('button').remove()");
    stage.ok(&["wait", &hidden]);
}

// contract: 8.1
#[test]
fn stable_means_that_the_box_does_not_move() {
    let stage = Stage::take();
    stage.show(
        "<title>S</title><style>@keyframes go { to { translate: 300px } }</style>
         <button style='animation: go 1s linear 2'>Moves</button>",
    );
    let waited = stage.ok(&["wait", "stable=Moves"]);
    assert!(waited["waitedMs"].as_u64() > Some(300), "{waited}");
    let still = stage.eval("document.querySelector('button').getAnimations().length");
    assert_eq!(still, 0, "it stands still only after its animation");
}

// contract: 8.1
#[test]
fn a_scope_that_is_not_there_yet_is_waited_for() {
    let stage = Stage::take();
    stage.show("<title>S</title><p>Outside</p>");
    let scope = ["--scope", "role=dialog", "--timeout-ms", "15000"];
    for condition in ["visible=Yes", "text=Really"] {
        stage.eval("document.querySelector('dialog')?.remove()");
        let waiting = stage.begin(&[&["wait", condition][..], &scope].concat());
        stage.eval(
            "setTimeout(() => {
               document.body.insertAdjacentHTML('beforeend', '<dialog>Really?<button>Yes</button></dialog>');
               document.querySelector('dialog').showModal();
             }, 150)",
        );
        waiting.answer_within(LIMIT).result();
    }
    stage.ok(&["wait", "gone-text=Outside", "--scope", "role=dialog"]);
    stage.fails("timeout", &["wait", "text=Outside", "--scope", "role=dialog", "--timeout-ms", "300"]);
    stage.fails("invalid_argument", &["wait", "title=S", "--scope", "role=dialog"]);
}

// contract: 8.1 report: 43
#[test]
fn the_network_is_idle_after_half_a_second_of_real_quiet_and_streams_do_not_count() {
    let (stage, visit) = Stage::open("form.html");
    // From the cache as much as from the server.
    stage.go(&visit, "form.html");
    let waited = stage.ok(&["wait", "lifecycle=networkidle"]);
    assert!(waited["seen"]["quietMs"].as_u64() >= Some(500), "{waited}");
    stage.eval("window.stream = new EventSource('hang?stream'); 1");
    stage.ok(&["wait", "lifecycle=networkidle"]);
    // A page that asks again and again is never quiet, and what is open is told without its query.
    stage.eval("const ask = () => fetch('hang?secret', { signal: AbortSignal.timeout(150) }).catch(() => {}); ask(); window.poll = setInterval(ask, 100); await new Promise((done) => setTimeout(done, 50))");
    let error = stage.fails("timeout", &["wait", "lifecycle=networkidle", "--timeout-ms", "1500"]);
    let last = error["details"]["last"].to_string();
    assert!(last.contains("/hang") && !last.contains("secret"), "{last}");
    stage.eval("clearInterval(window.poll); 1");
    let waited = stage.ok(&["wait", "network-quiet=700"]);
    assert!(waited["seen"]["quietMs"].as_u64() >= Some(700), "{waited}");
}

// contract: 8.1
#[test]
fn lifecycle_conditions_hold_for_what_is_past_and_wait_for_what_is_not() {
    let (stage, visit) = Stage::open("form.html");
    for milestone in ["domcontentloaded", "load"] {
        stage.ok(&["wait", &format!("lifecycle={milestone}")]);
    }
    stage.go(&visit, "never-loads.html");
    stage.ok(&["wait", "lifecycle=domcontentloaded"]);
    let error = stage.fails("timeout", &["wait", "lifecycle=load", "--timeout-ms", "500"]);
    assert_eq!(error["details"]["last"]["load"], false, "{error}");
}

// contract: 8.1, 5.5
#[test]
fn dialogs_and_popups_are_waited_for_and_a_dialog_ends_other_waits() {
    let (stage, _visit) = Stage::open("dialogs.html");
    let waiting = stage.begin(&["wait", "dialog", "--timeout-ms", "15000"]);
    stage.eval("setTimeout(() => alert('Hi'), 100); 1");
    let answer = waiting.answer_within(LIMIT);
    assert_eq!(answer.result()["seen"]["dialog"]["pageMessage"], "Hi", "{}", answer.run);
    stage.ok(&["wait", "dialog"]);
    stage.fails("dialog_blocked", &["wait", "visible=Plain"]);
    stage.ok(&["dismiss-dialog"]);
    let _visit = stage.visit("popups.html");
    stage.fails("timeout", &["wait", "popup", "--timeout-ms", "300"]);
    let waiting = stage.begin(&["wait", "popup", "--timeout-ms", "15000"]);
    stage.ok(&["click", "name=Window open"]);
    let answer = waiting.answer_within(LIMIT);
    let popups = answer.result()["seen"]["popups"].clone();
    assert_eq!(popups.as_array().map(Vec::len), Some(1), "{}", answer.run);
    stage.ok(&["verify", "--popup-opened"]);
    stage.ok(&["close-target", popups[0].as_str().expect("an id")]);
    stage.ok(&["verify", "--popup-opened", "false"]);
}

// contract: 8.1, 3.4
#[test]
fn a_revision_after_another_is_a_change_of_meaning() {
    let (stage, _visit) = Stage::open("form.html");
    let revision = stage.revision();
    let condition = format!("revision-after={revision}");
    stage.eval("document.body.style.color = 'red'");
    stage.fails("timeout", &["wait", &condition, "--timeout-ms", "400"]);
    let waiting = stage.begin(&["wait", &condition, "--timeout-ms", "15000"]);
    stage.eval("setTimeout(() => { out.textContent = 'new' }, 100); 1");
    assert!(waiting.answer_within(LIMIT).result()["seen"]["revision"].as_u64() > Some(revision));
}

// contract: 8.1 report: 257
#[test]
fn a_script_condition_may_only_read_and_works_under_a_strict_policy() {
    let stage = Stage::take();
    stage.show(
        "<meta http-equiv=Content-Security-Policy content=\"require-trusted-types-for 'script'; script-src 'self'\">
         <title>C</title><p id=p></p>",
    );
    let waiting = stage.begin(&[
        "wait",
        "js=document.querySelector('#p').textContent === 'done'",
        "--timeout-ms",
        "15000",
    ]);
    stage.eval("setTimeout(() => { document.getElementById('p').textContent = 'done' }, 300); 1");
    waiting.answer_within(LIMIT).result();
    let error = stage.fails("evaluation_failed", &["wait", "js=document.title = 'changed'"]);
    assert_eq!(error["reason"], "side_effect", "{error}");
    assert_eq!(stage.eval("document.title"), "C");
    assert_eq!(stage.fails("evaluation_failed", &["wait", "js=a b c"])["reason"], "syntax");
    stage.eval("window.promise = Promise.resolve(1); 1");
    assert_eq!(stage.fails("evaluation_failed", &["wait", "js=window.promise"])["reason"], "promise");
    let error = stage.fails("timeout", &["wait", "js=nowhere.defined", "--timeout-ms", "400"]);
    assert_eq!(error["details"]["last"]["threw"], "ReferenceError", "{error}");
}

// contract: 8.1, 2.6
#[test]
fn a_timeout_tells_the_last_state() {
    let (stage, visit) = Stage::open("form.html");
    let last = |condition: &str| {
        stage.fails("timeout", &["wait", condition, "--timeout-ms", "400"])["details"]["last"].clone()
    };
    assert_eq!(last("visible=Never")["total"], 0);
    assert_eq!(last("hidden=Save")["total"], 1);
    assert_eq!(last("url=http://nowhere/")["url"], visit.url("form.html"));
    assert_eq!(last("text=never")["found"], false);
    assert_eq!(last("count=css=button;99")["count"].as_u64().map(|count| count > 2), Some(true));
    // A page that spins answers nothing, and the wait ends in time all the same.
    stage.eval("setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); }, 50); 1");
    let answer = stage.ask(&["wait", "text=never", "--timeout-ms", "1000"]);
    answer.fails("timeout");
    assert!(answer.run.took < Duration::from_secs(8), "{}", answer.run);
}
