//! What is seen, in kinds that other tools miss: frames in every state, shadow roots, custom elements, documents
//! that are no HTML, and what is on the screen but not in the accessibility tree.

use glass_tests::site::site;
use glass_tests::{Stage, rows};
use serde_json::Value;

fn outline(observed: &Value) -> &str {
    observed["outline"].as_str().expect("an observation has an outline")
}

/// The one row of that role and name.
#[track_caller]
fn row<'a>(observed: &'a Value, role: &str, name: &str) -> &'a Value {
    let found = rows(observed, role, name);
    assert_eq!(found.len(), 1, "one {role} {name:?} is wanted in:\n{}", outline(observed));
    found[0]
}

fn states(row: &Value) -> Vec<&str> {
    row["states"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

// contract: 3.2 report: 240, 29
#[test]
fn a_frame_that_shows_nothing_is_told_with_the_reason_and_never_waited_for() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("inner-far.html", "<!doctype html><title>Far</title><button>Far button</button>");
    visit.serve(
        "states.html",
        "<!doctype html><title>States</title><button>Beside</button><iframe title=Empty></iframe>\
         <iframe title=Hangs src=hang></iframe><iframe title=Script src='javascript:'></iframe>\
         <iframe title=Sandboxed sandbox srcdoc='<button>In sandbox</button>'></iframe>\
         <iframe title='x ] [ref=e1' style=cursor:pointer srcdoc='<button>In pointer frame</button>'></iframe>\
         <object title=Object data=inner-far.html type=text/html></object>\
         <div style=height:9000px></div>\
         <iframe title=Lazy loading=lazy src='http://b.localhost:{{port}}/{{visit}}/inner-far.html'></iframe>",
    );
    let went = stage.ask(&["navigate", &visit.url_at("a.localhost", "states.html")]);
    assert_eq!(went.result()["loaded"], false);
    assert!(went.run.took < std::time::Duration::from_secs(10), "two seconds and slack: {}", went.run);
    stage.ok(&["wait", "visible=role=button;name=Far button"]);
    let observed = stage.ok(&["observe"]);
    assert_eq!(states(row(&observed, "frame", "Hangs")), ["loading"], "{}", outline(&observed));
    assert_eq!(states(row(&observed, "frame", "Lazy")), ["not-loaded"], "{}", outline(&observed));
    for name in ["Empty", "Script", "x ] [ref=e1"] {
        row(&observed, "frame", name);
    }
    for name in ["Beside", "In sandbox", "In pointer frame", "Far button"] {
        row(&observed, "button", name);
    }
    let frames: Vec<_> = observed["incomplete"].as_array().expect("what is left out").iter().collect();
    assert_eq!(frames.iter().filter(|left| left["kind"] == "frame").count(), 2, "{frames:?}");
    // Near the viewport it loads, and is read.
    stage.eval("document.querySelector('[title=Lazy]').scrollIntoView(); 1");
    glass_tests::eventually("the lazy frame's content", std::time::Duration::from_secs(20), || {
        let observed = stage.ok(&["observe"]);
        (rows(&observed, "button", "Far button").len() == 2).then_some(())
    });
}

// contract: 3.2, 4.2
#[test]
fn what_lies_in_a_frame_that_nobody_sees_is_hidden() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("inner-one.html", "<!doctype html><title>One</title><button id=one>One</button>");
    visit.serve(
        "unseen.html",
        "<!doctype html><title>Unseen frames</title><iframe src=inner-one.html style=visibility:hidden></iframe>\
         <iframe src=inner-one.html width=0 height=0 style=border:0></iframe><div inert><iframe src=inner-one.html></iframe></div>\
         <iframe src='http://b.localhost:{{port}}/{{visit}}/inner-one.html' style=visibility:hidden></iframe>\
         <div style=height:0;overflow:hidden><iframe src=inner-one.html></iframe></div>\
         <iframe id=shown title=Shown src=inner-one.html></iframe>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "unseen.html")]);
    let observed = stage.ok(&["observe"]);
    row(&observed, "button", "One");
    assert_eq!(observed["text"].as_str().unwrap_or("").matches("One").count(), 1, "{}", outline(&observed));
    let read = stage.ok(&["get-text"]);
    assert_eq!(read["text"].as_str().unwrap_or("").matches("One").count(), 1, "{read}");
    let clicked = stage.ok(&["click", "name=One"]);
    assert_eq!(clicked["target"]["ref"], row(&observed, "button", "One")["ref"]);
    stage.eval("document.getElementById('shown').style.visibility = 'hidden'; 1");
    let error = stage.fails("target_not_found", &["click", "name=One", "--timeout-ms", "800"]);
    assert!(
        error["candidates"].as_array().is_some_and(|all| all.iter().all(|one| one["reason"].is_string())),
        "{error}"
    );
}

// contract: 2.7, 3.5 report: 30
#[test]
fn a_frame_that_swaps_processes_is_read_and_clicked_in_its_own_document_or_not_at_all() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "swapped.html",
        "<!doctype html><title>Swapped</title><script src=ledger.js></script><button id=swapped>Swapped</button>",
    );
    visit.serve(
        "swaps.html",
        "<!doctype html><title>Swaps</title><script src=ledger.js></script><button id=beside>Beside</button>\
         <iframe id=f title=Swapper width=300 height=100 src=swapped.html></iframe><script>let n=0;\
         setInterval(()=>{n+=1;f.src='http://'+(n%2?'b':'a')+'.localhost:{{port}}/{{visit}}/swapped.html?'+n},300)</script>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "swaps.html")]);
    let mut clicked = 0;
    for _ in 0..40 {
        let observed = stage.ok(&["observe"]);
        row(&observed, "button", "Beside");
        let Some(reference) =
            rows(&observed, "button", "Swapped").first().and_then(|row| row["ref"].as_str())
        else {
            continue;
        };
        let answer = stage.ask(&["click", reference, "--timeout-ms", "2000"]);
        match answer.kind() {
            None => clicked += 1,
            Some(
                "stale_reference"
                | "target_not_found"
                | "not_actionable"
                | "verification_failed"
                | "unknown_outcome",
            ) => {}
            Some(other) => panic!("{other}: {}", answer.run),
        }
    }
    assert!(clicked > 0, "not one click reached the frame");
    assert!(visit.clicks().iter().all(|id| id == "swapped"), "{:?}", visit.clicks());
    assert!(visit.clicks().len() >= clicked, "{} clicks were told, {:?} came", clicked, visit.clicks());
}

