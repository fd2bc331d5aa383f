//! `scroll`: the wheel turns where it should, and the answer says what moved and by how much.

use glass_tests::Stage;
use serde_json::Value;

const PANES: &str = r#"<!doctype html><title>Panes</title>
<style>
  html, body { height: 100vh; margin: 0; overflow: hidden }
  .pane { position: absolute; top: 0; bottom: 0; overflow-y: auto; overscroll-behavior: contain }
  .pane > div { height: 5000px }
</style>
<nav class="pane" id="nav" aria-label="Sections" style="left:0;width:200px"><div>nav</div></nav>
<main class="pane" id="main" aria-label="Content" style="left:200px;right:0"><div>content</div></main>
<script>
  wheels = 0;
  main.addEventListener('wheel', (event) => { wheels += event.isTrusted ? 1 : 0 });
</script>"#;

fn only(result: &Value) -> &Value {
    let moved = result["evidence"]["scrolled"].as_array().expect("what scrolled");
    assert_eq!(moved.len(), 1, "{result}");
    &moved[0]
}

// contract: 5.3 report: 219
#[test]
fn the_document_scrolls_by_600_and_says_what_is_left() {
    let stage = Stage::take();
    let _visit =
        stage.show("<!doctype html><title>Long</title><body style=margin:0><div style=height:3000px>x</div>");
    let result = stage.ok(&["scroll"]);
    let pane = only(&result);
    assert_eq!(pane["role"], "document", "{result}");
    assert_eq!((pane["from"]["y"].as_f64(), pane["at"]["y"].as_f64()), (Some(0.0), Some(600.0)), "{result}");
    assert_eq!(
        pane["end"]["y"],
        stage.eval("document.documentElement.scrollHeight - innerHeight").as_f64().unwrap()
    );
    assert_eq!(stage.eval("scrollY"), 600);
    stage.ok(&["scroll", "--dy", "-200"]);
    assert_eq!(stage.eval("scrollY"), 400);
    let result = stage.ok(&["scroll", "--to", "bottom"]);
    assert_eq!(only(&result)["at"], only(&result)["end"], "{result}");
    let result = stage.ok(&["scroll"]);
    assert_eq!(result["evidence"]["scrolled"], serde_json::json!([]), "nothing moved, and it is said");
    stage.ok(&["scroll", "--to", "top"]);
    assert_eq!(stage.eval("scrollY"), 0);
    let run = stage.glassctl(["scroll", "--dy", "10"]).success();
    assert!(run.stdout.contains("y 0 → 10"), "{run}");
}

// contract: 5.3 report: 219
#[test]
fn the_pane_under_the_middle_moves_and_is_named() {
    let stage = Stage::take();
    let _visit = stage.show(PANES);
    let result = stage.ok(&["scroll", "--dy", "500"]);
    assert_eq!(only(&result)["label"], "Content", "{result}");
    assert_eq!(
        stage.eval("[main.scrollTop, nav.scrollTop, scrollY, wheels]"),
        serde_json::json!([500, 0, 0, 1])
    );
    let result = stage.ok(&["scroll", "--at", "name=Sections", "--dy", "300"]);
    assert_eq!(only(&result)["label"], "Sections", "{result}");
    assert_eq!(stage.eval("[main.scrollTop, nav.scrollTop]"), serde_json::json!([500, 300]));
    let result = stage.ok(&["scroll", "--at", "100,200", "--dy", "-300"]);
    assert_eq!(only(&result)["label"], "Sections", "{result}");
    assert_eq!(stage.eval("nav.scrollTop"), 0);
}

// contract: 5.3 report: 219
#[test]
fn where_nothing_can_move_the_panes_that_could_are_told() {
    let stage = Stage::take();
    let _visit = stage.show(PANES);
    stage.eval("main.scrollTop = 5000; nav.after(Object.assign(nav.cloneNode(true), {id: 'nav2', ariaLabel: 'More'})); nav2.style.left = '0'; nav.style.bottom = '50%'; nav2.style.top = '50%'; 1");
    let result = stage.ok(&["scroll"]);
    assert_eq!(result["evidence"]["scrolled"], serde_json::json!([]), "{result}");
    assert_eq!(result["evidence"]["panes"].as_array().map(Vec::len), Some(2), "{result}");
    assert_eq!(stage.eval("nav.scrollTop + nav2.scrollTop"), 0);
}

