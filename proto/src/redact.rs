//! What is taken out of what is told, in one place (contract 2.6, 7.5, 10.2, 10.8).
//!
//! | what | where | becomes |
//! |---|---|---|
//! | credentials, query values and fragments of URLs | diagnostics, events, archives, waits, downloads, health, traces, details of errors | [`address`] |
//! | the same within a text | messages of the console, errors of pages, traces | [`text`] |
//! | headers that are not known to be harmless, cookies among them | diagnostics, archives | a count, [`headers`] |
//! | what tells of the content of fields, where policy denies that | every answer and error | nothing, [`values`] |
//! | values of the session's vault | every answer and error | `[secret:NAME]`, [`secrets`] |
//!
//! What never enters a message, a log or an error in the first place (typed text, evaluated source, bodies) needs nobody
//! who takes it out. An address that says where a page is (a navigation's, a target's own row) is told whole: whoever asks
//! has to know it.

use std::collections::BTreeMap;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::escape::{cut, quoted, visible};

/// Most bytes of a message or an address.
pub const MAX_TEXT: usize = 1024;
/// Most bytes of what is read to make them.
const MAX_READ: usize = 4 * MAX_TEXT;
/// Most bytes of a query's names.
const MAX_NAME: usize = 64;
/// Stands where something was taken out.
const MARK: char = '…';

/// Headers that say nothing of who asks. Values and names of all others stay inside.
const HARMLESS: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-max-age",
    "age",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-type",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "date",
    "expires",
    "last-modified",
    "pragma",
    "retry-after",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "server",
    "server-timing",
    "strict-transport-security",
    "timing-allow-origin",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "user-agent",
    "vary",
    "x-content-type-options",
    "x-frame-options",
];

