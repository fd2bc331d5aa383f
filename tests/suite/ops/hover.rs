//! `hover`: the pointer goes over exactly the element that was meant, presses nothing, and stays there.

use glass_tests::Stage;

const MENU: &str = r#"<!doctype html><title>Menu</title><script src="ledger.js"></script>
<style>
  body { margin: 0; font: 16px/30px sans-serif }
  nav { position: absolute; left: 40px; top: 20px }
  .sub { display: none; position: absolute; top: 31px; left: 0; width: 200px; background: #eee }
  .item:hover > .sub, .sub:hover { display: block }
  .fly { display: none; position: absolute; left: 200px; top: 0; width: 160px; background: #ddd }
  .row.open > .fly { display: block }
  .row { position: relative }
  button { display: block }
</style>
<nav><div class="item" id="file" tabindex="0" role="button" aria-label="File">File
  <div class="sub">
    <div class="row" id="export" role="button" tabindex="0" aria-label="Export">Export
      <div class="fly"><button id="pdf" onclick="done='pdf'">As PDF</button></div></div>
    <div class="row" id="import" role="button" tabindex="0" aria-label="Import">Import
      <div class="fly"><button id="csv">From CSV</button></div></div>
  </div></div></nav>
<script>
  for (const row of document.querySelectorAll('.row')) {
    let timer;
    row.addEventListener('mouseenter', () => { clearTimeout(timer); row.classList.add('open') });
    row.addEventListener('mouseleave', () => { timer = setTimeout(() => row.classList.remove('open'), 100) });
  }
</script>"#;

// contract: 5.3, 2.4
#[test]
fn the_pointer_is_over_the_element_and_nothing_is_pressed() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>H</title><script src=\"ledger.js\"></script><button id=a>One</button><button id=b>Two</button>",
    );
    let result = stage.ok(&["hover", "Two"]);
    assert_eq!(stage.eval("document.querySelector('button:hover').id"), "b");
    assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
    assert!(visit.events().is_empty(), "{:?}", visit.events());
    // Where it already is, it can be sent again.
    let again = stage.ok(&["hover", "Two"]);
    assert_eq!(again["evidence"]["hitTarget"]["ref"], again["target"]["ref"], "{again}");
}

// contract: 5.3 report: 220
#[test]
fn a_menu_that_lives_by_hovering_stays_open_between_commands() {
    let stage = Stage::take();
    let visit = stage.show(MENU);
    stage.ok(&["hover", "role=button;name=File"]);
    let export = stage.reference("button", "Export");
    stage.ok(&["screenshot", "-o", "menu.png"]);
    stage.ok(&["hover", &export]);
    assert!(!stage.reference("button", "As PDF").is_empty(), "observe lists it while the menu is open");
    stage.ok(&["click", "role=button;name=As PDF"]);
    assert_eq!(stage.eval("window.done"), "pdf");
    assert_eq!(visit.clicks(), ["pdf"]);
}

// contract: 5.1
#[test]
fn what_the_pointer_cannot_reach_is_refused_with_what_covers_it() {
    let (stage, visit) = Stage::open("covered.html");
    let observed = stage.ok(&["observe"]);
    let name = observed["nodes"].as_array().and_then(|nodes| {
        let button = nodes.iter().find(|node| node["role"] == "button")?;
        button["ref"].as_str().map(str::to_owned)
    });
    if let Some(button) = name {
        let error = stage.fails("not_actionable", &["hover", &button, "--timeout-ms", "600"]);
        assert_eq!(error["dispatched"], "no", "{error}");
    }
    assert!(visit.events().is_empty());
}

// contract: 5.3
#[test]
fn a_disabled_element_can_be_hovered_over() {
    let stage = Stage::take();
    let _visit = stage.show(
        "<!doctype html><title>D</title><style>#why{display:none}span:hover #why{display:inline}</style><span><button disabled>Pay</button><i id=why>not yet</i></span>",
    );
    stage.ok(&["hover", "role=button;name=Pay"]);
    stage.ok(&["wait", "text=not yet"]);
}

// contract: 5.1, 7.1
#[test]
fn a_frame_of_another_site_gets_the_pointer() {
    let (stage, _visit) = Stage::open("cross.html");
    let observed = stage.ok(&["observe"]);
    let inner =
        observed["nodes"].as_array().expect("nodes").iter().find(|node| {
            node["role"] == "button" && node["ref"].as_str().is_some_and(|at| at.starts_with('f'))
        });
    let inner = inner.expect("a button in a frame")["ref"].as_str().expect("a ref").to_owned();
    let result = stage.ok(&["hover", &inner]);
    assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
}
