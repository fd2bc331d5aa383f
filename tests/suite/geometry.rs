//! Where a press lands on elements that are broken over lines, turned, empty or have no box of their own.

use glass_tests::Stage;

const SHAPES: &str = r##"<!doctype html><title>Shapes</title><script>hits = {}; const hit = (k) => { hits[k] = (hits[k] || 0) + 1 }</script>
<div style="width:24ch;font:16px/60px monospace">aaaa aaaa aaaa aaaa <a href="#hit">lon li</a> bbbb</div>
<svg width="320" height="100"><line x1="20" y1="50" x2="280" y2="50" stroke="black" stroke-width="12" role="button" aria-label="Line" onclick="hit('line')"/>
<g role="button" aria-label="Group" onclick="hit('group')"><circle cx="30" cy="20" r="10"/><circle cx="280" cy="90" r="10"/></g></svg>
<div style="display:contents" role="button" tabindex="0" onclick="hit('contents')"><span>In contents</span></div>
<p><a href="#en" aria-label="English" style="position:relative;display:inline-block;width:0;height:0"><img alt="" style="position:absolute;left:0;top:0" width="40" height="30" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"></a></p><br><br>
<div id="accordion" style="height:0;overflow:hidden"><button onclick="hit('collapsed')">Collapsed</button></div>
<div style="height:0"><button onclick="hit('overflows')">Overflows</button></div><br><br>
<section style="visibility:hidden"><p style="visibility:visible"><button onclick="hit('seen')">Seen</button></p></section>
<button style="width:300px;height:20px;transform:rotate(45deg);clip-path:inset(0 60% 0 0);margin:120px" onclick="hit('turned')">Turned</button>
<button style="display:block;width:80px;transform:scale(-1,1)" onclick="hit('flipped')">Flipped</button>"##;

// contract: 5.1 report: 201, 205
#[test]
fn links_over_two_lines_and_links_without_a_size_are_followed() {
    let stage = Stage::take();
    let _visit = stage.show(SHAPES);
    let result = stage.ok(&["click", "role=link;name=lon li"]);
    assert_eq!(result["evidence"]["hitTarget"]["role"], "link", "{result}");
    assert_eq!(stage.eval("location.hash"), "#hit");
    stage.ok(&["click", "role=link;name=English"]);
    assert_eq!(stage.eval("location.hash"), "#en");
}

// contract: 5.1 report: 202, 204, 206, 207
#[test]
fn each_odd_shape_is_pressed_once_and_what_is_collapsed_is_not() {
    let stage = Stage::take();
    let _visit = stage.show(SHAPES);
    for name in ["Line", "Group", "In contents", "Overflows", "Seen", "Turned", "Flipped"] {
        stage.ok(&["click", &format!("name={name}")]);
    }
    let once = serde_json::json!({
        "line": 1, "group": 1, "contents": 1, "overflows": 1, "seen": 1, "turned": 1, "flipped": 1
    });
    assert_eq!(stage.eval("hits"), once);
    let error = stage.fails("target_not_found", &["click", "name=Collapsed", "--timeout-ms", "700"]);
    assert_eq!(error["details"]["hidden"], 1, "{error}");
    stage.eval("accordion.style.height = 'auto'; 1");
    stage.ok(&["click", "name=Collapsed"]);
    assert_eq!(stage.eval("hits.collapsed"), 1);
}

const OTHER_SHAPES: &str = "<!doctype html><title>Shapes</title><script src=ledger.js></script>
<svg width=400 height=120><path id=path d='M10 60 H200' stroke=black stroke-width=8 fill=none role=button aria-label=Path tabindex=0 /><text id=words x=10 y=30 role=link tabindex=0>Svg words</text>
 <g role=button aria-label=Ring tabindex=0 id=ring><circle cx=300 cy=60 r=40 fill=none stroke=black stroke-width=6 /></g></svg>
<div style=display:contents role=button tabindex=0 id=contents><div style=display:contents><span>Nested contents</span></div></div>
<a href='#float' id=float aria-label=Floated style='display:block;width:0;height:0'><img src=image.svg style=float:left width=30 height=20 alt=''></a><br style=clear:both>
<a href='#over' id=over style='display:inline-block;width:0;height:0;white-space:nowrap'>Overflowing words</a><br><br>
<div style='max-height:0;overflow:hidden'><button>Gone one</button></div><div style='transform:scale(0)'><button>Gone two</button></div>
<div style='width:0;overflow:hidden'><button>Gone three</button></div><div style='height:0;overflow:clip'><button>Gone four</button></div>
<div style=visibility:hidden><div style=visibility:collapse><button id=again style=visibility:visible>Seen again</button></div></div>
<div style=visibility:hidden><x-slot><button id=slotted slot=a style=visibility:visible>Seen in a slot</button></x-slot></div>
<div style='height:40px;overflow:auto;width:150px'><div style=height:400px></div><button id=deep>Deep in a pane</button></div>
<script>customElements.define('x-slot',class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'open'}).innerHTML='<div style=visibility:hidden><slot name=a></slot></div>'}})</script>";

// contract: 5.1, 3.2 report: 204, 205, 206, 207
#[test]
fn other_shapes_of_the_same_kinds_are_pressed_once_each_and_what_is_gone_is_not_listed() {
    let stage = Stage::take();
    let visit = stage.show(OTHER_SHAPES);
    let pressed = [
        ("Path", "path"),
        ("Svg words", "words"),
        ("Ring", "ring"),
        ("Nested contents", "contents"),
        ("Floated", "float"),
        ("Overflowing words", "over"),
        ("Seen again", "again"),
        ("Seen in a slot", "slotted"),
        ("Deep in a pane", "deep"),
    ];
    for (name, _) in pressed {
        stage.ok(&["click", &format!("name={name}")]);
    }
    assert_eq!(visit.clicks(), pressed.map(|(_, id)| id));
    let observed = stage.ok(&["observe"]);
    let names = observed["nodes"].as_array().into_iter().flatten().filter_map(|row| row["name"].as_str());
    assert_eq!(names.filter(|name| name.starts_with("Gone")).count(), 0, "{observed}");
    stage.fails("target_not_found", &["click", "name=Gone two"]);
}
