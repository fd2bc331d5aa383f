//! Pages that are not HTML: everything that is asked of one has an honest answer, and the next page is an ordinary one.

use std::fs;

use glass_tests::Stage;
use glass_tests::site::site;
use serde_json::{Value, json};

/// A PDF of one page with a few words.
fn pdf() -> String {
    let words = "BT /F1 24 Tf 40 100 Td (Words in the PDF) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{words}\nendstream", words.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut out = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out += &format!("{} 0 obj\n{object}\nendobj\n", number + 1);
    }
    let table = out.len();
    out += &format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        out += &format!("{place:010} 00000 n \n");
    }
    out + &format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1)
}

/// What a document is, and what is to be found in it.
struct Kind {
    path: &'static str,
    media_type: &'static str,
    content: String,
    /// A part of its text; none where the browser shows what is no text.
    text: Option<&'static str>,
}

fn kinds() -> Vec<Kind> {
    let kind =
        |path, media_type, content: &str, text| Kind { path, media_type, content: content.to_owned(), text };
    vec![
        Kind { path: "x.pdf", media_type: "application/pdf", content: pdf(), text: None },
        kind(
            "x.svg",
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='50'><text y='20'>svg words</text></svg>",
            Some("svg words"),
        ),
        kind("x.bmp", "image/bmp", "BM", None),
        kind("x.txt", "text/plain", "plain <b>words</b>", Some("plain <b>words</b>")),
        kind("x.xml", "application/xml", "<a><b>xml words</b></a>", Some("xml words")),
        kind("x.json", "application/json", "{\"json\":\"words\"}", Some("{\"json\":\"words\"}")),
        kind("x.css", "text/css", "p { color: red }", Some("p { color: red }")),
    ]
}

// contract: 7.7, 7.8, 5.3
// report: 50
#[test]
fn documents_of_every_kind_are_observed_read_pictured_exported_and_left() {
    let stage = Stage::take();
    let visit = site().visit();
    visit.serve(
        "home.html",
        "<!doctype html><title>Home</title><button onclick=\"document.title='Pressed'\">Press</button>",
    );
    for kind in kinds() {
        visit.serve_with(
            kind.path,
            &kind.content,
            &[("Content-Type", kind.media_type), ("Cache-Control", "max-age=600")],
        );
        let what = kind.path;
        stage.go(&visit, "home.html");
        let went = stage.go(&visit, kind.path);
        assert_eq!(
            (&went["page"]["httpStatus"], &went["loaded"]),
            (&json!(200), &json!(true)),
            "{what}: {went}"
        );
        let observed = stage.ok(&["observe"]);
        let outline = observed["outline"].as_str().unwrap_or_default();
        assert!(
            outline.lines().next().is_some_and(|head| head.contains(kind.media_type)),
            "{what}: {outline}"
        );
        assert!(!outline.contains("chrome-extension"), "{what}: {outline}");
        let text = stage.ok(&["get-text"])["text"].as_str().unwrap_or_default().to_owned();
        match kind.text {
            Some(words) => {
                assert!(text.contains(words) && outline.contains(words), "{what}: {text:?} {outline}")
            }
            None => assert_eq!(text, "", "{what}: nothing of a viewer is told as the document's"),
        }
        stage.ok(&["screenshot", "-o", "shot.png"]);
        let error = stage.fails("target_not_found", &["click", "name=Press"]);
        assert_eq!(error["outcome"], "rejected", "{what}: {error}");
        let asked = visit.count(kind.path);
        let exported = stage.ok(&["export-page", "--format", "pdf", "-o", "out.pdf"]);
        let printed = fs::read(stage.path("cwd/out.pdf")).expect("the file");
        assert!(printed.starts_with(b"%PDF-"), "{what}");
        if kind.media_type == "application/pdf" {
            assert_eq!(exported["completeness"], "original", "{exported}");
            assert_eq!(printed, kind.content.as_bytes(), "the document as it came");
            assert!(outline.contains("viewer"), "what cannot be read is told: {outline}");
        }
        let listed = stage.ok(&["export-page", "--format", "assets"]);
        let urls: Vec<&str> = listed["assets"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|asset| asset["pageUrl"].as_str())
            .collect();
        assert_eq!(urls, [visit.url(kind.path)], "{what}: the document and nothing of the browser's own");
        stage.ok(&["export-page", "--format", "assets", "--asset", urls[0], "-o", "out.bin"]);
        assert_eq!(fs::read(stage.path("cwd/out.bin")).expect("the file"), kind.content.as_bytes(), "{what}");
        assert_eq!(visit.count(kind.path), asked, "{what}: nothing is fetched for an export");
        let back = stage.ok(&["back"]);
        assert_eq!(back["page"]["title"], "Home", "{what}: {back}");
    }
    // What a site does not let the browser keep is not had without asking it once more.
    visit.serve_with("once.pdf", &pdf(), &[("Content-Type", "application/pdf")]);
    stage.go(&visit, "once.pdf");
    let error = stage.fails("unsupported", &["export-page", "--format", "pdf", "-o", "once.pdf"]);
    assert_eq!((&error["reason"], visit.count("once.pdf")), (&json!("not_kept"), 1), "{error}");
    let exported = stage.ok(&["export-page", "--format", "pdf", "--refetch", "-o", "once.pdf"]);
    assert_eq!((&exported["fetched"], visit.count("once.pdf")), (&json!(true), 2), "{exported}");
    assert_eq!(fs::read(stage.path("cwd/once.pdf")).expect("the file"), pdf().as_bytes());
    stage.ok(&["back"]);
    stage.ok(&["click", "name=Press"]);
    assert_eq!(stage.eval("document.title"), "Pressed");
}

