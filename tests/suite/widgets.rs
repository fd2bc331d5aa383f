//! Things that pages are made of and that tools get wrong: popovers, pictures without names, layers, windows that talk.

use glass_tests::site::site;
use glass_tests::{Stage, rows};
use serde_json::Value;

fn outline(observed: &Value) -> &str {
    observed["outline"].as_str().expect("an observation has an outline")
}

const POPOVERS: &str = "<!doctype html><title>Popovers</title><script src=ledger.js></script><body style='margin:0;height:2000px'>
 <button id=open popovertarget=outer>Open</button><button id=outside style='position:absolute;left:600px;top:300px'>Outside</button>
 <div popover id=outer style='margin:0;left:50px;top:50px;width:300px;height:200px'><button id=more popovertarget=inner>More</button>
  <div popover id=inner style='margin:0;left:80px;top:120px;width:200px;height:80px'><button id=choose>Choose</button></div></div>
 <div popover=manual id=manual style='margin:0;left:600px;top:50px'><button id=keep>Keep</button></div><script>manual.showPopover()</script>";

fn open_ones(stage: &Stage) -> Value {
    stage.eval("['outer', 'inner', 'manual'].filter(id => document.getElementById(id).matches(':popover-open')).join()")
}

// contract: 3.3, 5.1, 2.4 report: 213
#[test]
fn looking_closes_no_popover_and_a_press_elsewhere_is_told_with_what_it_closed() {
    let stage = Stage::take();
    let visit = stage.show(POPOVERS);
    stage.ok(&["click", "name=Open"]);
    stage.ok(&["click", "name=More"]);
    assert_eq!(open_ones(&stage), "outer,inner,manual");
    let observed = stage.ok(&["observe"]);
    stage.ok(&["screenshot", "-o", "popovers.png"]);
    stage.ok(&["get-dom"]);
    stage.ok(&["preflight", "name=Outside"]);
    stage.ok(&["scroll", "--dy", "30", "--at", "900,500"]);
    stage.ok(&["hover", "name=Outside"]);
    assert_eq!(open_ones(&stage), "outer,inner,manual", "{}", outline(&observed));
    stage.ok(&["click", "name=Choose"]);
    assert_eq!(open_ones(&stage), "outer,inner,manual");
    stage.ok(&["key", "Escape"]);
    assert_eq!(open_ones(&stage), "outer,manual", "the topmost alone");
    let clicked = stage.ok(&["click", "name=Outside"]);
    assert_eq!(open_ones(&stage), "manual");
    let diff = &clicked["evidence"]["semanticDiff"];
    assert!(diff["removed"].as_u64() > Some(0), "{clicked}");
    stage.ok(&["click", "name=Keep"]);
    assert_eq!(visit.clicks(), ["open", "more", "choose", "outside", "keep"]);
}

// contract: 3.2 report: 237
#[test]
fn a_large_picture_without_a_name_is_listed_with_its_size_and_can_be_used_and_decoration_is_not() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Pictures</title><script src=ledger.js></script><img id=qr src=image.svg width=200 height=150><img src=image.svg width=20 height=20>
         <img alt='' src=image.svg width=300 height=300><canvas id=chart width=180 height=90></canvas><canvas width=10 height=10></canvas>
         <a href='#x'><img src=image.svg width=100 height=100></a><div id=map style='width:120px;height:80px;background:silver'></div>
         <img id=late src=image.svg width=200 height=200><script>map.addEventListener('click',()=>{})</script>",
    );
    let observed = stage.ok(&["observe"]);
    let pictures = |observed: &Value| -> Vec<String> {
        let named = |role: &str| {
            rows(observed, role, "").iter().map(|row| row["box"][2].to_string()).collect::<Vec<_>>()
        };
        [named("img"), named("canvas")].concat()
    };
    assert_eq!(pictures(&observed), ["200", "200", "180"], "{}", outline(&observed));
    assert!(outline(&observed).contains("200×150"), "{}", outline(&observed));
    let code = rows(&observed, "img", "")[0]["ref"].as_str().expect("a ref").to_owned();
    let shot = stage.ok(&["screenshot", "--target", &code, "-o", "qr.png"]);
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(200), Some(150)), "{shot}");
    stage.ok(&["click", &code]);
    let map = observed["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|row| row["states"].to_string().contains("clickable"));
    stage.ok(&["click", map.expect("the div with a listener")["ref"].as_str().expect("a ref")]);
    assert_eq!(visit.clicks(), ["qr", "map"]);
    // One that shrinks is none any more, and the page tells nobody of its size.
    stage.eval("late.width = late.height = 10; 1");
    assert_eq!(pictures(&stage.ok(&["observe"])), ["200", "180"]);
}

