//! Rules about hosts (contract 10.3): what they may look like, and what they match.
//!
//! Owns the one spelling of a host, which is the browser's own: the URL standard decides on case, IDN, percent signs
//! and the octal, hexadecimal and decimal forms of IPv4, so that a rule and a connection mean the same. Does not
//! decide: `egress` does.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};

use crate::address::{Readings, canonical, is_loopback};

/// The longest text of a rule, in bytes: the longest host with what can stand round it.
pub const MAX_RULE_BYTES: usize = 300;

/// A host as a browser means it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in lower case, in ASCII, without a final dot.
    Name(String),
    /// An address; IPv4 inside IPv6 is IPv4.
    Address(IpAddr),
}

/// A text that is no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("that is no host name and no address")]
pub struct InvalidHost;

impl Host {
    /// Reads a host as it stands in a URL: IPv6 in brackets.
    ///
    /// # Errors
    /// What the URL standard takes for no host.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        match url::Host::parse(text).map_err(|_| InvalidHost)? {
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                let sound = !name.is_empty() && !name.starts_with('.') && !name.ends_with('.');
                if !sound || name.contains("..") || name.len() > 253 {
                    return Err(InvalidHost);
                }
                // With a final dot the standard does not look for an address: `127.1.`
                match url::Host::parse(name).map_err(|_| InvalidHost)? {
                    url::Host::Domain(name) => Ok(Self::Name(name)),
                    url::Host::Ipv4(address) => Ok(Self::Address(address.into())),
                    url::Host::Ipv6(address) => Ok(Self::Address(canonical(address.into()))),
                }
            }
            url::Host::Ipv4(address) => Ok(Self::Address(address.into())),
            url::Host::Ipv6(address) => Ok(Self::Address(canonical(address.into()))),
        }
    }

    /// The host of a URL, where it has one.
    pub fn of(url: &url::Url) -> Option<Self> {
        Self::parse(url.host_str()?).ok()
    }

    /// Whether it is this machine by RFC 6761: `localhost` and what lies below it.
    pub fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
        }
    }
}

/// How bytes travel: what `http` and `ws`, and what `https` and `wss` have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Readable on the way.
    Plain,
    /// Under TLS.
    Tls,
}

impl Transport {
    fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Plain => 80,
            Self::Tls => 443,
        }
    }

    /// Of a URL's scheme; `None` where it makes no connection of its own.
    pub fn of(scheme: &str) -> Option<Self> {
        match scheme {
            "http" | "ws" => Some(Self::Plain),
            "https" | "wss" => Some(Self::Tls),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Pattern {
    /// This host alone.
    Host(Host),
    /// What lies below this name.
    Below(String),
    /// The addresses of this block.
    Block(IpNet),
}

/// One rule. It prints in its one spelling: two rules that mean the same are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    pattern: Pattern,
    transport: Option<Transport>,
    port: Option<u16>,
}

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// Neither host nor block.
    #[error(
        "a rule is example.com, *.example.com, host:port, https://host:port, an IP address or a block like 10.0.0.0/8"
    )]
    Form,
    /// Over the limit.
    #[error("a rule has at most {MAX_RULE_BYTES} bytes")]
    TooLong,
    /// A star that is not the first label.
    #[error("a star stands only for what lies below a name: *.example.com")]
    Star,
    /// A scheme that is not one of four.
    #[error("a rule's scheme is http, https, ws or wss")]
    Scheme,
    /// A URL instead of a host.
    #[error("a rule is about a host, so it has no path, query, user name or password")]
    Path,
    /// Not a port.
    #[error("a port is 1 to 65535")]
    Port,
    /// Bits beyond the prefix.
    #[error("the block has bits set beyond its prefix; {0} was meant?")]
    Block(IpNet),
}

impl FromStr for HostRule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        if text.len() > MAX_RULE_BYTES {
            return Err(InvalidRule::TooLong);
        }
        let (transport, rest) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let transport = Transport::of(&scheme.to_ascii_lowercase()).ok_or(InvalidRule::Scheme)?;
                (Some(transport), rest.strip_suffix('/').unwrap_or(rest))
            }
            None => (None, text),
        };
        if transport.is_none() && rest.contains('/') {
            return block(rest);
        }
        if rest.contains(['/', '?', '#', '@', '\\']) || rest.chars().any(char::is_whitespace) {
            return Err(InvalidRule::Path);
        }
        // An address of IPv6 alone needs no brackets.
        if let (None, Ok(address)) = (transport, rest.parse::<std::net::Ipv6Addr>()) {
            let host = Host::Address(canonical(address.into()));
            return Ok(Self { pattern: Pattern::Host(host), transport, port: None });
        }
        let (host, port) = split_port(rest)?;
        let port = port.or(transport.map(Transport::port));
        let pattern = match host.strip_prefix("*.") {
            Some(below) => match Host::parse(below).map_err(|_| InvalidRule::Form)? {
                Host::Name(name) if !name.contains('*') => Pattern::Below(name),
                Host::Name(_) | Host::Address(_) => return Err(InvalidRule::Star),
            },
            None if host.contains('*') => return Err(InvalidRule::Star),
            None => Pattern::Host(Host::parse(host).map_err(|_| InvalidRule::Form)?),
        };
        Ok(Self { pattern, transport, port })
    }
}