// contract: 5.1 report: 26
#[test]
fn an_overlay_of_any_frame_above_blocks_an_element_two_sites_down() {
    let stage = Stage::take();
    let visit = site().visit();
    stage.ok(&["navigate", &visit.url_at("a.localhost", "cross.html")]);
    stage.ok(&["wait", "visible=role=button;name=Deep cross button"]);
    let deep = stage.reference("button", "Deep cross button");
    stage.ok(&["click", &deep]);
    assert_eq!(visit.clicks(), ["deep-cross-button"]);
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<div id=over aria-label=Cover style=\"position:fixed;inset:0;z-index:9\">over</div>'); 1");
    let error = stage.fails("not_actionable", &["click", &deep, "--timeout-ms", "1000"]);
    assert_eq!(error["reason"], "hit_test_blocked", "{error}");
    assert_eq!(visit.clicks(), ["deep-cross-button"]);
    stage.eval("document.getElementById('over').remove(); 1");
    stage.ok(&["click", &deep]);
    assert_eq!(visit.clicks(), ["deep-cross-button", "deep-cross-button"]);
}

// contract: 3.2 report: 238
#[test]
fn both_of_two_bodies_and_the_frames_of_a_frameset_are_seen() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Bodies</title><script src=ledger.js></script><button>First</button><button id=second>Second</button>\
         <script>onload=()=>{const x=document.createElement('body');x.append(document.getElementById('second'),'second words');document.documentElement.append(x)}</script>",
    );
    let observed = stage.ok(&["observe"]);
    row(&observed, "button", "First");
    assert!(outline(&observed).contains("second words"), "{}", outline(&observed));
    stage.ok(&["click", "name=Second"]);
    assert_eq!(visit.clicks(), ["second"]);
    visit.serve("side.html", "<!doctype html><title>Side</title><button>Side</button>");
    visit.serve("set.html", "<!doctype html><title>Set</title><frameset cols=50%,50%><frame src=side.html title=Left><frame src=side.html title=Right></frameset>");
    stage.go(&visit, "set.html");
    let observed = stage.ok(&["observe"]);
    row(&observed, "frame", "Left");
    assert_eq!(rows(&observed, "button", "Side").len(), 2, "{}", outline(&observed));
}