// contract: 7.3, 5.3
// report: 50
#[test]
fn an_attachment_is_a_download_and_a_document_in_a_frame_is_told_as_one() {
    let stage = Stage::take();
    let visit = site().visit();
    let disposition =
        [("Content-Type", "application/pdf"), ("Content-Disposition", "attachment; filename=\"kept.pdf\"")];
    visit.serve_with("attached.pdf", &pdf(), &disposition);
    visit.serve_with("inline.pdf", &pdf(), &[("Content-Type", "application/pdf")]);
    visit.serve(
        "page.html",
        "<!doctype html><title>Outside</title><p>Outer words</p><iframe title=Paper src=inline.pdf></iframe>",
    );
    stage.go(&visit, "page.html");
    let went = stage.go(&visit, "attached.pdf");
    assert_eq!(went["page"]["title"], "Outside", "the page stays: {went}");
    let id = went["evidence"]["downloads"][0]["downloadId"]
        .as_str()
        .unwrap_or_else(|| panic!("{went}"))
        .to_owned();
    let taken = stage.ok(&["download", "--download-id", &id]);
    let path = taken["path"].as_str().expect("a path");
    assert!(path.ends_with("kept.pdf"), "{taken}");
    assert_eq!(fs::read(path).expect("the file"), pdf().as_bytes());
    let observed = stage.ok(&["observe"]);
    let outline = observed["outline"].as_str().unwrap_or_default();
    assert!(outline.contains("frame \"Paper\"") && !outline.contains("chrome-extension"), "{outline}");
    let text = stage.ok(&["get-text"]);
    assert_eq!(text["text"], "Outer words", "{text}");
}

/// What the page line says.
fn line(observed: &Value) -> (&Value, &Value) {
    (&observed["page"]["url"], &observed["page"]["title"])
}

// contract: 10.3, 5.3, 2.6
// report: 51
#[test]
fn blank_data_blob_and_error_pages_work_like_pages_and_others_are_refused() {
    let stage = Stage::take();
    let _visit = stage.show("<!doctype html><title>Before</title>");
    let button = "<title>Made</title><button onclick=\"document.title='Pressed'\">Press</button>";
    let blob = format!("URL.createObjectURL(new Blob([{}], {{type: 'text/html'}}))", json!(button));
    let blob = stage.eval(&blob).as_str().expect("a URL").to_owned();
    // The document that made it is the only one that keeps it.
    for url in [blob, format!("data:text/html,{button}")] {
        stage.ok(&["navigate", &url]);
        assert_eq!(stage.ok(&["observe"])["page"]["title"], "Made");
        stage.ok(&["click", "name=Press"]);
        assert_eq!(stage.eval("document.title"), "Pressed");
        stage.ok(&["export-page", "--format", "html", "-o", "made.html"]);
        stage.ok(&["screenshot", "-o", "made.png"]);
        assert_eq!(stage.ok(&["back"])["page"]["title"], "Before");
    }
    stage.ok(&["navigate", "about:blank"]);
    let blank = stage.ok(&["observe"]);
    assert_eq!(line(&blank), (&json!("about:blank"), &json!("")), "{blank}");
    assert_eq!(stage.ok(&["get-text"])["text"], "");
    stage.ok(&["screenshot", "-o", "blank.png"]);
    for url in [
        "view-source:http://localhost/",
        "chrome://version",
        "file:///etc/passwd",
        "javascript:1",
        "devtools://x",
    ] {
        let error = stage.fails("denied", &["navigate", url]);
        assert_eq!(
            (&error["outcome"], &error["reason"]),
            (&json!("rejected"), &json!("scheme")),
            "{url}: {error}"
        );
    }
    assert_eq!(
        line(&stage.ok(&["observe"])),
        (&json!("about:blank"), &json!("")),
        "what is refused changes nothing"
    );

    let closed = format!("http://127.0.0.1:{}/", glass_tests::site::closed_port());
    stage.fails("navigation_failed", &["navigate", &closed]);
    let observed = stage.ok(&["observe"]);
    assert!(
        observed["page"]["url"].as_str().is_some_and(|url| url.starts_with("chrome-error:")),
        "{observed}"
    );
    assert_eq!(
        observed["page"]["netError"], "net::ERR_CONNECTION_REFUSED",
        "whatever the page itself says: {observed}"
    );
    stage.ok(&["get-text"]);
    stage.ok(&["screenshot", "-o", "error.png"]);
    stage.fails("target_not_found", &["click", "name=Press"]);
    let back = stage.ok(&["back"]);
    assert_eq!((&back["page"]["url"], back["page"].get("netError")), (&json!("about:blank"), None), "{back}");
}
