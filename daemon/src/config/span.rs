//! A time in the configuration: a number and a unit, or `0` for never.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A time, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Option<Duration>);

/// The longest time that is taken: a year.
const MAX: Duration = Duration::from_secs(366 * 24 * 3600);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self(None));
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim() {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" | "min" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => {
                return Err(
                    "a time is a number and ms, s, m or h, like \"10m\", or \"0\" for never".to_owned()
                );
            }
        };
        match number.parse::<u32>().ok().and_then(|number| unit.checked_mul(number)) {
            Some(time) if !time.is_zero() && time <= MAX => Ok(Self(Some(time))),
            _ => Err("a time is at most a year; \"0\" stands for never".to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let parse = |text: &str| text.parse::<Span>().map(|span| span.0);
        assert_eq!(parse("10m"), Ok(Some(Duration::from_secs(600))));
        assert_eq!(parse("250 ms"), Ok(Some(Duration::from_millis(250))));
        assert_eq!(parse("4h"), Ok(Some(Duration::from_secs(14_400))));
        assert_eq!(parse("0"), Ok(None));
        for bad in ["", "10", "m", "-1s", "1d", "0s", "99999999h", "99999999999999s", "1.5s"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
