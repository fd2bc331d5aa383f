//! Which addresses are public.
//!
//! Owns the blocks that are not, as IANA registers them for special purposes, and the one form of an address: IPv4
//! inside IPv6 is IPv4.

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

/// Whether anybody on the Internet could have this address.
pub fn is_public(address: IpAddr) -> bool {
    match canonical(address) {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(first, length, _)| {
            let mask = u32::MAX << (32 - u32::from(*length));
            address.to_bits() & mask == first.to_bits()
        }),
        IpAddr::V6(address) => {
            // 64:ff9b::/96 leads to an IPv4 address (RFC 6052), which is what counts.
            if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() {
                return is_public(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into());
            }
            address.segments()[0] & 0xe000 == 0x2000
                && !SPECIAL_V6.iter().any(|(first, length, _)| {
                    let mask = u128::MAX << (128 - u32::from(*length));
                    address.to_bits() & mask == first.to_bits()
                })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
