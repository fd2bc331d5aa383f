//! From a name and a port to a connection that policy allows.
//!
//! Owns resolution, the two policy checks, and the race between addresses. Does not speak HTTP. What is connected
//! to is always an address that was itself allowed, never a name that could have changed in between.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use glass_policy::egress::{Connection, Decision, Purpose, Rules};
use glass_policy::host::{Host, Transport};
use http::uri::Authority;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::failure::{Failure, FailureKind};
use super::upstream::Upstream;

/// How long one address may take to accept.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long an address has before the next is tried beside it (RFC 8305 says 250 ms).
const STAGGER: Duration = Duration::from_millis(250);

/// How long a name may take to resolve.
const RESOLVE_LIMIT: Duration = Duration::from_secs(15);

/// How many names one session resolves at one time. A lookup cannot be broken off, so a page with names that nobody
/// answers for keeps this many threads of the resolver and no more.
const MAX_LOOKUPS: usize = 3;

/// How many addresses of a name are tried.
const MAX_ADDRESSES: usize = 8;

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Destination {
    /// Reads a destination; `None` when the authority names none, or holds credentials.
    pub(super) fn parse(authority: &Authority, default_port: Option<u16>) -> Option<Self> {
        let port = match authority.port_u16() {
            Some(port) => port,
            // A port that is there and not a number is no reason to take the default.
            None if authority.port().is_some() || authority.as_str().ends_with(':') => return None,
            None => default_port?,
        };
        let host = authority.host();
        if port == 0 || authority.as_str().contains('@') {
            return None;
        }
        // A browser has decoded what was encoded, and what is sent on is the text as it came.
        let host = if host.contains('%') { None } else { Host::parse(host).ok() };
        Some(Self { host: host?, port })
    }

    /// The name, or the address without brackets.
    pub(super) fn host(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        }
    }

    /// Whether it is this machine, which no other proxy could mean.
    pub(super) fn is_this_machine(&self) -> bool {
        let connection = Connection {
            host: &self.host,
            port: self.port,
            transport: Transport::Plain,
            address: None,
            own: false,
        };
        connection.is_to_this_machine()
    }

    /// Those of `ways` that the rules allow, with the denial of the others; or the denial where none is allowed.
    fn allowed(
        &self,
        rules: &Rules,
        ways: &[Transport],
        address: Option<IpAddr>,
    ) -> Result<(Vec<Transport>, Option<Failure>), Failure> {
        let (host, port) = (&self.host, self.port);
        let own = address.is_some_and(is_own);
        let mut allowed = Vec::new();
        let mut denied = None;
        for transport in ways {
            let connection = Connection { host, port, transport: *transport, address, own };
            match rules.decide(&connection, Purpose::Any) {
                Decision::Allow => allowed.push(*transport),
                Decision::Deny { rule, reason } => {
                    denied.get_or_insert(Failure::Denied { rule, reason });
                }
            }
        }
        match denied {
            Some(denied) if allowed.is_empty() => Err(denied),
            denied => Ok((allowed, denied)),
        }
    }
}

/// A connection that policy allows.
#[derive(Debug)]
pub(super) struct Dialled {
    pub(super) stream: TcpStream,
    /// Where only one way to use it is allowed, that way, and the denial of the other.
    pub(super) only: Option<(Transport, Failure)>,
}

/// Whether an address is one of this machine's own: the system would reach it from that very address. Sends nothing.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Any port does: a datagram socket that is connected only has its route looked up.
    let routed = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    // What has no route is not reached at all.
    routed.is_ok_and(|from| from.ip().to_canonical() == address.to_canonical())
}

/// One session's turns at the resolver.
#[derive(Clone, Debug)]
pub(super) struct Lookups(Arc<Semaphore>);

impl Default for Lookups {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LOOKUPS)))
    }
}

