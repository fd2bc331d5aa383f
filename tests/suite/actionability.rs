//! Acting waits until the element can be acted on, presses where it really is, and says why it could not.

use std::time::Duration;

use glass_tests::Stage;

const QUICK: Duration = Duration::from_secs(3);

// contract: 5.1 report: 7
#[test]
fn an_element_below_the_fold_is_scrolled_to_and_clicked() {
    let (stage, visit) = Stage::open("far-down.html");
    stage.ok(&["click", "name=Far down"]);
    assert_eq!(visit.clicks(), ["far"]);
    assert!(stage.eval("scrollY").as_f64() > Some(1000.0));
    stage.ok(&["click", "name=Far right"]);
    assert_eq!(visit.clicks(), ["far", "right"]);
}

// contract: 5.1 report: 8
#[test]
fn a_banner_that_goes_away_is_waited_for() {
    let (stage, visit) = Stage::open("covered.html");
    stage.eval("setTimeout(() => consent.remove(), 700); 1");
    stage.ok(&["click", "name=Buy"]);
    assert_eq!(visit.clicks(), ["buy"]);
    assert!(visit.events().iter().all(|event| event.id == "buy"), "{:?}", visit.events());
}

// contract: 5.1 report: 8
#[test]
fn a_banner_that_stays_is_named_and_not_clicked() {
    let (stage, visit) = Stage::open("covered.html");
    let answer = stage.ask(&["click", "name=Buy", "--timeout-ms", "900"]);
    let error = answer.fails("not_actionable");
    assert_eq!(error["reason"], "hit_test_blocked", "{error}");
    assert_eq!((error["outcome"].as_str(), error["dispatched"].as_str()), (Some("rejected"), Some("no")));
    assert!(error.to_string().contains("\"ref\""), "the blocker has a ref: {error}");
    assert!(visit.events().is_empty(), "{:?}", visit.events());
    assert!(answer.run.took < QUICK, "{}", answer.run);
}

// contract: 5.1 report: 9
#[test]
fn smooth_scrolling_does_not_move_the_click_to_a_neighbour() {
    let (stage, visit) = Stage::open("smooth.html");
    stage.eval("setTimeout(() => cover.remove(), 400); 1");
    stage.ok(&["click", "name=Item 20"]);
    assert_eq!(visit.clicks(), ["item-20"]);
    assert!(visit.events().iter().all(|event| event.id == "item-20"), "{:?}", visit.events());
}

// contract: 5.1 report: 10
#[test]
fn rows_under_sticky_headings_get_their_own_clicks() {
    let (stage, visit) = Stage::open("sticky.html");
    let mut wanted = Vec::new();
    for row in (0..12).rev() {
        let answer = stage.ask(&["click", &format!("name=Row {row}")]);
        answer.result();
        assert!(answer.run.took < QUICK, "{}", answer.run);
        wanted.push(format!("row-{row}"));
    }
    assert_eq!(visit.clicks(), wanted);
    assert!(visit.events().iter().all(|event| event.id.starts_with("row-")), "{:?}", visit.events());
    stage.ok(&["click", "name=Left last"]);
    stage.ok(&["click", "name=Right first"]);
}

// contract: 5.1 report: 11
#[test]
fn what_lets_presses_through_is_not_called_covered_by_what_is_behind_it() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Through</title><script src=ledger.js></script><button id=through style='pointer-events: none'>Through</button>
         <div style='clip-path: inset(100%)'><button>Clipped</button></div>",
    );
    for name in ["Through", "Clipped"] {
        let error =
            stage.fails("not_actionable", &["click", &format!("name={name}"), "--timeout-ms", "1500"]);
        assert_eq!(
            (&error["reason"], error.get("candidates")),
            (&"hit_test_blocked".into(), None),
            "{error}"
        );
    }
    assert_eq!(visit.clicks(), Vec::<String>::new());
}

// contract: 5.1 report: 11
#[test]
fn a_disabled_button_is_waited_for_and_an_inert_one_is_refused() {
    let (stage, visit) = Stage::open("disabled.html");
    stage.eval("setTimeout(() => { soon.disabled = false }, 1000); 1");
    stage.ok(&["click", "name=Soon"]);
    assert_eq!(visit.clicks(), ["soon"]);
    for (id, reason) in
        [("never", "disabled"), ("in-fieldset", "disabled"), ("aria", "disabled"), ("in-inert", "disabled")]
    {
        let error = stage.fails("not_actionable", &["click", &format!("css=#{id}"), "--timeout-ms", "700"]);
        assert!(
            error["reason"] == reason || (id == "in-inert" && error["reason"].is_string()),
            "{id}: {error}"
        );
        assert_eq!(error["dispatched"], "no", "{id}: {error}");
    }
    assert_eq!(visit.clicks(), ["soon"]);
    stage.ok(&["click", "css=#legend-button"]);
}

