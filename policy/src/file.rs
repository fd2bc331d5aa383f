//! Reads `policy.toml`, with every mistake at once.
//!
//! Owns the keys of the file. A key that is unknown, a value that cannot be meant, a rule twice: each is told with its
//! line and column, and with one of them nothing of the file holds.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::egress::Source;
use crate::layer::{Given, Layer, List};

/// The most mistakes that are told.
const MAX_MISTAKES: usize = 32;

/// Something that the file may not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct Mistake {
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// What is wrong: one line.
    pub message: String,
}

/// The daemon's policy in a file's text.
///
/// # Errors
/// Every mistake, in the order of the file; at most 32.
pub fn parse(text: &str) -> Result<Layer, Vec<Mistake>> {
    let mut reader = Reader { text, mistakes: Vec::new(), places: HashMap::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        reader.wrong(at, error.message());
    }
    let given = reader.read(table.get_ref());
    let layer = match given.compile(Source::Daemon) {
        Ok(layer) => Some(layer),
        Err(contradictions) => {
            for wrong in contradictions {
                let at = reader.places.get(&(wrong.list, wrong.index)).cloned().unwrap_or(0..0);
                reader.wrong(at, &wrong.message);
            }
            None
        }
    };
    let mut mistakes = reader.mistakes;
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.dedup();
    mistakes.truncate(MAX_MISTAKES);
    layer.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

struct Reader<'a> {
    text: &'a str,
    mistakes: Vec<Mistake>,
    /// Where each item stands, for what is found wrong later.
    places: HashMap<(List, usize), Range<usize>>,
}

impl Reader<'_> {
    fn read(&mut self, table: &DeTable<'_>) -> Given {
        let mut given = Given::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "preset" => given.preset = self.one(List::Preset, value),
                "allow" => given.allow = self.list(List::Allow, value),
                "confirm" => given.confirm = self.list(List::Confirm, value),
                "deny" => given.deny = self.list(List::Deny, value),
                "allow_hosts" => given.allow_hosts = self.list(List::AllowHosts, value),
                "allow_subresource_hosts" => {
                    given.allow_subresource_hosts = self.list(List::AllowSubresourceHosts, value);
                }
                "deny_hosts" => given.deny_hosts = self.list(List::DenyHosts, value),
                "require_egress" => match value.get_ref().as_bool() {
                    Some(required) => given.require_egress = required,
                    None => self.wrong(value.span(), "this is true or false"),
                },
                _ => self.wrong(
                    key.span(),
                    "there is no such key; there are preset, allow, confirm, deny, allow_hosts, allow_subresource_hosts, deny_hosts and require_egress",
                ),
            }
        }
        given
    }

    fn one<T>(&mut self, list: List, value: &Spanned<DeValue<'_>>) -> Option<T>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        self.item(list, 0, value)
    }

    fn list<T>(&mut self, list: List, value: &Spanned<DeValue<'_>>) -> Vec<T>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(value.span(), "this is a list, like [\"a\", \"b\"]");
            return Vec::new();
        };
        let mut read = Vec::new();
        for item in items.iter() {
            read.extend(self.item(list, read.len(), item));
        }
        read
    }

    fn item<T>(&mut self, list: List, index: usize, value: &Spanned<DeValue<'_>>) -> Option<T>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong(value.span(), "this is a text in quotes");
            return None;
        };
        match text.parse() {
            Ok(item) => {
                self.places.insert((list, index), value.span());
                Some(item)
            }
            Err(error) => {
                self.wrong(value.span(), &error.to_string());
                None
            }
        }
    }

    fn wrong(&mut self, at: Range<usize>, message: &str) {
        let (line, column) = place(self.text, at.start);
        self.mistakes.push(Mistake { line, column, message: message.replace('\n', "; ") });
    }
}

/// Line and column, both from 1, of a byte of a text.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{Capability, Preset, Stance};

    fn mistakes(text: &str) -> Vec<String> {
        parse(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_empty_file_is_the_development_preset() {
        let layer = parse("# nothing\n").unwrap();
        assert_eq!(layer.preset, Some(Preset::Development));
        assert!(layer.hosts.is_open() && !layer.requires_egress);
    }

    #[test]
    fn a_newcomers_file_reads() {
        let layer = parse(
            "allow_hosts = [\"example.com\", \"*.example.com\"]\nallow_subresource_hosts = [\"cdn.example.net\"]\ndeny = [\"evaluate\"]\nconfirm = [\"upload\"]\nrequire_egress = true\n",
        )
        .unwrap();
        assert_eq!(layer.says(Capability::Upload).stance, Stance::Confirm);
        assert_eq!(layer.says(Capability::Evaluate).stance, Stance::Deny);
        assert!(layer.requires_egress && !layer.hosts.any && layer.hosts.tells_navigation());
    }

    // contract: 10.2
    #[test]
    fn every_mistake_is_told_at_once_with_its_place() {
        let told = mistakes(
            "preset = \"strict\"\nallow = [\"evaluate\", \"fly\"]\ndeny = [\n  \"evaluate\",\n]\nallow_hosts = \"a.test\"\ndeny_hosts = [\"*\", 5]\nrequire_egress = \"yes\"\nhosts = []\n",
        );
        let places: Vec<_> = told.iter().map(|line| line.split(": ").next().unwrap()).collect();
        assert_eq!(places, ["1:10", "2:22", "4:3", "6:15", "7:15", "7:20", "8:18", "9:1"], "{told:#?}");
        assert!(told[2].contains("evaluate stands in allow and in deny"));
    }

    #[test]
    fn a_broken_file_holds_nothing() {
        for text in [
            "preset",
            "preset = \"ci\"\npreset = \"ci\"",
            "allow = [",
            "[allow]\nx = 1",
            "\u{0}",
            "preset = \"polite\"",
            "confirm = [\"named_sessions\"]",
            "confirm_once = [\"upload\"]",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(mistakes("allow = [\"evaluate\"]\nallow = [\"upload\"]")[0].starts_with("2:1: "));
    }

    #[test]
    fn fuzz_policies() {
        let words = [
            "preset = ",
            "\"hardened\"",
            "allow = [",
            "deny_hosts = [\"",
            "*.",
            "10.0.0.0/8",
            "https://",
            "]\n",
            "\u{ff0e}",
            "0x7f.1",
        ];
        glass_fuzz::run("policy", &words, |input| {
            let text = String::from_utf8_lossy(input);
            match parse(&text) {
                Ok(layer) => {
                    // What was read prints as what is read again.
                    for rule in layer.hosts.allow.iter().chain(&layer.hosts.deny) {
                        assert_eq!(rule.to_string().parse().as_ref(), Ok(rule));
                    }
                    format!("{:?}", layer.preset)
                }
                Err(mistakes) => {
                    assert!(!mistakes.is_empty());
                    for mistake in &mistakes {
                        assert!(
                            mistake.line <= text.matches('\n').count() + 1 && !mistake.message.contains('\n')
                        );
                    }
                    mistakes[0].message.chars().filter(|letter| letter.is_alphabetic()).take(24).collect()
                }
            }
        });
    }
}