impl Lookups {
    /// Asks the system's resolver. The turn is given back when the lookup has ended, not when nobody waits any more.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let turn = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let found = (host.as_str(), port).to_socket_addrs();
            found.map(|addresses| addresses.take(MAX_ADDRESSES).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// Connects to `destination` if `rules` allow it by name and by address, in one of the `ways` that it may be used.
pub(super) async fn dial(
    rules: &Rules,
    lookups: &Lookups,
    destination: &Destination,
    ways: &[Transport],
) -> Result<Dialled, Failure> {
    destination.allowed(rules, ways, None)?;
    let mut denied = None;
    let mut allowed = Vec::new();
    for address in resolve(lookups, destination).await? {
        match destination.allowed(rules, ways, Some(address.ip())) {
            Ok(_) => allowed.push(address),
            Err(failure) => denied = Some(failure),
        }
    }
    let stream = match denied {
        Some(denied) if allowed.is_empty() => return Err(denied),
        _ => connect_to_any(&allowed).await?,
    };
    let address = stream.peer_addr().map_err(|error| Failure::of_connect(&error))?;
    let (left, denied) = destination.allowed(rules, ways, Some(address.ip()))?;
    let only = left.first().copied().zip(denied);
    Ok(Dialled { stream, only })
}

/// Connects to the upstream proxy if `rules` allow `destination` by name, and that nobody here sees its address.
pub(super) async fn dial_through(
    upstream: &Upstream,
    rules: &Rules,
    lookups: &Lookups,
    destination: &Destination,
    ways: &[Transport],
) -> Result<Dialled, Failure> {
    let (left, denied) = destination.allowed(rules, ways, None)?;
    let failed = || Failure::Of(FailureKind::Upstream);
    let (host, port) = upstream.place().map_err(|_| failed())?;
    if let Decision::Deny { rule, reason } = rules.admit_upstream(&host, port) {
        return Err(Failure::Denied { rule, reason });
    }
    let place = Destination { host, port };
    let addresses = resolve(lookups, &place).await.map_err(|_| failed())?;
    let stream = connect_to_any(&addresses).await.map_err(|_| failed())?;
    let only = left.first().copied().zip(denied);
    Ok(Dialled { stream, only })
}

async fn resolve(lookups: &Lookups, destination: &Destination) -> Result<Vec<SocketAddr>, Failure> {
    let Destination { host, port } = destination;
    if host.is_localhost() {
        // Loopback by RFC 6761; glibc does not know the names below it, and a resolver must not be asked.
        return Ok(vec![(Ipv4Addr::LOCALHOST, *port).into(), (Ipv6Addr::LOCALHOST, *port).into()]);
    }
    let host = match host {
        Host::Address(address) => return Ok(vec![(*address, *port).into()]),
        Host::Name(name) => name,
    };
    let unresolved = Failure::Of(FailureKind::Unresolved);
    match timeout(RESOLVE_LIMIT, lookups.resolve(host, *port)).await {
        Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
        _ => Err(unresolved),
    }
}

/// Tries the addresses in their order, each next one when the one before failed or takes long; the first that
/// accepts wins.
async fn connect_to_any(addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
    let mut waiting = addresses.iter();
    let mut attempts = FuturesUnordered::new();
    let mut failures = Vec::new();
    loop {
        if let Some(address) = waiting.next() {
            attempts.push(connect(*address));
        }
        tokio::select! {
            ended = attempts.next() => match ended {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(failure)) => failures.push(failure),
                None => return Err(most_telling(failures)),
            },
            () = sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream, Failure> {
    let attempt = async {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // A peer that vanished without a word must not hold a session's connection for ever.
        socket.set_keepalive(true)?;
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    match timeout(CONNECT_LIMIT, attempt).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(Failure::of_connect(&error)),
        Err(_) => Err(Failure::Of(FailureKind::Timeout)),
    }
}

/// Of several addresses' failures the one that says most of the server: a closed port is an answer, a missing
/// route for the other address family is not.
fn most_telling(failures: Vec<Failure>) -> Failure {
    let weight = |failure: &Failure| match failure.kind() {
        FailureKind::Refused => 3,
        FailureKind::Reset => 2,
        FailureKind::Timeout => 1,
        _ => 0,
    };
    failures.into_iter().max_by_key(weight).unwrap_or(Failure::Of(FailureKind::Unreachable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(text: &str, default_port: Option<u16>) -> Option<(String, u16)> {
        Destination::parse(&text.parse().ok()?, default_port).map(|found| (found.host(), found.port))
    }

    #[test]
    fn destinations_are_read_in_one_spelling() {
        assert_eq!(destination("Example.COM.", Some(80)), Some(("example.com".into(), 80)));
        assert_eq!(destination("example.com:8080", Some(80)), Some(("example.com".into(), 8080)));
        assert_eq!(destination("[::0001]:443", None), Some(("::1".into(), 443)));
        assert_eq!(destination("10.0.0.1:1", None), Some(("10.0.0.1".into(), 1)));
        assert_eq!(destination("under_score.example:1", None), Some(("under_score.example".into(), 1)));
    }

    #[test]
    fn what_names_no_destination_is_refused() {
        let long = format!("{}:1", "a".repeat(254));
        for text in ["example.com", "example.com:", "example.com:0", "example.com:70000", ".:1", "u:p@a.b:1"]
        {
            assert_eq!(destination(text, None), None, "{text}");
        }
        assert_eq!(destination(&long, None), None);
        assert_eq!(destination("a.b:", Some(80)), None);
    }

    #[test]
    fn a_closed_port_outweighs_a_missing_route() {
        let of = Failure::Of;
        let failures = vec![of(FailureKind::Refused), of(FailureKind::Unreachable)];
        assert_eq!(most_telling(failures), of(FailureKind::Refused));
        assert_eq!(most_telling(vec![]), of(FailureKind::Unreachable));
    }

    #[tokio::test]
    async fn localhost_names_are_loopback_without_a_resolver() {
        for host in ["localhost", "a.b.localhost"] {
            let addresses =
                resolve(&Lookups::default(), &Destination { host: Host::Name(host.into()), port: 7 }).await;
            let addresses = addresses.unwrap();
            assert_eq!(addresses, ["127.0.0.1:7".parse().unwrap(), "[::1]:7".parse().unwrap()]);
        }
    }

    #[tokio::test]
    async fn a_lookup_that_nobody_waits_for_keeps_its_turn() {
        let lookups = Lookups::default();
        let turns = Arc::clone(&lookups.0).acquire_many_owned(MAX_LOOKUPS as u32).await.unwrap();
        let limit = Duration::from_millis(10);
        assert!(timeout(limit, lookups.resolve("localhost", 1)).await.is_err(), "no turn is free");
        drop(turns);
        assert!(!lookups.resolve("127.0.0.1", 1).await.unwrap().is_empty());
        assert_eq!(lookups.0.available_permits(), MAX_LOOKUPS);
    }

    #[tokio::test]
    async fn a_denied_name_is_not_resolved() {
        let destination = Destination { host: Host::Name("name.invalid".into()), port: 1 };
        let ways = [Transport::Plain];
        let failure = dial(&Rules::default(), &Lookups::default(), &destination, &ways).await.unwrap_err();
        assert_eq!(failure.kind(), FailureKind::Denied);
    }
}
