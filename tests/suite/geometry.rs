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