/// The blocks by which this machine reaches itself.
fn this_machine() -> [IpNet; 4] {
    let v4 = |first| IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(first, 0, 0, 0), 8));
    let v6 = |address| IpNet::V6(Ipv6Net::new_assert(address, 128));
    [v4(127), v4(0), v6(Ipv6Addr::LOCALHOST), v6(Ipv6Addr::UNSPECIFIED)]
}

fn block(text: &str) -> Result<HostRule, InvalidRule> {
    let net: IpNet = text.parse().map_err(|_| InvalidRule::Form)?;
    if net.addr() != net.network() {
        return Err(InvalidRule::Block(net.trunc()));
    }
    let net = match net {
        // Addresses are judged as IPv4 where they are IPv4 inside IPv6, and so are blocks.
        IpNet::V6(inner) if inner.prefix_len() >= 96 => match canonical(inner.addr().into()) {
            IpAddr::V4(address) => {
                IpNet::new(address.into(), inner.prefix_len() - 96).map_err(|_| InvalidRule::Form)?
            }
            IpAddr::V6(_) => net,
        },
        _ => net,
    };
    Ok(HostRule { pattern: Pattern::Block(net), transport: None, port: None })
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), InvalidRule> {
    let after_host = match text.strip_prefix('[') {
        Some(_) => text.find(']').ok_or(InvalidRule::Form)? + 1,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at(after_host);
    match rest.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|c| c.is_ascii_digit()) => match digits.parse() {
            Ok(0) | Err(_) => Err(InvalidRule::Port),
            Ok(port) => Ok((host, Some(port))),
        },
        Some(_) => Err(InvalidRule::Port),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(InvalidRule::Form),
    }
}

