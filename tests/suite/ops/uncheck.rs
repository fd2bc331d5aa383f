//! `uncheck`: at most one press, and a state that was read back.

use glass_tests::Stage;

// contract: 5.3
#[test]
fn a_ticked_box_is_unticked_once() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>U</title><script src=\"ledger.js\"></script><label><input id=on type=checkbox checked> On</label>",
    );
    let result = stage.ok(&["uncheck", "label=On"]);
    assert_eq!((stage.eval("on.checked"), visit.received("change").len()), (false.into(), 1), "{result}");
    let result = stage.ok(&["uncheck", "label=On"]);
    assert_eq!(result["evidence"]["already"], true, "{result}");
    assert_eq!(visit.received("change").len(), 1);
}

// contract: 5.3
#[test]
fn a_radio_button_cannot_be_unticked() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>R</title><script src=\"ledger.js\"></script><label><input id=r type=radio name=x checked> One</label>",
    );
    let error = stage.fails("invalid_argument", &["uncheck", "label=One"]);
    assert_eq!(error["dispatched"], "no", "{error}");
    assert!(visit.events().is_empty());
}
