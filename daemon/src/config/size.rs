//! A size in the configuration: a number and a unit.

use serde::{Deserialize, Deserializer, de};

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

/// The bounds of every size: what a browser needs at least, and more than a session is given.
const MIN: u64 = 64 << 20;
const MAX: u64 = 1 << 40;

impl std::str::FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim() {
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err("a size is a number and MiB or GiB, like \"2GiB\""),
        };
        match number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)) {
            Some(size) if (MIN..=MAX).contains(&size) => Ok(Self(size)),
            _ => Err("a size is between 64 MiB and 1024 GiB"),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_bounds() {
        assert_eq!("2GiB".parse(), Ok(Size(2 << 30)));
        assert_eq!("512 MiB".parse(), Ok(Size(512 << 20)));
        for bad in ["", "2", "2GB", "-1GiB", "63MiB", "1025GiB", "99999999999999999999GiB", "1.5GiB"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }
}
