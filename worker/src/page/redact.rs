//! What is taken out of everything that is told of a page's requests and messages (contract 7.5), in one place:
//! credentials and query values of URLs, wherever they stand, and headers that are not known to be harmless.

use std::collections::BTreeMap;

use glass_proto::escape::{cut, visible};

/// Most bytes of a message or an address.
pub(super) const MAX_TEXT: usize = 1024;
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
pub(super) fn text(page: &str) -> String {
    let page = cut(page, MAX_READ);
    let mut out = String::with_capacity(page.len());
    let mut rest: &str = &page;
    while let Some(at) = rest.find("://") {
        let scheme = rest[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let begin =
            scheme.map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        let after = at + 3;
        let end = rest[after..]
            .find(|c: char| c.is_whitespace() || c.is_control() || "\"'`<>()[]{}|\\^".contains(c))
            .map_or(rest.len(), |end| after + end);
        out.push_str(&rest[..begin]);
        hierarchical(&mut out, &rest[begin..after], &rest[after..end]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    cut(&visible(&out, true), MAX_TEXT).into_owned()
}

/// An address without credentials, query values and fragment; of `data:` and the like only the scheme.
pub(super) fn address(url: &str) -> String {
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

/// What comes after `scheme://`.
fn hierarchical(out: &mut String, begin: &str, rest: &str) {
    out.push_str(begin);
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    out.push_str(authority.rsplit('@').next().unwrap_or_default());
    let Some((path, query)) = path.split_once('?') else { return out.push_str(path) };
    out.push_str(path);
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
pub(super) fn headers(all: &BTreeMap<String, String>) -> (Vec<(String, String)>, u64) {
    let harmless = |name: &str| HARMLESS.binary_search(&name.to_ascii_lowercase().as_str()).is_ok();
    let kept: Vec<_> = all
        .iter()
        .filter(|(name, _)| harmless(name))
        .map(|(name, value)| (name.clone(), cut(value, 256).into_owned()))
        .collect();
    let left_out = all.len() - kept.len();
    (kept, left_out as u64)
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
            ("no url, 3 :// 4?x=1", "no url, 3 :// 4?x=1"),
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
}
