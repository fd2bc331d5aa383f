//! `exportPage`: the page as a file in each form, without scripts and secrets, and nothing is fetched for it.

use std::fs;

use glass_tests::Stage;
use glass_tests::site::site;
use serde_json::{Value, json};

// contract: 7.8
#[test]
fn html_has_what_is_shown_and_typed_and_neither_scripts_nor_passwords() {
    let stage = Stage::take();
    let visit = stage.show(
        "<!doctype html><title>Export</title><script>var script_text=1</script><p onclick=\"handler()\">Words &lt;here&gt;</p>\
         <input aria-label=Name><input type=password aria-label=Secret value=given-secret><textarea aria-label=Note></textarea>\
         <input type=checkbox aria-label=Box><a href='javascript:evil()'>Link</a><div id=host></div>\
         <iframe srcdoc='<p>framed words'></iframe><script>host.attachShadow({mode:'open'}).innerHTML='<b>In shadow</b>'</script>",
    );
    stage.ok(&["fill", "label=Name", "Ann \"Quote\""]);
    stage.ok(&["fill", "label=Secret", "hunter2-secret"]);
    stage.ok(&["fill", "label=Note", "two\nlines"]);
    stage.ok(&["click", "label=Box"]);
    let requests = visit.requests().len();
    let exported = stage.ok(&["export-page", "--format", "html", "-o", "page.html"]);
    let html = fs::read_to_string(stage.path("cwd/page.html")).expect("the file");
    assert_eq!(exported["bytes"].as_u64(), Some(html.len() as u64));
    assert_eq!(exported["framesLeftOut"], 1, "{exported}");
    for there in [
        "Words &lt;here&gt;",
        "Ann &quot;Quote&quot;",
        "two\nlines",
        "checked",
        "In shadow",
        "<title>Export</title>",
    ] {
        assert!(html.contains(there), "{there} is not in {html}");
    }
    for never in ["script_text", "handler", "javascript:", "secret", "<script"] {
        assert!(!html.contains(never), "{never} is in {html}");
    }
    stage.ok(&["export-page", "--format", "text", "-o", "page.txt"]);
    let text = fs::read_to_string(stage.path("cwd/page.txt")).expect("the file");
    assert!(text.contains("Words <here>") && text.contains("framed words"), "{text}");
    assert_eq!(visit.requests().len(), requests, "nothing is fetched");
}

// contract: 7.8
#[test]
fn pdf_and_mhtml_are_what_they_say_and_hold_no_typed_password() {
    let (stage, _visit) = Stage::open("form.html");
    stage.ok(&["fill", "label=Password", "hunter2-secret"]);
    let exported = stage.ok(&["export-page", "--format", "pdf", "-o", "page.pdf"]);
    assert!(fs::read(stage.path("cwd/page.pdf")).expect("the file").starts_with(b"%PDF-"));
    assert_eq!(exported["completeness"], "unverified", "{exported}");
    stage.ok(&["export-page", "--format", "mhtml", "-o", "page.mhtml"]);
    let mhtml = fs::read_to_string(stage.path("cwd/page.mhtml")).expect("the file");
    assert!(mhtml.contains("MIME-Version: 1.0"), "{mhtml}");
    assert!(!mhtml.contains("hunter2-secret"));
    stage.eval("document.querySelector('[type=password]').setAttribute('value', 'hunter2-secret'); 1");
    let error = stage.fails("denied", &["export-page", "--format", "mhtml", "-o", "never.mhtml"]);
    assert_eq!(error["reason"], "sensitive_values", "{error}");
    assert!(!stage.path("cwd/never.mhtml").exists());
    let named: Vec<_> = (0..2)
        .map(|_| stage.ok(&["export-page", "--format", "text"])["path"].as_str().unwrap_or("").to_owned())
        .collect();
    assert!(named[0].contains("page-") && named[0] != named[1], "{named:?}");
}

// contract: 7.8
#[test]
fn assets_are_listed_and_written_without_asking_the_site_again() {
    let stage = Stage::take();
    let visit = stage.show("<!doctype html><title>Assets</title><img src=image.svg>");
    let listed = stage.ok(&["export-page", "--format", "assets"]);
    let asset = listed["assets"]
        .as_array()
        .expect("assets")
        .iter()
        .find(|one| one["pageUrl"].as_str().is_some_and(|url| url.ends_with("image.svg")));
    let url = asset.unwrap_or_else(|| panic!("{listed}"))["pageUrl"].as_str().expect("a URL").to_owned();
    let requests = visit.count("image.svg");
    stage.ok(&["export-page", "--format", "assets", "--asset", &url, "-o", "image.svg"]);
    assert!(fs::read_to_string(stage.path("cwd/image.svg")).expect("the file").starts_with("<svg"));
    assert_eq!(visit.count("image.svg"), requests);
    stage.fails(
        "target_not_found",
        &["export-page", "--format", "assets", "--asset", "http://nowhere.test/x"],
    );
    assert_eq!(stage.glassctl(["export-page", "--format", "pdf", "--asset", "x"]).code, Some(2));
}

