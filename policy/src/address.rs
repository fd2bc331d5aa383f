//! Which addresses are public.
//!
//! Owns the blocks that are not, as IANA registers them for special purposes, and every spelling of an address: which
//! IPv4 addresses stand inside one of IPv6, and which addresses are this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that no public server has: first address, length of the prefix, what they are for.
const SPECIAL_V4: &[(Ipv4Addr, u8, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network; Linux takes it for this machine"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a provider's customers"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "this machine"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local, and where clouds keep their metadata"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "relays of 6to4"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved, and broadcast"),
];

/// What is not public within 2000::/3, which is all of IPv6 that is public at all.
const SPECIAL_V6: &[(Ipv6Addr, u8, &str)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol assignments, Teredo among them"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4: an IPv4 address inside"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

/// The address as it is judged: `::ffff:10.0.0.1` is `10.0.0.1`.
pub fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// An address with everything that it may lead to: itself first, then each IPv4 address that stands inside it. One that is
/// translated or tunnelled on its way ends at that one, so whoever denies the inner one denies every spelling of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readings {
    found: [IpAddr; MOST_READINGS],
    count: usize,
}

/// Itself, and one for each length that a prefix of a translator may have.
const MOST_READINGS: usize = 6;

impl Readings {
    /// The readings of `address`.
    pub fn of(address: IpAddr) -> Self {
        let address = canonical(address);
        let mut readings = Self { found: [address; MOST_READINGS], count: 1 };
        if let IpAddr::V6(address) = address {
            inside(address, |inner| readings.add(inner));
        }
        readings
    }

    fn add(&mut self, inner: Ipv4Addr) {
        if let Some(free) = self.found.get_mut(self.count) {
            *free = inner.into();
            self.count += 1;
        }
    }

    /// Each of them, the address itself first.
    pub fn iter(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.found.iter().take(self.count).copied()
    }
}

/// Tells each IPv4 address that stands inside `address`, by the forms that are registered or were in use.
fn inside(address: Ipv6Addr, mut found: impl FnMut(Ipv4Addr)) {
    let segments = address.segments();
    let octets = address.octets();
    let from = |at: usize| Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3]);
    let (last, is_small) = (from(12), address.to_bits() <= 0xffff);
    match segments {
        // IPv4-compatible (RFC 4291), without `::` and `::1` and their like, which are none.
        [0, 0, 0, 0, 0, 0, _, _] if !is_small => found(last),
        // IPv4-translated (RFC 2765).
        [0, 0, 0, 0, 0xffff, 0, _, _] => found(last),
        // NAT64 (RFC 6052).
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => found(last),
        // NAT64 of one's own network (RFC 8215), for every prefix that fits; octet 8 is left out (RFC 6052).
        [0x64, 0xff9b, 1, ..] => {
            found(Ipv4Addr::new(octets[6], octets[7], octets[9], octets[10]));
            found(Ipv4Addr::new(octets[7], octets[9], octets[10], octets[11]));
            found(Ipv4Addr::new(octets[9], octets[10], octets[11], octets[12]));
            found(last);
        }
        // Teredo (RFC 4380): its server, and the client with every bit turned.
        [0x2001, 0, ..] => {
            found(from(4));
            found(Ipv4Addr::from_bits(!last.to_bits()));
        }
        // 6to4 (RFC 3056).
        [0x2002, ..] => found(from(2)),
        _ => {}
    }
    // ISATAP (RFC 5214), beneath any prefix.
    if matches!(segments, [.., 0 | 0x200, 0x5efe, _, _]) {
        found(last);
    }
}

/// Whether it is an address by which this machine reaches itself, wherever it stands: loopback, and the unspecified one,
/// which the system takes for it.
pub fn is_loopback(address: IpAddr) -> bool {
    Readings::of(address).iter().any(|address| match address {
        IpAddr::V4(address) => address.is_loopback() || address.octets()[0] == 0,
        IpAddr::V6(address) => address.is_loopback() || address.is_unspecified(),
    })
}

