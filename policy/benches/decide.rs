//! How long one decision takes: `cargo bench -p glass-policy`. The bound is 5 µs (DESIGN 5).

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_policy::Capability;
use glass_policy::decide::Policy;
use glass_policy::egress::{Connection, Purpose, Source};
use glass_policy::host::{Host, Transport};
use glass_policy::layer::Given;

const BOUND: Duration = Duration::from_micros(5);
const ROUNDS: u32 = 20_000;

fn policy(rules: usize) -> Policy {
    let list =
        |kind: &str| (0..rules).filter_map(|n| format!("{kind}{n}.example.com").parse().ok()).collect();
    let given = || Given { allow_hosts: list("*.allowed"), deny_hosts: list("denied"), ..Given::default() };
    let layer = |source| Arc::new(given().compile(source).unwrap_or_else(|wrong| panic!("{wrong:?}")));
    Policy::new(layer(Source::Daemon), layer(Source::Client))
}

/// The time of one run of `work`, the fastest of five.
fn measure(what: &str, work: impl Fn()) {
    let round = || {
        let begun = Instant::now();
        (0..ROUNDS).for_each(|_| work());
        begun.elapsed() / ROUNDS
    };
    let took = (0..5).map(|_| round()).min().unwrap_or_default();
    #[expect(clippy::print_stdout, reason = "whoever runs a bench reads it")]
    {
        println!("{what}: {took:?}");
    }
    assert!(took <= BOUND, "{what} takes {took:?}, and may take {BOUND:?}");
}

fn main() {
    let policy = policy(100);
    let rules = policy.rules();
    let host = Host::parse("www.allowed99.example.com").unwrap_or_else(|error| panic!("{error}"));
    let address: IpAddr = [93, 184, 216, 34].into();
    measure("an operation's capabilities", || {
        black_box(policy.all(black_box(&[Capability::Input, Capability::CoordinateInput])));
    });
    measure("a connection, 400 rules", || {
        let connection = Connection {
            host: &host,
            port: 443,
            transport: Transport::Tls,
            address: Some(address),
            own: false,
        };
        black_box(rules.decide(black_box(&connection), Purpose::Any));
    });
}