/// What HAR 1.2 asks for.
fn har_schema() -> Value {
    let text = json!({ "type": "string" });
    let pairs = json!({ "type": "array", "items": { "type": "object", "required": ["name", "value"],
        "properties": { "name": text, "value": text } } });
    let time =
        json!({ "type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });
    let part = json!({ "type": "number", "minimum": -1 });
    let done = json!({ "type": "number", "minimum": 0 });
    json!({ "type": "object", "required": ["log"], "properties": { "log": {
        "type": "object", "required": ["version", "creator", "entries"], "properties": {
            "version": { "const": "1.2" },
            "creator": { "type": "object", "required": ["name", "version"] },
            "browser": { "type": "object", "required": ["name", "version"] },
            "pages": { "type": "array", "items": { "type": "object",
                "required": ["startedDateTime", "id", "title", "pageTimings"],
                "properties": { "startedDateTime": time, "id": text, "title": text } } },
            "entries": { "type": "array", "minItems": 1, "items": { "type": "object",
                "required": ["startedDateTime", "time", "request", "response", "cache", "timings"],
                "properties": {
                    "startedDateTime": time, "time": done,
                    "request": { "type": "object", "required": ["method", "url", "httpVersion", "cookies", "headers",
                        "queryString", "headersSize", "bodySize"], "properties": {
                        "method": text, "url": text, "httpVersion": text, "cookies": { "type": "array" },
                        "headers": pairs, "queryString": pairs,
                        "headersSize": { "type": "integer" }, "bodySize": { "type": "integer" } } },
                    "response": { "type": "object", "required": ["status", "statusText", "httpVersion", "cookies",
                        "headers", "content", "redirectURL", "headersSize", "bodySize"], "properties": {
                        "status": { "type": "integer" }, "statusText": text, "httpVersion": text, "headers": pairs,
                        "content": { "type": "object", "required": ["size", "mimeType"],
                            "properties": { "size": { "type": "number", "minimum": 0 }, "mimeType": text } },
                        "redirectURL": text } },
                    "timings": { "type": "object", "required": ["send", "wait", "receive"], "properties": {
                        "send": done, "wait": done, "receive": done, "blocked": part, "dns": part, "connect": part,
                        "ssl": part } } } } } } } } })
}

// contract: 7.5 7.8
#[test]
fn an_archive_of_the_requests_is_har_without_secrets_and_has_bodies_where_they_are_asked_for() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve_with(
        "data.json",
        r#"{"words":"inside"}"#,
        &[("Content-Type", "application/json"), ("Set-Cookie", "id=geheim")],
    );
    visit.serve("page.html", "<!doctype html><title>Archive</title><img src='missing.png?token=geheim'>");
    stage.go(&visit, "page.html");
    stage.ok(&[
        "evaluate",
        "fetch('data.json?key=geheim', { headers: { 'X-Token': 'geheim' } }).then(r => r.text())",
    ]);
    let exported = stage.ok(&["export-page", "--format", "har", "-o", "page.har"]);
    let text = fs::read_to_string(stage.path("cwd/page.har")).expect("the file");
    assert!(!text.contains("geheim") && !text.contains("inside"), "{text}");
    let har: Value = serde_json::from_str(&text).expect("JSON");
    let schema = jsonschema::validator_for(&har_schema()).expect("a schema");
    let wrong: Vec<_> =
        schema.iter_errors(&har).map(|error| format!("{} {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let entries = har["log"]["entries"].as_array().expect("entries");
    assert_eq!(exported["requests"].as_u64(), Some(entries.len() as u64));
    let of = |entries: &[Value], name: &str| {
        let found = entries
            .iter()
            .rfind(|entry| entry["request"]["url"].as_str().is_some_and(|url| url.contains(name)));
        found.unwrap_or_else(|| panic!("no {name} in {text}")).clone()
    };
    assert_eq!(of(entries, "missing.png")["response"]["status"], 404);
    let data = of(entries, "data.json");
    assert_eq!(data["response"]["content"]["size"], 18.0);
    assert_eq!(data["request"]["queryString"], json!([{ "name": "key", "value": "…" }]));
    stage.ok(&["export-page", "--format", "har", "--bodies", "-o", "page.har"]);
    let whole: Value =
        serde_json::from_slice(&fs::read(stage.path("cwd/page.har")).expect("the file")).expect("JSON");
    let data = of(whole["log"]["entries"].as_array().expect("entries"), "data.json");
    assert_eq!(data["response"]["content"]["text"], r#"{"words":"inside"}"#);
    stage.fails("invalid_argument", &["export-page", "--format", "text", "--bodies"]);
}