// contract: 5.1 report: 201
#[test]
fn a_link_broken_over_lines_is_hit_on_one_of_its_pieces() {
    let (stage, visit) = Stage::open("broken-link.html");
    for (name, id) in [("lon li", "two-lines"), ("tail li", "empty-first"), ("aa bb cc", "covered-lines")] {
        let result = stage.ok(&["click", &format!("role=link;name={name}")]);
        assert_eq!(result["evidence"]["hitTarget"]["ref"], result["target"]["ref"], "{result}");
        assert_eq!(stage.eval("location.hash"), format!("#{id}"));
        assert_eq!(visit.clicks().last().map(String::as_str), Some(id));
    }
    assert!(visit.events().iter().all(|event| !event.id.is_empty()), "{:?}", visit.events());
}

// contract: 5.1 report: 202
#[test]
fn turned_flipped_and_clipped_elements_are_hit_where_they_are() {
    let (stage, visit) = Stage::open("turned.html");
    for id in ["rotated", "flipped", "card", "skewed"] {
        stage.ok(&["click", &format!("css=#{id}")]);
    }
    assert_eq!(visit.clicks(), ["rotated", "flipped", "card", "skewed"]);
    let others: Vec<_> = visit
        .events()
        .into_iter()
        .filter(|event| !["rotated", "flipped", "card", "skewed"].contains(&event.id.as_str()))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

// contract: 5.1 report: 206
#[test]
fn what_is_collapsed_is_refused_and_the_same_ref_works_once_it_is_open() {
    let (stage, visit) = Stage::open("collapsed.html");
    for id in ["collapsed", "in-details", "until-found", "skipped"] {
        let answer = stage.ask(&["click", &format!("css=#{id}"), "--timeout-ms", "500"]);
        assert!(matches!(answer.kind(), Some("not_actionable" | "target_not_found")), "{id}: {}", answer.run);
    }
    assert!(visit.events().is_empty());
    let found = stage.ok(&["find", "css=#collapsed", "--all"]);
    let reference = found["matches"][0]["ref"].as_str().expect("a ref").to_owned();
    let error = stage.fails("not_actionable", &["click", &reference, "--timeout-ms", "500"]);
    assert_eq!(error["reason"], "not_visible", "{error}");
    stage.eval("accordion.style.height = 'auto'; 1");
    stage.ok(&["click", &reference]);
    stage.ok(&["click", "name=Overflows"]);
    assert_eq!(visit.clicks(), ["collapsed", "overflows"]);
}

// contract: 5.1 report: 209
#[test]
fn a_button_that_pulses_or_glows_does_not_eat_the_deadline() {
    let (stage, visit) = Stage::open("moving.html");
    for name in ["Pulse", "Glow"] {
        let answer = stage.ask(&["click", &format!("name={name}")]);
        answer.result();
        assert!(answer.run.took < QUICK, "{}", answer.run);
    }
    let answer = stage.ask(&["click", "name=Wander", "--timeout-ms", "3000"]);
    match answer.kind() {
        None => assert_eq!(visit.clicks(), ["pulse", "glow", "wander"]),
        Some(_) => {
            assert_eq!(answer.fails("not_actionable")["reason"], "unstable_geometry", "{}", answer.run);
            assert_eq!(visit.clicks(), ["pulse", "glow"]);
        }
    }
    assert!(
        visit.events().iter().all(|event| !event.id.is_empty()),
        "no press beside a button: {:?}",
        visit.events()
    );
}

// contract: 5.1, DESIGN 7
#[test]
fn an_element_that_slips_away_under_the_press_is_never_a_click_on_another() {
    let (stage, visit) = Stage::open("slips.html");
    for _ in 0..5 {
        let answer = stage.ask(&["click", "name=Wanted", "--timeout-ms", "1500"]);
        if answer.kind().is_some() {
            assert!(
                matches!(answer.kind(), Some("not_actionable" | "verification_failed")),
                "{}",
                answer.run
            );
        }
    }
    let wrong: Vec<_> = visit.events().into_iter().filter(|event| event.id == "danger").collect();
    assert!(wrong.is_empty(), "the page saw {wrong:?}");
    assert_eq!(stage.eval("window.danger"), 0);
}

// contract: 5.1
#[test]
fn a_label_and_a_child_of_the_button_count_as_the_element() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>L</title><script src=ledger.js></script><button id=b><svg width=40 height=40><rect width=40 height=40 /></svg><b>Bold</b></button>\
         <label id=l for=c>Tick me</label><input id=c type=checkbox>",
    );
    stage.ok(&["click", "role=button;name=Bold"]);
    stage.ok(&["click", "role=checkbox;name=Tick me"]);
    assert_eq!(stage.eval("c.checked"), true);
    assert!(visit.clicks().contains(&"b".to_owned()));
}

// contract: 5.1
#[test]
fn one_pixel_and_nothing_are_told_apart() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>S</title><script src=ledger.js></script><style>button{padding:0;border:0;position:absolute;left:50px}</style>\
         <button id=small style='width:1px;height:1px;top:50px' aria-label=Small></button><button id=none style='width:0;height:0;top:90px;overflow:hidden' aria-label=None></button>",
    );
    stage.ok(&["click", "name=Small"]);
    assert_eq!(visit.clicks(), ["small"]);
    stage.ask(&["click", "css=#none", "--timeout-ms", "500"]).error();
    assert_eq!(visit.clicks(), ["small"]);
}
