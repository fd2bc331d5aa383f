//! Which header fields cross the proxy.
//!
//! Owns the removal of fields that concern one connection only (RFC 9110, 7.6.1), of `Proxy-*`, and of the one
//! field that is ours. Everything else passes unchanged, in the case in which it came.

use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, UPGRADE};

/// Marks an answer as made by glass-egress and says which kind of failure it stands for. Removed from what servers
/// send, so that none can pose as the proxy.
pub(super) const EGRESS: HeaderName = HeaderName::from_static("x-glass-egress");

const OF_ONE_CONNECTION: &[&str] = &["connection", "keep-alive", "te", "transfer-encoding", "upgrade"];

/// The protocol that a request or answer with these fields wants to change to.
pub(super) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let wanted = named_by_connection(headers).any(|name| name == UPGRADE);
    headers.get(UPGRADE).filter(|_| wanted).cloned()
}

/// Removes what must not go further than this connection.
pub(super) fn strip(headers: &mut HeaderMap) {
    let mut gone: Vec<HeaderName> = named_by_connection(headers).collect();
    gone.extend(headers.keys().filter(|name| is_ours_or_proxys(name)).cloned());
    gone.extend(OF_ONE_CONNECTION.iter().copied().map(HeaderName::from_static));
    for name in gone {
        headers.remove(name);
    }
}

/// Asks for, or agrees to, a change of protocol.
pub(super) fn set_upgrade(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, protocol);
}

fn is_ours_or_proxys(name: &HeaderName) -> bool {
    *name == EGRESS || name.as_str().starts_with("proxy-")
}

fn named_by_connection(headers: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    // What is no name of a field names none.
    headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn only_end_to_end_fields_are_left() {
        let mut map = headers(&[
            ("accept", "*/*"),
            ("connection", "keep-alive, X-Private"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic x"),
            ("transfer-encoding", "chunked"),
            ("x-glass-egress", "denied"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]);
        strip(&mut map);
        assert_eq!(map, headers(&[("accept", "*/*"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]));
    }

    #[test]
    fn an_upgrade_counts_only_when_connection_names_it() {
        assert_eq!(upgrade(&headers(&[("upgrade", "websocket")])), None);
        let map = headers(&[("connection", "keep-alive, Upgrade"), ("upgrade", "websocket")]);
        assert_eq!(upgrade(&map).unwrap(), "websocket");
    }
}
