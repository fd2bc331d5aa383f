use proptest::prelude::*;

use super::*;

fn url(text: &str) -> String {
    normalise(text).unwrap_or_else(|error| panic!("{text}: {error}")).into()
}

fn refusal(text: &str) -> Refusal {
    admit(&normalise(text).unwrap()).expect_err(text)
}

#[test]
fn text_without_a_scheme_gets_https() {
    for (text, wanted) in [
        ("example.com", "https://example.com/"),
        ("example.com:8080", "https://example.com:8080/"),
        ("example.com:8080/a?b#c", "https://example.com:8080/a?b#c"),
        ("example.com?q=1", "https://example.com/?q=1"),
        ("  example.com/x y \n", "https://example.com/x%20y"),
        ("//example.com/x", "https://example.com/x"),
        ("EXAMPLE.com.", "https://example.com./"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("intranet", "https://intranet/"),
        ("intranet:8443/x", "https://intranet:8443/x"),
        ("example.com:443", "https://example.com/"),
        ("notlocalhost", "https://notlocalhost/"),
        ("localhost.example.com", "https://localhost.example.com/"),
    ] {
        assert_eq!(url(text), wanted, "{text}");
    }
}

#[test]
fn localhost_and_addresses_get_http() {
    for (text, wanted) in [
        ("localhost", "http://localhost/"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("LOCALHOST:3000", "http://localhost:3000/"),
        ("localhost:443", "http://localhost:443/"),
        ("localhost.", "http://localhost./"),
        ("a.b.localhost:9/y", "http://a.b.localhost:9/y"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("127.0.0.1:9", "http://127.0.0.1:9/"),
        ("127.1:9", "http://127.0.0.1:9/"),
        ("192.168.1.7/admin", "http://192.168.1.7/admin"),
        ("8.8.8.8", "http://8.8.8.8/"),
        ("[::1]:80", "http://[::1]/"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
        ("::1", "http://[::1]/"),
        ("fe80::1", "http://[fe80::1]/"),
        ("//localhost:1", "http://localhost:1/"),
    ] {
        assert_eq!(url(text), wanted, "{text}");
    }
}

#[test]
fn a_given_scheme_stays() {
    for (text, wanted) in [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.com/A", "https://example.com/A"),
        ("https://localhost:8443", "https://localhost:8443/"),
        ("about:blank", "about:blank"),
        ("data:text/html,<b>x</b>", "data:text/html,<b>x</b>"),
        ("javascript:1", "javascript:1"),
        ("tel:112", "tel:112"),
        ("foo:bar", "foo:bar"),
        ("foo://80", "foo://80"),
        ("java\nscript:alert(1)", "javascript:alert(1)"),
    ] {
        assert_eq!(url(text), wanted, "{text}");
    }
}

#[test]
fn text_that_is_no_url_says_why() {
    assert_eq!(normalise(""), Err(InvalidUrl::Empty));
    assert_eq!(normalise(" \t\n"), Err(InvalidUrl::Empty));
    for relative in ["/etc/passwd", "./index.html", "../x", "?q=1", "#top", "~/page.html", "\\\\share\\x"] {
        assert_eq!(normalise(relative), Err(InvalidUrl::Relative), "{relative}");
    }
    for malformed in
        ["hello world", "http://", "https://a b/", "localhost:99999", "localhost:abc", "http://[::1"]
    {
        assert!(matches!(normalise(malformed), Err(InvalidUrl::Malformed(_))), "{malformed}");
    }
    let long = "a".repeat(MAX_URL_BYTES + 1);
    assert_eq!(normalise(&long), Err(InvalidUrl::TooLong { bytes: MAX_URL_BYTES + 1 }));
}

#[test]
fn pages_of_the_web_are_admitted() {
    for text in [
        "example.com",
        "http://localhost:1/x",
        "about:blank",
        "about:blank#x",
        "data:,x",
        "blob:https://example.com/9115d58c-bcda-ff47-86e5-083e9a215304",
    ] {
        assert_eq!(admit(&normalise(text).unwrap()), Ok(()), "{text}");
    }
}

#[test]
fn other_schemes_are_refused_with_a_remedy() {
    for (text, scheme) in [
        ("file:///etc/passwd", "file"),
        ("FILE:/etc/passwd", "file"),
        ("filesystem:https://a.example/temporary/x", "filesystem"),
        ("chrome://settings", "chrome"),
        ("chrome-extension://abc/x.html", "chrome-extension"),
        ("devtools://devtools/bundled/inspector.html", "devtools"),
        ("view-source:https://example.com", "view-source"),
        ("view-source:file:///etc/passwd", "view-source"),
        ("javascript:alert(1)", "javascript"),
        ("\u{1}javascript:alert(1)", "javascript"),
        ("ftp://example.com/x", "ftp"),
        ("ws://localhost:1", "ws"),
        ("mailto:a@example.com", "mailto"),
        ("tel:112", "tel"),
        ("about:srcdoc", "about"),
        ("about:version", "about"),
        ("steam://run/1", "steam"),
    ] {
        let refused = refusal(text);
        assert_eq!(refused.scheme, scheme, "{text}");
        assert!(!refused.reason.is_empty() && !refused.remedy.is_empty(), "{text}");
    }
}

#[test]
fn credentials_are_refused_and_not_repeated() {
    for text in ["https://bob:hunter2@example.com/", "bob.b:hunter2@example.com", "http://bob@localhost:1/"] {
        let refused = refusal(text);
        assert!(refused.reason.contains("password"), "{refused:?}");
        let shown = format!("{refused:?} {refused}");
        assert!(!shown.contains("hunter2") && !shown.contains("bob"), "{shown}");
    }
}

/// Text made of the pieces that decide what a URL is, so that random cases reach the interesting ones.
fn url_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("localhost"),
        Just("example.com"),
        Just("127.0.0.1"),
        Just("[::1]"),
        Just("http"),
        Just("javascript"),
        Just("data"),
        Just("foo"),
        Just(":"),
        Just("//"),
        Just("/"),
        Just("\\"),
        Just("@"),
        Just("?"),
        Just("#"),
        Just("8080"),
        Just("."),
        Just(" "),
        Just("\n"),
        Just("%41"),
        Just("ß"),
    ];
    proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        if let Ok(url) = normalise(&text) {
            let _ = admit(&url);
        }
    }

    #[test]
    fn normalising_twice_changes_nothing(text in prop_oneof![url_like(), any::<String>()]) {
        if let Ok(first) = normalise(&text) {
            prop_assert_eq!(normalise(first.as_str()), Ok(first.clone()), "{:?}", text);
        }
    }

    #[test]
    fn what_is_admitted_is_a_page_without_credentials(text in url_like()) {
        if let Ok(url) = normalise(&text) && admit(&url).is_ok() {
            prop_assert!(["http", "https", "data", "blob", "about"].contains(&url.scheme()));
            prop_assert!(url.username().is_empty() && url.password().is_none());
        }
    }
}

#[test]
fn fuzz_addresses() {
    let words = [
        "http://",
        "https://",
        "file:",
        "javascript:",
        "data:",
        "view-source:",
        "localhost",
        "[::1]",
        "%00",
        "\t",
        "@",
    ];
    glass_fuzz::run("url", &words, |input| match normalise(&String::from_utf8_lossy(input)) {
        Ok(url) => {
            let again = normalise(url.as_str()).map(|again| again == url);
            assert_eq!(again, Ok(true), "{url}");
            let admitted = admit(&url).is_ok();
            assert!(
                !admitted || matches!(url.scheme(), "http" | "https" | "about" | "data" | "blob"),
                "{url}"
            );
            format!("{} {admitted}", url.scheme().chars().take(12).collect::<String>())
        }
        Err(error) => format!("{error:?}").chars().take_while(|letter| letter.is_alphabetic()).collect(),
    });
}
