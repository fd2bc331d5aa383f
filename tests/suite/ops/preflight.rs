//! `preflight`: what an action would meet, without the action.

use glass_tests::Stage;

// contract: 4.3
#[test]
fn it_says_whether_the_element_is_ready_and_sends_nothing() {
    let (stage, _visit) = Stage::open("form.html");
    let visit = stage.show(
        "<title>P</title><script src=ledger.js></script><button id=on>On</button><button disabled>Off</button>
         <input aria-label=Field><input aria-label=Fixed readonly>
         <div style='position:relative;width:200px;height:40px'><button>Under</button>
           <p id=over style='position:absolute;inset:0;margin:0;background:red'>Over</p></div>
         <div style='height:4000px'></div><button>Far</button>",
    );
    let say = |call: &[&str]| stage.ok(&[&["preflight"], call].concat());
    let ready = say(&["On"]);
    assert_eq!(
        (&ready["unique"], &ready["actionable"], &ready["total"]),
        (&true.into(), &true.into(), &1.into())
    );
    assert!(ready["box"][2].as_f64().is_some_and(|width| width > 5.0), "{ready}");
    assert!(ready["reason"].is_null(), "{ready}");
    assert_eq!(say(&["Off"])["reason"], "disabled");
    assert_eq!(say(&["Off", "--action", "hover"])["actionable"], true);
    assert_eq!(say(&["label=Field", "--action", "fill"])["actionable"], true);
    assert_eq!(say(&["label=Fixed", "--action", "fill"])["reason"], "not_editable");
    let covered = say(&["Under"]);
    assert_eq!(covered["reason"], "hit_test_blocked", "{covered}");
    assert!(covered["candidates"][0]["label"].as_str().is_some_and(|label| label == "Over"), "{covered}");
    let far = say(&["Far"]);
    assert_eq!((&far["actionable"], &far["needsScroll"]), (&false.into(), &true.into()), "{far}");
    assert_eq!(stage.eval("scrollY"), 0, "nothing was scrolled");
    assert!(visit.events().is_empty(), "nothing was sent");
}

// contract: 4.3
#[test]
fn several_and_none_are_answers_with_candidates() {
    let (stage, visit) = Stage::open("twins.html");
    let several = stage.ok(&["preflight", "role=button;name=Delete"]);
    assert_eq!(
        (&several["unique"], &several["reason"]),
        (&false.into(), &"ambiguous_target".into()),
        "{several}"
    );
    assert_eq!(several["candidates"].as_array().map(Vec::len), Some(3));
    let none = stage.ok(&["preflight", "Nothing"]);
    assert_eq!((&none["actionable"], &none["reason"]), (&false.into(), &"target_not_found".into()), "{none}");
    stage.fails("invalid_argument", &["preflight", "css=[[["]);
    assert_eq!(stage.glassctl(["preflight", "Delete", "--action", "fly"]).code, Some(2));
    assert!(visit.events().is_empty());
}

// contract: 4.3, 5.1
#[test]
fn an_overlay_of_the_parent_page_counts_for_an_element_in_a_frame() {
    let stage = Stage::take();
    stage.show(
        "<title>P</title><iframe title=Inner srcdoc='<button>Inside</button>' width=300 height=80></iframe>
         <div id=over style='position:fixed;inset:0'></div>",
    );
    stage.ok(&["wait", "visible=Inside"]);
    assert_eq!(stage.ok(&["preflight", "Inside"])["reason"], "hit_test_blocked");
    stage.eval("document.getElementById('over').remove()");
    assert_eq!(stage.ok(&["preflight", "Inside"])["actionable"], true);
}