// contract: 3.1 report: 239
#[test]
fn documents_that_are_no_html_are_told_by_their_kind_and_text() {
    let stage = Stage::take();
    let visit = site().visit();
    let kinds = [
        ("a.json", "application/json", "{\"words\": \"in json\"}", "in json"),
        ("a.txt", "text/plain", "plain words", "plain words"),
        (
            "a.xml",
            "application/xml",
            "<?xml version='1.0'?><root><item>Item words</item></root>",
            "Item words",
        ),
        (
            "a.svg",
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='100'><a href='#hit'><text x='10' y='40'>Picture link</text></a></svg>",
            "Picture link",
        ),
    ];
    for (page, kind, body, words) in kinds {
        visit.serve_with(page, body, &[("Content-Type", kind)]);
        stage.go(&visit, page);
        let observed = stage.ok(&["observe"]);
        assert_eq!(observed["contentType"], kind, "{page}: {}", outline(&observed));
        assert!(
            observed["text"].as_str().is_some_and(|text| text.contains(words)),
            "{page}: {}",
            outline(&observed)
        );
        stage.ok(&["screenshot", "-o", &format!("{page}.png")]);
    }
    stage.ok(&["click", "role=link;name=Picture link"]);
    assert!(stage.eval("location.hash") == "#hit");
    visit.serve(
        "rootless.html",
        "<!doctype html><title>Rootless</title><script>onload=()=>document.documentElement.remove()</script>",
    );
    stage.go(&visit, "rootless.html");
    let observed = stage.ok(&["observe"]);
    assert!(observed["incomplete"].to_string().contains("no root element"), "{}", outline(&observed));
    stage.ok(&["screenshot", "-o", "rootless.png"]);
    stage.go(&visit, "a.json");
}

// contract: 3.2, 4.2 report: 235
#[test]
fn what_is_on_the_screen_and_hidden_from_assistive_tools_is_listed_and_found() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Left behind</title><script src=ledger.js></script><div aria-hidden=true><main><h1>Orders</h1>\
         <form aria-label=Order><label>Mail <input id=mail></label><button id=send type=button>Send</button></form></main>\
         <img alt=Decoration width=20 height=20 src=image.svg></div>\
         <button id=twice>Twice</button><span aria-hidden=true><button>Twice</button></span>\
         <button role=presentation id=presented>Presented</button>\
         <ul aria-owns='ring-1'></ul><div id=ring-1 role=list aria-owns=ring-2>a</div><div id=ring-2 role=list aria-owns=ring-1>b</div>",
    );
    let observed = stage.ok(&["observe"]);
    assert!(states(row(&observed, "main", "")).contains(&"aria-hidden"), "{}", outline(&observed));
    for (role, name) in [("heading", "Orders"), ("textbox", "Mail"), ("button", "Send")] {
        assert!(
            !states(row(&observed, role, name)).contains(&"aria-hidden"),
            "told once: {}",
            outline(&observed)
        );
    }
    assert_eq!(rows(&observed, "img", "Decoration").len(), 0, "{}", outline(&observed));
    row(&observed, "button", "Presented");
    stage.ok(&["fill", "label=Mail", "a@example.org"]);
    for locator in ["role=button;name=Send", "name=Twice", "name=Presented"] {
        stage.ok(&["click", locator]);
    }
    assert_eq!(visit.clicks(), ["send", "twice", "presented"]);
}