// contract: 5.3 report: 219
#[test]
fn a_pane_elsewhere_that_alone_can_move_is_taken() {
    let stage = Stage::take();
    let _visit = stage.show(PANES);
    stage.eval("main.scrollTop = 5000; 1");
    let result = stage.ok(&["scroll", "--dy", "200"]);
    assert_eq!(only(&result)["label"], "Sections", "{result}");
}

// contract: 5.3 report: 219
#[test]
fn an_open_modal_dialog_scrolls_and_not_what_lies_behind() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>M</title><body style="margin:0;height:4000px">behind
        <dialog id="d" aria-label="Terms" style="height:300px;overflow:hidden;padding:0">
          <div id="body" role="region" aria-label="Text" style="height:200px;overflow:auto"><p style="height:2000px">long</p></div>
        </dialog><script>d.showModal()</script>"#,
    );
    let result = stage.ok(&["scroll", "--dy", "150"]);
    assert_eq!(only(&result)["label"], "Text", "{result}");
    assert_eq!(
        stage.eval("[document.getElementById('body').scrollTop, scrollY]"),
        serde_json::json!([150, 0])
    );
}

// contract: 5.3 report: 219
#[test]
fn snapping_and_smooth_panes_are_told_where_they_came_to_rest() {
    let stage = Stage::take();
    let _visit = stage.show(
        r#"<!doctype html><title>Snap</title><style>body{margin:0}
        #p{height:100vh;overflow-y:auto;scroll-snap-type:y mandatory;scroll-behavior:smooth}
        #p>div{height:100vh;scroll-snap-align:start}</style>
        <div id="p" role="region" aria-label="Slides"><div>1</div><div>2</div><div>3</div></div>"#,
    );
    let result = stage.ok(&["scroll", "--dy", "600"]);
    let at = only(&result)["at"]["y"].as_f64();
    assert_eq!(at, stage.eval("p.scrollTop").as_f64(), "{result}");
    assert_eq!(at, stage.eval("innerHeight").as_f64(), "{result}");
}

// contract: 5.3
#[test]
fn an_element_is_brought_into_view_and_the_panes_round_it_are_told() {
    let (stage, visit) = Stage::open("far-down.html");
    let button = stage.ok(&["observe"])["nodes"].as_array().and_then(|nodes| {
        nodes.iter().find(|node| node["role"] == "button")?["ref"].as_str().map(str::to_owned)
    });
    let button = button.expect("a button far down");
    let result = stage.ok(&["scroll", &button]);
    assert_eq!(only(&result)["role"], "document", "{result}");
    let seen = "(() => { const r = document.querySelector('button').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()";
    assert_eq!(stage.eval(seen), true);
    assert!(visit.events().is_empty());
}

// contract: 5.3
#[test]
fn a_frame_under_the_middle_scrolls_and_is_named_by_its_frame() {
    let stage = Stage::take();
    let visit = stage.site().visit();
    visit.serve(
        "inside.html",
        "<!doctype html><title>In</title><body style=margin:0><div style=height:2000px>in</div>",
    );
    visit.serve(
        "outside.html",
        "<!doctype html><title>Out</title><body style=margin:0><iframe style='width:100%;height:100vh;border:0' src='http://b.localhost:{{port}}/{{visit}}/inside.html'></iframe>",
    );
    stage.go(&visit, "outside.html");
    stage.ok(&["wait", "text=in"]);
    let result = stage.ok(&["scroll", "--dy", "250"]);
    let pane = only(&result);
    assert!(pane["frameId"].is_string(), "{result}");
    assert_eq!(pane["at"]["y"], 250.0, "{result}");
}

// contract: 5.3, 2.6
#[test]
fn what_cannot_be_scrolled_so_is_refused() {
    let (stage, _visit) = Stage::open("form.html");
    for wrong in [
        &["scroll", "--dy", "20001"][..],
        &["scroll", "--dx", "0", "--dy", "0"],
        &["scroll", "--at", "5000,5000"],
        &["scroll", "--to", "bottom", "--dy", "5"],
        &["scroll", "e1", "--dy", "5"],
    ] {
        assert_eq!(stage.glassctl(wrong.iter().copied()).code, Some(2), "{wrong:?}");
    }
    stage.fails("target_not_found", &["scroll", "name=Nothing like it"]);
}
