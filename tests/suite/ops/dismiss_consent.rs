//! `dismissConsent`: known dialogs are rejected where that is possible, and nothing else is ever pressed.
//!
//! The fixtures have the structure of the vendors' public markup: ids and classes, layers, late insertion, a frame of
//! another site, a shadow root around.

use glass_tests::Stage;
use glass_tests::site::{Visit, site};
use serde_json::Value;

const ONETRUST: &str = "<div id=onetrust-consent-sdk><div class='onetrust-pc-dark-filter ot-fade-in'></div>
 <div id=onetrust-banner-sdk class='otFlat bottom' role=region aria-label='Cookie banner'><div id=onetrust-button-group-parent><div id=onetrust-button-group>
 <button id=onetrust-pc-btn-handler class=cookie-setting-link onclick=\"document.getElementById('onetrust-pc-sdk').style.display='block'\">Cookies Settings</button>
 REJECT<button id=onetrust-accept-btn-handler onclick=done()>Accept All Cookies</button></div></div></div>
 <div id=onetrust-pc-sdk class=otPcCenter role=alertdialog aria-label='Preference center' style=display:none><button class=ot-pc-refuse-all-handler id=refuse onclick=done()>Reject All</button>
 <button class='save-preference-btn-handler onetrust-close-btn-handler' id=save onclick=done()>Confirm My Choices</button></div></div>";
const COOKIEBOT: &str = "<div id=CybotCookiebotDialog role=dialog aria-label='This website uses cookies'><div id=CybotCookiebotDialogFooter>
 REJECT<button id=CybotCookiebotDialogBodyLevelButtonLevelOptinAllowallSelection onclick=done()>Allow selection</button>
 <button id=CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll onclick=done()>Allow all</button></div></div>";
const DIDOMI: &str = "<div id=didomi-host><div id=didomi-notice class='didomi-popup-notice' role=dialog aria-label='Welcome'><div id=buttons>
 <span class=didomi-continue-without-agreeing id=without role=button tabindex=0 onclick=done()>Continue without agreeing →</span>
 <button id=didomi-notice-learn-more-button>Learn more</button><button id=didomi-notice-agree-button onclick=done()>Agree &amp; close</button></div></div></div>";
const QUANTCAST: &str = "<div id=qc-cmp2-container class=qc-cmp2-container><div id=qc-cmp2-main class=qc-cmp2-main><div id=qc-cmp2-ui role=dialog aria-label='We value your privacy'>
 <div class=qc-cmp2-summary-buttons><button mode=secondary size=large id=q-more onclick=\"document.querySelector('.qc-cmp2-header-links').hidden=false\"><span>MORE OPTIONS</span></button>
 <button mode=primary size=large id=q-agree onclick=done()><span>AGREE</span></button></div>
 <div class=qc-cmp2-header-links hidden><button id=q-reject onclick=done()>REJECT ALL</button><button id=q-accept onclick=done()>ACCEPT ALL</button></div></div></div></div>";
const TRUSTARC: &str = "<div class=truste_overlay></div><div class=truste_box_overlay><iframe class=truste_popframe id=pop-frame title='TrustArc Cookie Consent Manager' width=500 height=200
 src='http://b.localhost:{{port}}/{{visit}}/trustarc.html'></iframe></div><script>onmessage=()=>done()</script>";

/// Serves a page with this dialog, which a script inserts late.
fn serve(visit: &Visit, dialog: &str, around: &str) {
    let dialog = dialog.replace('\n', " ");
    visit.serve(
        "consent.html",
        &format!(
            "<!doctype html><title>Consent</title><script src=ledger.js></script><button id=page-accept>Accept all</button><div id=at></div><template id=markup>{dialog}</template>
             <script>function done(){{const at=document.getElementById('at');(at.shadowRoot||at).replaceChildren();at.innerHTML=''}}
             setTimeout(()=>{{const copy=document.getElementById('markup').content.cloneNode(true);{around}.append(copy)}},300)</script>"
        ),
    );
}

fn open(dialog: &str, around: &str) -> (Stage, Visit) {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "trustarc.html",
        "<!doctype html><title>TrustArc</title><script src=ledger.js></script><div class=pdynamicbutton><a class=rejectAll id=t-reject href='#' onclick=\"parent.postMessage('no','*')\">Reject All</a>
         <a class=call id=t-accept href='#' onclick=\"parent.postMessage('yes','*')\">Accept All</a></div>",
    );
    serve(&visit, dialog, around);
    stage.ok(&["navigate", &visit.url_at("a.localhost", "consent.html")]);
    (stage, visit)
}