/// A text of the page, in short, with the URLs in it as [`address`] shows them.
pub fn text(page: &str) -> String {
    let page = cut(page, MAX_READ);
    let mut out = String::with_capacity(page.len());
    let mut rest: &str = &page;
    while let Some(at) = rest.find("://") {
        let scheme = rest[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let begin =
            scheme.map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        let mut after = at + 3;
        // Whatever stands before an `@` there is who asks, also with letters that end an address elsewhere.
        let word =
            rest[after..].split(|c: char| c.is_whitespace() || c.is_control()).next().unwrap_or_default();
        let authority = word.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let scheme_end = after;
        after += authority.rfind('@').map_or(0, |at| at + 1);
        let end = rest[after..]
            .find(|c: char| c.is_whitespace() || c.is_control() || "\"'`<>()[]{}|\\^".contains(c))
            .map_or(rest.len(), |end| after + end);
        queries(&mut out, &rest[..begin]);
        hierarchical(&mut out, &rest[begin..scheme_end], &rest[after..end]);
        rest = &rest[end..];
    }
    queries(&mut out, rest);
    cut(&visible(&out, true), MAX_TEXT).into_owned()
}

/// An address without credentials, query values and fragment; of `data:` and the like only the scheme.
pub fn address(url: &str) -> String {
    let url = cut(url, MAX_READ);
    let mut out = String::with_capacity(url.len());
    match url.find("://") {
        Some(at)
            if at > 0
                && url[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
        {
            hierarchical(&mut out, &url[..at + 3], &url[at + 3..]);
        }
        _ => match url.split_once(':') {
            Some(("about", _)) => out.push_str(url.split(['?', '#']).next().unwrap_or_default()),
            Some((scheme, _)) if scheme.len() <= 32 => {
                out.push_str(scheme);
                out.push(':');
                out.push(MARK);
            }
            _ => out.push(MARK),
        },
    }
    cut(&visible(&out, true), MAX_TEXT).into_owned()
}

/// A text without whole URLs: values of queries that paths in it may have.
fn queries(out: &mut String, text: &str) {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>()[]{}|\\^".contains(c);
    let mut rest = text;
    while let Some(at) = rest.find('?') {
        let end = rest[at..].find(ends).map_or(rest.len(), |end| at + end);
        let (before, query) = (&rest[..at], &rest[at + 1..end]);
        out.push_str(before);
        let named = query.split_once('=').is_some_and(|(name, _)| !name.is_empty());
        if named {
            shown_query(out, query.split('#').next().unwrap_or_default());
        } else {
            out.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
}

/// What comes after `scheme://`.
fn hierarchical(out: &mut String, begin: &str, rest: &str) {
    out.push_str(begin);
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    out.push_str(authority.rsplit('@').next().unwrap_or_default());
    let Some((path, query)) = path.split_once('?') else { return out.push_str(path) };
    out.push_str(path);
    shown_query(out, query);
}

/// The names of a query.
fn shown_query(out: &mut String, query: &str) {
    for (at, part) in query.split('&').enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        match part.split_once('=') {
            Some((name, _)) if name.len() <= MAX_NAME => {
                out.push_str(name);
                out.push('=');
                out.push(MARK);
            }
            // A part without a name is all value.
            _ if !part.is_empty() => out.push(MARK),
            _ => {}
        }
    }
}

/// The harmless headers, and how many others there are.
pub fn headers(all: &BTreeMap<String, String>) -> (Vec<(String, String)>, u64) {
    let harmless = |name: &str| HARMLESS.binary_search(&name.to_ascii_lowercase().as_str()).is_ok();
    let kept: Vec<_> = all
        .iter()
        .filter(|(name, _)| harmless(name))
        .map(|(name, value)| (name.clone(), cut(value, 256).into_owned()))
        .collect();
    let left_out = all.len() - kept.len();
    (kept, left_out as u64)
}

/// Every text of these in the form of [`text`], for what is told of a failure.
pub fn texts(told: &mut Value) {
    match told {
        Value::String(one) if is_address(one) => *one = address(one),
        Value::String(one) => *one = text(one),
        Value::Array(items) => items.iter_mut().for_each(texts),
        Value::Object(fields) => fields.values_mut().for_each(texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a text is an address and nothing else.
fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !text.contains(char::is_whitespace)
}

/// Takes out what tells whether a field holds something.
pub fn values(told: &mut Value) {
    match told {
        Value::Object(fields) => {
            fields.shift_remove("valueMatches");
            // What a script gave back is what it was.
            fields.iter_mut().filter(|(key, _)| *key != "value").for_each(|(_, value)| values(value));
        }
        Value::Array(items) => items.iter_mut().for_each(values),
        _ => {}
    }
}

/// Shortest secret that is looked for, in bytes: a shorter one stands in many texts by chance, and whoever may not read it
/// could find it out by trying all.
pub const SHORTEST: usize = 8;

/// JSON with each of these secrets (name and value) replaced wherever it stands in a text: as it is, as outlines quote it,
/// or as URLs and forms write it. Nothing but texts changes.
pub fn secrets(json: Vec<u8>, all: &[(&str, &str)]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&json) else { return json };
    match without(text, &needles(all)) {
        Some(told) => told.into_bytes(),
        None => json,
    }
}

/// One text of a page with each of these secrets replaced.
pub fn secrets_in(text: String, all: &[(&str, &str)]) -> String {
    replaced(&text, &needles(all)).unwrap_or(text)
}

/// What is looked for, with the names that stand in its place.
type Needles<'a> = [(Zeroizing<String>, &'a str)];

fn needles<'a>(all: &[(&'a str, &str)]) -> Vec<(Zeroizing<String>, &'a str)> {
    let mut needles: Vec<(Zeroizing<String>, &str)> = Vec::new();
    for (name, value) in all.iter().filter(|(_, value)| value.len() >= SHORTEST) {
        for form in forms(value) {
            if !needles.iter().any(|(known, _)| **known == form) {
                needles.push((form.into(), name));
            }
        }
    }
    // A secret that holds another is told by its own name.
    needles.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    needles
}