// contract: 3.2 report: 236
#[test]
fn a_button_of_icons_spans_and_slots_keeps_its_name() {
    let stage = Stage::take();
    let spans: String =
        "Text over thirty spans".chars().map(|letter| format!("<span>{letter}</span>")).collect();
    let _visit = stage.show(&format!(
        "<!doctype html><title>Icons</title><button><span><span><svg aria-hidden=true width=16 height=16><rect width=16 height=16 /></svg></span>\
         <span>New invoice</span></span></button><button>{spans}</button><x-button>Slotted words</x-button>\
         <script>customElements.define('x-button',class extends HTMLElement{{connectedCallback(){{this.attachShadow({{mode:'open'}}).innerHTML='<button><i></i><slot></slot></button>'}}}})</script>",
    ));
    let observed = stage.ok(&["observe"]);
    for name in ["New invoice", "Text over thirty spans", "Slotted words"] {
        row(&observed, "button", name);
    }
}

// contract: 3.2 report: 230
#[test]
fn roles_and_states_that_elements_give_themselves_are_told_and_followed() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>Internals</title><style>x-switch,x-lab{display:inline-block;width:60px;height:20px;background:silver}</style>\
         <x-switch></x-switch><x-head></x-head><span id=words>Given words</span><x-lab></x-lab><script>\
         customElements.define('x-switch',class extends HTMLElement{constructor(){super();const i=this.i=this.attachInternals();\
         i.role='switch';i.ariaLabel='Dark mode';i.ariaChecked='false';this.onclick=()=>{i.ariaChecked=String(i.ariaChecked!=='true')}}});\
         customElements.define('x-head',class extends HTMLElement{constructor(){super();const i=this.attachInternals();i.role='heading';\
         i.ariaLevel='3';this.attachShadow({mode:'closed'}).innerHTML='Third level'}});\
         customElements.define('x-lab',class extends HTMLElement{constructor(){super();this.i=this.attachInternals();this.i.role='button'}\
         connectedCallback(){this.i.ariaLabelledByElements=[words]}})</script>",
    );
    let observed = stage.ok(&["observe"]);
    assert_eq!(states(row(&observed, "switch", "Dark mode")), ["unchecked"]);
    assert_eq!(row(&observed, "heading", "Third level")["level"], 3, "{}", outline(&observed));
    row(&observed, "button", "Given words");
    let clicked = stage.ok(&["click", "role=switch;name=Dark mode"]);
    assert!(clicked["revision"].as_u64() > clicked["previousRevision"].as_u64(), "{clicked}");
    let observed = stage.ok(&["observe"]);
    assert!(states(row(&observed, "switch", "Dark mode")).contains(&"checked"), "{}", outline(&observed));
    stage.ok(&["find", "role=switch;checked=true"]);
    assert_eq!(stage.eval("document.querySelector('x-switch').i.ariaChecked"), "true");
}