/// Whether anybody on the Internet could have this address, and every one that stands inside it.
pub fn is_public(address: IpAddr) -> bool {
    Readings::of(address).iter().all(|address| match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(first, length, _)| {
            let mask = u32::MAX << (32 - u32::from(*length));
            address.to_bits() & mask == first.to_bits()
        }),
        IpAddr::V6(address) => {
            // What is translated by the well-known prefix leads to the IPv4 address inside, which is asked about too.
            let translated = matches!(address.segments(), [0x64, 0xff9b, 0, 0, 0, 0, _, _]);
            let global = address.segments()[0] & 0xe000 == 0x2000
                && !SPECIAL_V6.iter().any(|(first, length, _)| {
                    let mask = u128::MAX << (128 - u32::from(*length));
                    address.to_bits() & mask == first.to_bits()
                });
            translated || global
        }
    })
}

/// Every way to write an IPv4 address as one of IPv6 that leads to it; for tests.
#[cfg(test)]
pub(crate) fn spellings(address: Ipv4Addr) -> Vec<IpAddr> {
    let bits = u128::from(address.to_bits());
    let [a, b, c, d] = address.octets().map(u128::from);
    let at = |prefix: u128| IpAddr::V6(Ipv6Addr::from_bits(prefix | bits));
    let local = 0x64_ff9b_0001_u128 << 80;
    let mut spellings = vec![
        address.into(),
        at(0xffff_u128 << 32),
        at(0xffff_u128 << 48),
        at(0x64_ff9b_u128 << 96),
        at(local),
        Ipv6Addr::from_bits(local | a << 72 | b << 64 | c << 48 | d << 40).into(),
        Ipv6Addr::from_bits(local | a << 64 | b << 48 | c << 40 | d << 32).into(),
        Ipv6Addr::from_bits(local | a << 48 | b << 40 | c << 32 | d << 24).into(),
        Ipv6Addr::from_bits(0x2002_u128 << 112 | bits << 80 | 1).into(),
        Ipv6Addr::from_bits(0x2001_0000_u128 << 96 | bits << 64).into(),
        Ipv6Addr::from_bits(0x2001_0000_u128 << 96 | u128::from(!address.to_bits())).into(),
        at(0x2a00_1450_u128 << 96 | 0x5efe_u128 << 32),
        at(0xfe80_u128 << 112 | 0x0200_5efe_u128 << 32),
    ];
    if address.to_bits() > 0xffff {
        spellings.push(at(0));
    }
    spellings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // contract: 10.3
        #[test]
        fn an_address_is_as_public_as_what_stands_inside_it(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            for spelling in spellings(address) {
                prop_assert!(Readings::of(spelling).iter().any(|reading| reading == address), "{}", spelling);
                prop_assert!(is_public(address.into()) || !is_public(spelling), "{}", spelling);
                prop_assert!(!is_loopback(address.into()) || is_loopback(spelling), "{}", spelling);
            }
        }
    }

    // contract: 10.3
    #[test]
    fn private_addresses_are_told_in_every_spelling() {
        let public = |text: &str| is_public(text.parse().unwrap());
        for text in [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "::ffff:0:10.0.0.1",
            "2a00:1450:4001::5efe:10.0.0.1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(!public(text), "{text}");
        }
        for text in [
            "8.8.8.8",
            "1.1.1.1",
            "172.32.0.1",
            "172.15.0.1",
            "100.128.0.1",
            "192.167.1.1",
            "11.0.0.0",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "2001:4860:4860::8888",
        ] {
            assert!(public(text), "{text}");
        }
        assert!(
            SPECIAL_V4.iter().all(|row| !row.2.is_empty()) && SPECIAL_V6.iter().all(|row| !row.2.is_empty())
        );
    }
}
