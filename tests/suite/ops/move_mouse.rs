//! `moveMouse`: the pointer goes to a point and stays there.

use glass_tests::Stage;

// contract: 5.3
#[test]
fn what_is_under_the_pointer_is_told_and_nothing_is_pressed() {
    let stage = Stage::take();
    let visit = stage.show(
        r#"<!doctype html><title>M</title><script src="ledger.js"></script><style>#tip{display:none}#b:hover+#tip{display:block}</style>
        <body style="margin:0"><button id="b" style="position:absolute;left:100px;top:100px;width:100px;height:40px">Over</button><p id="tip">A tip</p>"#,
    );
    let result = stage.ok(&["move-mouse", "150", "120"]);
    assert_eq!(result["evidence"]["hitTarget"]["label"], "Over", "{result}");
    stage.ok(&["observe"]);
    assert_eq!(stage.eval("getComputedStyle(tip).display"), "block", "it stays there");
    assert!(visit.events().is_empty());
    stage.fails("invalid_argument", &["move-mouse", "9999", "1"]);
}