// contract: 3.1, 5.1 report: 85
#[test]
fn what_lies_behind_a_layer_is_marked_where_it_is_inert_and_refused_as_covered() {
    let stage = Stage::take();
    let behind = "<table><tr><td>One<td><a href='#edit' id=behind>Edit</a></table>";
    let visit = stage.show(&format!(
        "<!doctype html><title>Layers</title><script src=ledger.js></script>{behind}<dialog id=d aria-label=Row style='position:fixed;inset:0;margin:0;width:100%;height:100%'><a href='#own' id=own>Edit</a></dialog><script>d.showModal()</script>"
    ));
    let observed = stage.ok(&["observe"]);
    let edits = rows(&observed, "link", "Edit");
    assert_eq!(edits.len(), 2, "{}", outline(&observed));
    assert!(
        edits[1]["states"].to_string().contains("inert") && !edits[0]["states"].to_string().contains("inert")
    );
    // The one that can be used is meant.
    stage.ok(&["click", "role=link;name=Edit"]);
    assert_eq!(visit.clicks(), ["own"]);
    let behind_it = stage.ok(&["preflight", edits[1]["ref"].as_str().expect("a ref")]);
    assert_eq!(behind_it["actionable"], false, "{behind_it}");
    // A layer that is one by its role alone covers, and takes nothing from what is behind it.
    stage.show(&format!(
        "<!doctype html><title>Layers</title><script src=ledger.js></script>{behind}<div role=dialog aria-modal=true aria-label=Drawer style='position:fixed;inset:0;background:white'><a href='#own' id=own>Edit</a></div>"
    ));
    let observed = stage.ok(&["observe"]);
    assert!(
        outline(&observed)
            .lines()
            .nth(1)
            .is_some_and(|line| line.contains("Drawer") && line.contains("modal")),
        "{}",
        outline(&observed)
    );
    let covered = rows(&observed, "link", "Edit")
        .iter()
        .map(|row| row["ref"].as_str().expect("a ref").to_owned())
        .collect::<Vec<_>>();
    let error = stage.fails("not_actionable", &["click", &covered[1], "--timeout-ms", "1500"]);
    assert_eq!(error["reason"], "hit_test_blocked", "{error}");
}

// contract: 7.1, 5.3 report: 246
#[test]
fn a_popup_that_goes_to_another_site_and_back_still_talks_to_its_opener() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "opener.html",
        "<!doctype html><title>Opener</title><button onclick=\"w=window.open('http://a.localhost:{{port}}/{{visit}}/start.html','login')\">Sign in</button><p id=said>nothing</p><script>onmessage=event=>said.textContent=event.data</script>",
    );
    visit.serve("start.html", "<!doctype html><title>Start</title><a href='http://b.localhost:{{port}}/{{visit}}/login.html'>Go</a>");
    visit.serve("login.html", "<!doctype html><title>Login</title><a href='http://a.localhost:{{port}}/{{visit}}/callback.html'>Back</a>");
    visit.serve(
        "callback.html",
        "<!doctype html><title>Callback</title><script>opener?.postMessage('token','*')</script>",
    );
    stage.ok(&["navigate", &visit.url_at("a.localhost", "opener.html")]);
    for explicit in [false, true] {
        stage.eval("said.textContent = 'nothing'");
        let popup = stage.ok(&["click-expect-popup", "name=Sign in"]);
        let popup = popup["evidence"]["popups"][0]["targetId"].as_str().expect("a popup").to_owned();
        stage.ok(&["click", "name=Go", "--target-id", &popup]);
        let cut = if explicit {
            let url = visit.url_at("a.localhost", "callback.html");
            let went = stage.ok(&["navigate", &url, "--target-id", &popup]);
            // Where the browser cuts the link it is said, and nothing comes.
            went["warning"].as_str().is_some_and(|warning| warning.contains("link to the one that opened it"))
        } else {
            stage.ok(&["click", "name=Back", "--target-id", &popup]);
            false
        };
        if cut {
            assert_eq!(stage.eval("said.textContent"), "nothing");
        } else {
            stage.ok(&["wait", "text=token"]);
        }
        stage.ok(&["close-target", &popup]);
    }
}

// contract: 5.5, 1.6 report: 37
#[test]
fn a_page_that_asks_for_ever_is_told_each_time_and_can_be_closed() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve("loop.html", "<!doctype html><title>Loop</title><script>for(let i=0;i<1000;i++)alert('again '+i);setInterval(()=>alert('still'),10)</script>");
    visit.serve("fine.html", "<!doctype html><title>Fine</title><button>Fine</button>");
    let made = stage.ask(&["create-target", &visit.url("loop.html")]);
    let target = made.json["result"]["targetId"].as_str().expect("a target").to_owned();
    for n in 0..4 {
        let seen = stage.ok(&["observe", "--target-id", &target]);
        assert_eq!(seen["dialog"]["pageMessage"], format!("again {n}"), "{seen}");
        stage.fails("dialog_blocked", &["click", "css=body", "--target-id", &target]);
        stage.ok(&["accept-dialog", "--target-id", &target]);
    }
    stage.go(&visit, "fine.html");
    stage.ok(&["click", "name=Fine"]);
    stage.ok(&["close-target", &target]);
    assert_eq!(stage.ok(&["list-targets"])["targets"].as_array().map(Vec::len), Some(1));
}