impl HostRule {
    /// Whether it is about a connection to `host`:`port`, by the host as it was asked for.
    pub fn matches(&self, host: &Host, port: u16, transport: Transport) -> bool {
        self.fits(port, transport)
            && match (&self.pattern, host) {
                (Pattern::Host(own), host) => own == host,
                (Pattern::Below(base), Host::Name(name)) => {
                    name.strip_suffix(base.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
                }
                (Pattern::Block(net), Host::Address(address)) => net.contains(address),
                (Pattern::Below(_), Host::Address(_)) | (Pattern::Block(_), Host::Name(_)) => false,
            }
    }

    /// Whether it names `address` itself: as an address, or in a block.
    pub fn names(&self, address: IpAddr, port: u16, transport: Transport) -> bool {
        self.fits(port, transport) && self.holds(canonical(address))
    }

    /// Whether it is about the machine at `address` in any spelling: the address, one that stands inside it, or, where
    /// either is of this machine, any other of this machine. For rules that deny; see [`Readings`].
    pub fn reaches(&self, address: IpAddr, port: u16, transport: Transport) -> bool {
        self.fits(port, transport)
            && match &self.pattern {
                Pattern::Host(Host::Address(own)) => {
                    let own = Readings::of(*own);
                    Readings::of(address).iter().any(|address| own.iter().any(|own| own == address))
                }
                Pattern::Block(_) => Readings::of(address).iter().any(|address| self.holds(address)),
                Pattern::Host(Host::Name(_)) | Pattern::Below(_) => false,
            }
    }

    /// Whether it is about this machine: `localhost`, or an address by which the machine reaches itself.
    pub fn is_this_machine(&self, port: u16, transport: Transport) -> bool {
        self.fits(port, transport)
            && match &self.pattern {
                Pattern::Host(Host::Address(own)) => is_loopback(*own),
                Pattern::Host(Host::Name(name)) => name == "localhost",
                Pattern::Block(net) => {
                    let within = |block: &IpNet| block.contains(&net.addr()) || net.contains(&block.addr());
                    this_machine().iter().any(within)
                }
                Pattern::Below(_) => false,
            }
    }

    fn holds(&self, address: IpAddr) -> bool {
        match &self.pattern {
            Pattern::Host(Host::Address(own)) => *own == address,
            Pattern::Block(net) => net.contains(&address),
            Pattern::Host(Host::Name(_)) | Pattern::Below(_) => false,
        }
    }

    fn fits(&self, port: u16, transport: Transport) -> bool {
        self.port.is_none_or(|own| own == port) && self.transport.is_none_or(|own| own == transport)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(transport) = self.transport {
            write!(f, "{}://", transport.scheme())?;
        }
        match &self.pattern {
            Pattern::Host(host) => host.fmt(f)?,
            Pattern::Below(name) => write!(f, "*.{name}")?,
            Pattern::Block(net) => net.fmt(f)?,
        }
        match self.port {
            Some(port) if self.transport.is_none_or(|transport| transport.port() != port) => {
                write!(f, ":{port}")
            }
            _ => Ok(()),
        }
    }
}

impl TryFrom<String> for HostRule {
    type Error = InvalidRule;
    fn try_from(text: String) -> Result<Self, InvalidRule> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> HostRule {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn matches(text: &str, url: &str) -> bool {
        let url = url::Url::parse(url).unwrap();
        let transport = Transport::of(url.scheme()).unwrap();
        rule(text).matches(&Host::of(&url).unwrap(), url.port_or_known_default().unwrap(), transport)
    }

    // contract: 10.3
    #[test]
    fn a_rule_matches_what_it_says_and_nothing_beside_it() {
        for (text, url, want) in [
            ("example.com", "https://example.com/", true),
            ("example.com", "http://example.com:8080/", true),
            ("example.com", "https://www.example.com/", false),
            ("example.com", "https://example.com.evil.test/", false),
            ("example.com", "https://badexample.com/", false),
            ("*.example.com", "https://a.b.example.com/", true),
            ("*.example.com", "https://example.com/", false),
            ("*.example.com", "https://xexample.com/", false),
            ("example.com:8443", "https://example.com:8443/", true),
            ("example.com:8443", "https://example.com/", false),
            ("https://example.com", "https://example.com/", true),
            ("https://example.com", "wss://example.com/", true),
            ("https://example.com", "http://example.com/", false),
            ("https://example.com", "http://example.com:443/", false),
            ("https://example.com", "https://example.com:444/", false),
            ("http://example.com:8080", "ws://example.com:8080/", true),
            ("127.0.0.1", "http://127.0.0.1:9/", true),
            ("10.0.0.0/8", "http://10.200.3.4/", true),
            ("10.0.0.0/8", "http://11.0.0.1/", false),
            ("10.0.0.0/8", "http://ten.example/", false),
            ("::1", "http://[::1]:8080/", true),
            ("[::1]:8080", "http://[::1]:8080/", true),
            ("[::1]:8080", "http://[::1]:8081/", false),
            ("fe80::/10", "http://[fe80::1]/", true),
        ] {
            assert_eq!(matches(text, url), want, "{text} {url}");
        }
    }

    // contract: 10.3
    #[test]
    fn every_spelling_of_a_host_is_the_same_host() {
        for spelling in ["Example.COM", "example.com.", "%65xample.com", "ｅxample.com", "EXAMPLE.com."] {
            assert_eq!(rule(spelling).to_string(), "example.com", "{spelling}");
        }
        assert_eq!(rule("bücher.example").to_string(), "xn--bcher-kva.example");
        assert_eq!(rule("*.BÜCHER.example").to_string(), "*.xn--bcher-kva.example");
        for spelling in [
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
            "%31%32%37.1",
            "0x7f000001",
            "[::ffff:127.0.0.1]",
            "::ffff:7f00:1",
        ] {
            assert_eq!(rule(spelling).to_string(), "127.0.0.1", "{spelling}");
        }
        assert_eq!(rule("::ffff:10.0.0.0/104").to_string(), "10.0.0.0/8");
        assert_eq!(rule("HTTPS://Example.com:443/").to_string(), "https://example.com");
        assert_eq!(rule("wss://example.com:8443").to_string(), "https://example.com:8443");
        for text in ["example.com", "*.a.b:81", "http://[::1]:9", "10.0.0.0/8", "fe80::/10", "https://a.test"]
        {
            assert_eq!(rule(text).to_string(), text);
            let json = serde_json::to_string(&rule(text)).unwrap();
            assert_eq!(serde_json::from_str::<HostRule>(&json).unwrap(), rule(text));
        }
    }

    // contract: 10.3
    #[test]
    fn what_is_no_rule_is_refused_with_its_reason() {
        for (text, error) in [
            ("", InvalidRule::Form),
            (".", InvalidRule::Form),
            ("a..b", InvalidRule::Form),
            ("*", InvalidRule::Star),
            ("*.*.com", InvalidRule::Star),
            ("a.*.com", InvalidRule::Star),
            ("*.10.0.0.1", InvalidRule::Star),
            ("ftp://example.com", InvalidRule::Scheme),
            ("https://example.com/path", InvalidRule::Path),
            ("https://u:p@example.com", InvalidRule::Path),
            ("example.com?x", InvalidRule::Path),
            ("example.com:0", InvalidRule::Port),
            ("example.com:65536", InvalidRule::Port),
            ("example.com:", InvalidRule::Port),
            ("example.com/24", InvalidRule::Form),
            ("10.0.0.0/33", InvalidRule::Form),
            ("10.0.0.1/8", InvalidRule::Block("10.0.0.0/8".parse().unwrap())),
            ("[::1", InvalidRule::Form),
            ("300.1.1.1", InvalidRule::Form),
            (&"a".repeat(301), InvalidRule::TooLong),
        ] {
            assert_eq!(text.parse::<HostRule>(), Err(error), "{text}");
        }
    }
}
