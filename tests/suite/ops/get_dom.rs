//! `getDOM`: the elements as they are, bounded, and nothing that must not be told.

use glass_tests::Stage;
use glass_tests::site::site;

// contract: 3.8, 3.2, 3.1
#[test]
fn both_forms_show_the_elements_as_they_are_and_never_scripts_styles_data_or_secrets() {
    let stage = Stage::take();
    let data = "A".repeat(5000);
    let visit = site().visit();
    visit.serve("inner-dom.html", "<!doctype html><title>Inner</title><b id=inside>Inside</b>");
    visit.serve(
        "dom.html",
        &format!(
            "<!doctype html><title>Dom</title><style>.style_text{{}}</style><script>var script_text</script><main id=m class='a b'>
             <p style='color:red' onclick='handler_text()'>Some &lt;words&gt;</p><img alt=Pixel src='data:image/png;base64,{data}'>
             <a href='javascript:script_text()' title='{data}'>Link</a><!-- comment_text -->
             <input id=town value=old><input id=secret type=password value=hunter2><input autocomplete=one-time-code value=424242>
             <textarea id=area></textarea><input type=checkbox id=box><x-host id=host></x-host><iframe title=F src=inner-dom.html></iframe></main>
             <script>town.value='Oslo';area.value='Some lines';box.checked=true;host.attachShadow({{mode:'closed'}}).innerHTML='<i>In shadow</i>'</script>",
        ),
    );
    stage.ok(&["navigate", &visit.url("dom.html")]);
    let html = stage.ok(&["get-dom"]);
    let text = html["dom"].as_str().expect("text");
    for part in [
        "<main id=\"m\" class=\"a b\">",
        "Some &lt;words&gt;",
        "value=\"Oslo\"",
        ">Some lines</textarea>",
        " checked>",
        "<template shadowrootmode=\"closed\"><i>In shadow</i></template>",
        "(5000 characters)",
        "data:…",
        "<!-- frame f",
        "</main>",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let tree = stage.ok(&["get-dom", "--format", "tree"]);
    let lines = tree["dom"].as_str().expect("text");
    for part in [
        "main#m.a.b\n",
        "input#town value=\"Oslo\"\n",
        "\"Some <words>\"\n",
        "#shadow-root (closed)\n",
        "input#secret type=\"password\" (masked)\n",
    ] {
        assert!(lines.contains(part), "{part} is not in\n{lines}");
    }
    for answer in [&html, &tree] {
        for never in [
            "style_text",
            "script_text",
            "handler_text",
            "comment_text",
            "color:red",
            "hunter2",
            "424242",
            "AAAAAAAA",
            "Inside",
        ] {
            // The title attribute is cut, not left out.
            let shown = answer.to_string().replace(&"A".repeat(256), "");
            assert!(!shown.contains(never), "{never} is in\n{shown}");
        }
        let left = answer["incomplete"].to_string();
        assert!(left.contains("scripts and styles") && left.contains("get-dom --frame f"), "{left}");
    }
    let hidden = stage.ok(&["get-dom", "css=main", "--values=false"]).to_string();
    assert!(!hidden.contains("Oslo") && !hidden.contains("Some lines"), "{hidden}");
    let frame = stage.ok(&["list-frames"])["frames"][1]["id"].as_str().expect("a frame").to_owned();
    assert!(
        stage.ok(&["get-dom", "--frame", &frame])["dom"].as_str().is_some_and(|dom| dom.contains("Inside"))
    );
    let one = stage.ok(&["get-dom", "css=p"]);
    assert!(
        one["dom"].as_str().is_some_and(|dom| dom.starts_with("<p>Some") && dom.ends_with("</p>")),
        "{one}"
    );
    stage.fails("target_not_found", &["get-dom", "css=#nothing"]);
}

// contract: 3.8
#[test]
fn it_is_cut_within_its_bound_closes_what_it_opened_and_counts_what_is_left_out() {
    let stage = Stage::take();
    stage.show("<!doctype html><title>Long</title><main id=m></main>");
    stage.eval("m.innerHTML = '<section><p>é é é é é é</p></section>'.repeat(5000); 1");
    for (bytes, format) in [("1024", "html"), ("20000", "html"), ("20000", "tree"), ("262144", "html")] {
        let read = stage.ok(&["get-dom", "--max-bytes", bytes, "--format", format]);
        let dom = read["dom"].as_str().expect("text");
        assert!(dom.len() <= bytes.parse().expect("a number"), "{} > {bytes}", dom.len());
        let told = dom.matches(if format == "html" { "<section>" } else { "section\n" }).count()
            + dom.matches(if format == "html" { "<p>" } else { "p\n" }).count();
        let left = read["incomplete"].as_array().into_iter().flatten();
        let left: u64 =
            left.filter(|left| left["kind"] == "elements").filter_map(|left| left["count"].as_u64()).sum();
        assert_eq!(told as u64 + left, 10_000, "{bytes} {format}");
        if format == "html" {
            assert_eq!(dom.matches("<section>").count(), dom.matches("</section>").count());
            assert!(dom.ends_with("</main></body></html>"), "{}", &dom[dom.len() - 40..]);
        }
    }
    assert_eq!(stage.glassctl(["get-dom", "--max-bytes", "1023"]).code, Some(2));
}