/// How a value may stand in a text.
fn forms(value: &str) -> Vec<String> {
    let quoted = quoted(value);
    let collapsed = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let inner = |text: &str| text[1..text.len() - 1].to_owned();
    let percent: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let mut forms = vec![
        value.to_owned(),
        visible(value, false).into_owned(),
        visible(value, true).into_owned(),
        inner(&quoted),
        inner(&crate::escape::quoted(&collapsed)),
        collapsed,
        percent.replace('+', "%20"),
        percent,
        component(value),
        serde_json::to_string(value).map(|json| inner(&json)).unwrap_or_default(),
    ];
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// As `encodeURIComponent` writes it.
fn component(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(byte.into()),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The same JSON without the needles in its texts; `None` where there is none.
fn without(json: &str, needles: &Needles<'_>) -> Option<String> {
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    let bytes = json.as_bytes();
    while let Some(open) = bytes[at..].iter().position(|byte| *byte == b'"').map(|found| at + found) {
        let mut close = open + 1;
        let mut escaped = false;
        while close < bytes.len() && bytes[close] != b'"' {
            let escape = bytes[close] == b'\\';
            escaped |= escape;
            close += if escape { 2 } else { 1 };
        }
        if close >= bytes.len() {
            break;
        }
        let raw = &json[open..=close];
        let decoded: Option<String> = if escaped { serde_json::from_str(raw).ok() } else { None };
        let content = decoded.as_deref().unwrap_or(&raw[1..raw.len() - 1]);
        if let Some(told) = replaced(content, needles) {
            out.push_str(&json[done..open]);
            out.push_str(&serde_json::to_string(&told).ok()?);
            done = close + 1;
        }
        at = close + 1;
    }
    if done == 0 {
        return None;
    }
    out.push_str(&json[done..]);
    Some(out)
}

fn replaced(text: &str, needles: &Needles<'_>) -> Option<String> {
    let mut told: Option<String> = None;
    for (form, name) in needles {
        let now = told.as_deref().unwrap_or(text);
        if now.contains(form.as_str()) {
            told = Some(now.replace(form.as_str(), &format!("[secret:{name}]")));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_no_credentials_query_values_and_fragments() {
        for (url, shown) in [
            ("https://u:p@x.test/a?token=geheim&b=2#frag", "https://x.test/a?token=…&b=…"),
            ("https://u:p@ss@x.test?geheim", "https://x.test?…"),
            ("http://x.test/a", "http://x.test/a"),
            ("http://x.test/a?&b", "http://x.test/a?&…"),
            ("ws://x.test:80/s?k=v", "ws://x.test:80/s?k=…"),
            ("data:text/html,geheim", "data:…"),
            ("blob:http://x.test/geheim", "blob:…"),
            ("javascript:geheim('http://x')", "javascript:…"),
            ("about:blank#geheim", "about:blank"),
            ("geheim", "…"),
        ] {
            assert_eq!(address(url), shown, "{url}");
        }
    }

    #[test]
    fn urls_in_texts_are_shown_as_addresses_are() {
        for (page, shown) in [
            ("GET http://a:b@x.test/p?t=geheim#f (404)", "GET http://x.test/p?t=… (404)"),
            ("at f (https://x.test/s.js?v=geheim:3:7)\nat g", "at f (https://x.test/s.js?v=…)\nat g"),
            ("é://u:p@x \"wss://x.test/?geheim\" ü", "é://x \"wss://x.test/?…\" ü"),
            ("no url, 3 :// 4?x=1", "no url, 3 :// 4?x=…"),
            (
                "GET /api?token=geheim&b=2#c (404): what? a=b, really?",
                "GET /api?token=…&b=… (404): what? a=b, really?",
            ),
            ("ws://u:p'geheim\"(@x.test/?k=v", "ws://x.test/?k=…"),
        ] {
            assert_eq!(text(page), shown, "{page}");
        }
        assert!(text(&"x".repeat(100_000)).len() <= MAX_TEXT);
    }

    #[test]
    fn of_headers_only_the_harmless_are_kept() {
        assert!(HARMLESS.is_sorted(), "they are searched for");
        let all = [
            ("Cookie", "a"),
            ("Content-Type", "text/html"),
            ("X-Session-Token", "b"),
            ("authorization", "c"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(headers(&all), (vec![("Content-Type".to_owned(), "text/html".to_owned())], 3));
    }

    #[test]
    fn secrets_are_told_by_their_names_and_the_rest_stays_as_it_is() {
        let all = [
            ("TOKEN", "se\"cr\u{202e}et äb\n12345"),
            ("PIN", "1234"),
            ("LONG", "abcdefgh-ijkl"),
            ("PART", "abcdefgh"),
        ];
        let told = |text: &str| {
            let json =
                serde_json::json!({ "n": 12345678901234567890_u64, "page": [text, text.len()], "x": 1.50 });
            let json = serde_json::to_vec(&json).unwrap();
            let told: Value = serde_json::from_slice(&secrets(json, &all)).unwrap();
            told["page"][0].as_str().unwrap().to_owned()
        };
        for shown in [
            all[0].1.to_owned(),
            quoted(all[0].1),
            format!("?t={}", component(all[0].1)),
            visible(all[0].1, false).into_owned(),
            serde_json::to_string(all[0].1).unwrap(),
            url::form_urlencoded::byte_serialize(all[0].1.as_bytes()).collect(),
        ] {
            let told = told(&format!("a {shown} b"));
            assert!(told.contains("[secret:TOKEN]") && !told.contains("12345"), "{told}");
        }
        assert_eq!(told("abcdefgh-ijkl abcdefgh 1234"), "[secret:LONG] [secret:PART] 1234");
        // Numbers, and what only looks like one across an escape, are left alone.
        let exact = br#"{"a":12345678.10,"b":"\\nabcdefg","c":"\u00e4","n12345678":1e400}"#;
        assert_eq!(secrets(exact.to_vec(), &[("A", "12345678.10"), ("B", "nabcdefgh")]), exact);
        assert_eq!(secrets(b"\"abcdefgh".to_vec(), &all), b"\"abcdefgh", "what is no JSON stays");
    }

    #[test]
    fn every_text_of_what_is_told_of_a_failure_is_looked_at() {
        let mut told = serde_json::json!({ "url": "http://x.test/?t=[secret:A]geheim#x", "rows": [{ "text": "at /p?t=geheim x" }], "n": 1 });
        texts(&mut told);
        assert_eq!(
            told,
            serde_json::json!({ "url": "http://x.test/?t=…", "rows": [{ "text": "at /p?t=… x" }], "n": 1 })
        );
    }

    #[test]
    fn what_tells_of_fields_is_taken_out_at_any_depth() {
        let mut told =
            serde_json::json!({ "evidence": { "valueMatches": true, "a": [{ "valueMatches": false }] } });
        values(&mut told);
        assert_eq!(told, serde_json::json!({ "evidence": { "a": [{}] } }));
    }

    // contract: 7.5
    proptest::proptest! {
        #[test]
        fn a_canary_in_any_part_of_a_url_but_host_and_path_never_comes_out(
            scheme in "https?|wss?|ftp|x-y\\.z",
            user in "[a-z:]{0,8}", query in "[a-z&=;?%+]{0,12}", more in "[a-z&=;?%+]{0,12}",
            place in 0..3_usize, around in "[ \"'<(,]", fragment in "[a-z=&]{0,6}",
        ) {
            let canary = "GEHEIM42";
            let (user, query, fragment) = match place {
                0 => (format!("{user}{canary}@"), String::new(), fragment),
                1 => (String::new(), format!("?{query}={canary}{}{more}", if more.is_empty() { "" } else { "&" }), fragment),
                _ => (String::new(), String::new(), format!("{fragment}{canary}")),
            };
            let url = format!("{scheme}://{user}host.test/path{query}#{fragment}");
            for shown in [address(&url), text(&format!("at{around}{url}{around} (x)"))] {
                proptest::prop_assert!(!shown.contains(canary), "{url}: {shown}");
                proptest::prop_assert!(shown.contains("host.test"), "{url}: {shown}");
            }
        }

        #[test]
        fn a_canary_in_any_header_that_is_not_harmless_never_comes_out(name in "[A-Za-z-]{1,24}", value in "[ -~]{0,32}") {
            let all = [(name.clone(), format!("GEHEIM42{value}"))].into();
            let (kept, left_out) = headers(&all);
            let harmless = HARMLESS.contains(&name.to_ascii_lowercase().as_str());
            proptest::prop_assert_eq!((kept.len(), left_out), if harmless { (1, 0) } else { (0, 1) });
        }

        #[test]
        fn a_secret_in_any_text_of_any_answer_never_comes_out(
            secret in "[ -~äß\\u{202e}\n\t]{8,40}", before in "[ -~\n\\\\\"]{0,20}", after in "[ -~\n\\\\\"]{0,20}",
            number in proptest::num::f64::NORMAL,
        ) {
            let (before, after) = (before.replace(secret.as_str(), ""), after.replace(secret.as_str(), ""));
            for form in [secret.clone(), quoted(&secret), component(&secret)] {
                let json = serde_json::json!({ "page": format!("{before}{form}{after}"), "n": number, "k": [true, null] });
                let told = secrets(serde_json::to_vec(&json).unwrap(), &[("S", &secret)]);
                let told: Value = serde_json::from_slice(&told).unwrap();
                let page = told["page"].as_str().unwrap();
                proptest::prop_assert!(!page.contains(&form) && page.contains("[secret:S]"), "{page:?}");
                proptest::prop_assert_eq!((&told["n"], &told["k"]), (&json["n"], &json["k"]));
            }
        }

        #[test]
        fn what_holds_no_secret_is_not_changed_by_a_byte(text in ".{0,60}") {
            let json = serde_json::to_vec(&serde_json::json!({ "a": text, "b": [1.0, "x"] })).unwrap();
            let told = secrets(json.clone(), &[("S", "\u{1}never-there\u{1}")]);
            proptest::prop_assert_eq!(told, json);
        }
    }
}