// contract: 3.2, 5.3 report: 31, 229
#[test]
fn fields_of_custom_elements_are_filled_by_label_by_host_and_by_themselves() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>Fields</title><form id=form><label for=open>Open</label><x-field id=open name=o></x-field>\
         <label for=closed>Closed</label><x-field id=closed name=c data-closed></x-field></form><div id=outer></div><script>\
         customElements.define('x-field',class extends HTMLElement{static formAssociated=true;connectedCallback(){const i=this.attachInternals();\
         const r=this.attachShadow({mode:'closed' in this.dataset?'closed':'open',delegatesFocus:true});\
         r.innerHTML='<span tabindex=-1>a</span><span>b</span><input>';const input=r.querySelector('input');\
         input.oninput=()=>i.setFormValue(input.value)}});\
         outer.attachShadow({mode:'closed'}).innerHTML='<div id=in></div>';</script>",
    );
    let observed = stage.ok(&["observe"]);
    for name in ["Open", "Closed"] {
        row(&observed, "textbox", name);
    }
    let sent = "[...new FormData(form)].map(pair => pair.join('=')).join()";
    stage.ok(&["fill", "label=Open", "by label"]);
    stage.ok(&["fill", "label=Closed", "by label too"]);
    assert_eq!(stage.eval(sent), "o=by label,c=by label too");
    for name in ["Open", "Closed"] {
        let reference = row(&observed, "textbox", name)["ref"].as_str().expect("a ref").to_owned();
        stage.ok(&["fill", &reference, "by ref"]);
    }
    assert_eq!(stage.eval(sent), "o=by ref,c=by ref");
    stage.ok(&["fill", "css=#open", "by host"]);
    assert_eq!(stage.eval(sent), "o=by host,c=by ref");
}

// contract: 3.2, 5.1 report: 204, 205, 207, 12
#[test]
fn things_without_a_box_of_their_own_are_seen_and_hit() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>No boxes</title><script src=ledger.js></script>\
         <svg width=300 height=100><line id=line role=button aria-label=Edge tabindex=0 x1=20 y1=50 x2=280 y2=50 stroke-width=12 stroke=black /></svg>\
         <div id=contents style=display:contents role=button tabindex=0><span>In contents</span></div>\
         <svg width=400 height=100><g id=group role=button aria-label=Group><circle cx=20 cy=50 r=10 /><circle cx=380 cy=50 r=10 /></g></svg>\
         <a id=link href=#en aria-label=English style=position:relative;display:inline-block;width:0;height:0><img alt='' style=position:absolute;left:0;top:0 width=40 height=30 src=image.svg></a>\
         <div style=height:40px></div>\
         <section style=visibility:hidden><button>Unseen</button><p style=visibility:visible><button id=seen>Seen</button></p></section>\
         <div id=host style=visibility:hidden><span style=visibility:visible><button id=slotted>Slot seen</button></span></div>\
         <label><input type=radio id=plan style=display:none><span>Plan B</span></label>\
         <label style=position:relative><input id=box type=checkbox style=position:absolute;left:-9999px><span style='display:inline-block;width:40px;height:20px;background:silver'></span>Styled box</label>\
         <script>host.attachShadow({mode:'open'}).innerHTML='<div><slot></slot></div>'</script>",
    );
    let observed = stage.ok(&["observe"]);
    assert_eq!(rows(&observed, "button", "Unseen").len(), 0, "{}", outline(&observed));
    let all = [
        ("button", "Edge", "line"),
        ("button", "In contents", ""),
        ("button", "Group", ""),
        ("link", "English", ""),
        ("button", "Seen", "seen"),
        ("button", "Slot seen", "slotted"),
        ("radio", "Plan B", ""),
        ("checkbox", "Styled box", ""),
    ];
    for (role, name, id) in all {
        let reference = row(&observed, role, name)["ref"].as_str().expect("a ref").to_owned();
        let before = visit.clicks().len();
        stage.ok(&["click", &reference]);
        let clicks = visit.clicks();
        assert!(clicks.len() > before, "{name}");
        assert!(id.is_empty() || clicks[before] == id, "{name}: {clicks:?}");
    }
    let observed = stage.ok(&["observe"]);
    assert!(states(row(&observed, "radio", "Plan B")).contains(&"checked"), "{}", outline(&observed));
    assert!(states(row(&observed, "checkbox", "Styled box")).contains(&"checked"), "{}", outline(&observed));
    assert_eq!(stage.eval("location.hash"), "#en");
}

