//! `exportPage`: the page as a file in each form, without scripts and secrets, and nothing is fetched for it.

use std::fs;

use glass_tests::Stage;

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