fn consent(answer: &Value) -> (&str, &str, usize) {
    let consent = &answer["evidence"]["consent"];
    let word = |key: &str| consent[key].as_str().unwrap_or_default();
    (word("vendor"), word("choice"), consent["pressed"].as_array().map_or(0, Vec::len))
}

// contract: 5.3
#[test]
fn each_known_dialog_is_rejected_however_it_came_and_what_was_pressed_is_told() {
    const LIGHT: &str = "document.getElementById('at')";
    const SHADOW: &str = "document.getElementById('at').attachShadow({mode:'open'})";
    let reject = "<button id=onetrust-reject-all-handler onclick=done()>Reject All</button>";
    let deny = "<button id=CybotCookiebotDialogBodyButtonDecline onclick=done()>Deny</button>";
    let cases: &[(&str, String, &str, &[&str])] = &[
        ("OneTrust", ONETRUST.replace("REJECT", reject), LIGHT, &["onetrust-reject-all-handler"]),
        ("OneTrust", ONETRUST.replace("REJECT", ""), LIGHT, &["onetrust-pc-btn-handler", "refuse"]),
        ("Cookiebot", COOKIEBOT.replace("REJECT", deny), LIGHT, &["CybotCookiebotDialogBodyButtonDecline"]),
        ("Didomi", DIDOMI.to_owned(), SHADOW, &["without"]),
        ("Quantcast", QUANTCAST.to_owned(), LIGHT, &["q-more", "q-reject"]),
        ("TrustArc", TRUSTARC.to_owned(), LIGHT, &["t-reject"]),
    ];
    for (vendor, dialog, around, pressed) in cases {
        let (stage, visit) = open(dialog, around);
        let answer = stage.ok(&["dismiss-consent", "--wait-ms", "5000"]);
        assert_eq!(consent(&answer), (*vendor, "rejected", pressed.len()), "{answer}");
        assert_eq!(visit.clicks(), *pressed, "{vendor}");
        let observed = stage.ok(&["observe"]);
        assert_eq!(observed["dialog"], Value::Null);
        assert!(!observed["outline"].as_str().is_some_and(|text| text.contains("Reject")), "{observed}");
    }
}

// contract: 5.3
#[test]
fn a_page_without_a_known_dialog_that_is_shown_is_not_touched() {
    let hidden = format!("<div style=display:none>{}</div>", ONETRUST.replace("REJECT", ""));
    let (stage, visit) = open(&hidden, "document.getElementById('at')");
    let answer = stage.ok(&["dismiss-consent", "--wait-ms", "600"]);
    assert_eq!((consent(&answer).0, &answer["evidence"]["already"]), ("", &true.into()), "{answer}");
    let text = stage.glassctl(["dismiss-consent", "--wait-ms", "0"]).success().stdout;
    assert!(text.contains("no known consent dialog"), "{text}");
    assert!(visit.events().is_empty(), "{:?}", visit.events());
}

// contract: 5.3, 2.1
#[test]
fn what_cannot_be_rejected_is_accepted_only_where_that_is_allowed_and_what_stays_is_no_success() {
    let (stage, visit) = open(&COOKIEBOT.replace("REJECT", ""), "document.getElementById('at')");
    let error = stage.fails("not_actionable", &["dismiss-consent", "--reject-only", "--wait-ms", "5000"]);
    assert_eq!((&error["reason"], &error["dispatched"]), (&"no_reject".into(), &"no".into()), "{error}");
    assert!(visit.events().is_empty(), "{:?}", visit.events());
    let answer = stage.ok(&["dismiss-consent"]);
    assert_eq!(consent(&answer), ("Cookiebot", "accepted", 1), "{answer}");
    assert_eq!(visit.clicks(), ["CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll"]);
    serve(&visit, &DIDOMI.replace("onclick=done()", ""), "document.getElementById('at')");
    stage.ok(&["reload"]);
    let error =
        stage.fails("verification_failed", &["dismiss-consent", "--wait-ms", "2000", "--timeout-ms", "2500"]);
    assert_eq!(
        (&error["reason"], &error["outcome"]),
        (&"still_shown".into(), &"completed".into()),
        "{error}"
    );
}