// contract: 3.2
#[test]
fn things_that_are_clickable_by_a_listener_alone_are_rows_and_the_page_lives() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Listens</title><script src=ledger.js></script><p>Some words</p><div id=card><b>Plain card</b></div>\
         <ul id=list></ul><div>Deaf card</div><script>let n=0;card.addEventListener('click',()=>{n+=1;\
         list.innerHTML=[...Array(30).keys()].map(i=>'<li>Item '+n+'-'+i+'</li>').join('');\
         list.lastChild.addEventListener('mousedown',()=>{document.title='item'})})</script>",
    );
    let observed = stage.ok(&["observe"]);
    let card =
        |observed: &Value| row(observed, "generic", "Plain card")["ref"].as_str().expect("a ref").to_owned();
    let reference = card(&observed);
    assert!(states(row(&observed, "generic", "Plain card")).contains(&"clickable"), "{}", outline(&observed));
    assert_eq!(rows(&observed, "generic", "Deaf card").len(), 0, "{}", outline(&observed));
    for round in 1..=60 {
        stage.ok(&["click", &reference]);
        let observed = stage.ok(&["observe"]);
        row(&observed, "listitem", &format!("Item {round}-29"));
        assert_eq!(card(&observed), reference);
    }
    assert_eq!(visit.clicks().len(), 60);
    stage.ok(&["click", "name=Item 60-29"]);
    assert_eq!(stage.eval("document.title"), "item");
}

// contract: 3.1
#[test]
fn what_lies_on_top_comes_first_and_what_lies_behind_is_marked() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>Layers</title><main><h1>Behind</h1><button>Below</button></main><section aria-label=Part>\
         <dialog id=d aria-label=Question><button>Yes</button></dialog></section><footer>end</footer><script>d.showModal()</script>",
    );
    let observed = stage.ok(&["observe"]);
    let lines: Vec<_> = outline(&observed).lines().skip(1).collect();
    assert!(
        lines[0].starts_with("dialog \"Question\"") && lines[0].contains("modal"),
        "{}",
        outline(&observed)
    );
    assert!(lines[1].starts_with("  button \"Yes\""), "{}", outline(&observed));
    assert!(states(row(&observed, "button", "Below")).contains(&"inert"), "{}", outline(&observed));
    assert!(!states(row(&observed, "button", "Yes")).contains(&"inert"), "{}", outline(&observed));
}

// contract: 3.1, 3.2, 9.6
#[test]
fn a_shown_password_stays_unread_and_unseen_characters_are_escaped() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><meta charset=utf-8><title>Rules</title><input id=p type=password aria-label=Password>\
         <input aria-label=Code autocomplete='section-a one-time-code'><button>Zero\u{200b}width\u{202e}turned\u{ad}soft</button>\
         <p>para\u{2066}graph</p><img alt=Dot src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7AAAAAAAAAAAA'>",
    );
    stage.ok(&["fill", "label=Password", "hunter2-secret"]);
    stage.ok(&["fill", "label=Code", "918273"]);
    stage.ok(&["observe"]);
    stage.eval("p.type = 'text'; 1");
    for operation in
        [&["observe"][..], &["get-text"], &["find", "label=Password"], &["observe", "--interactive"]]
    {
        let run = stage.glassctl(operation).success();
        let json = stage.ask(operation).json.to_string();
        for never in ["hunter2-secret", "918273", "base64"] {
            assert!(!run.stdout.contains(never) && !json.contains(never), "{never} in {operation:?}");
        }
        for unseen in ['\u{200b}', '\u{202e}', '\u{ad}', '\u{2066}'] {
            assert!(!run.stdout.contains(unseen), "{unseen:?} in {operation:?}: {:?}", run.stdout);
        }
    }
}
