//! What was told of rows, so that a ref can be found again when its document went (contract 3.7).

use std::collections::{HashMap, VecDeque};

use super::state::FrameKey;

/// Revisions whose rows are kept (contract 3.7).
const REVISIONS: usize = 8;

/// Rows told of one target, by frame number and node; only those that were the only one of their kind in their place.
#[derive(Debug, Default)]
pub struct Memory {
    rows: HashMap<(u32, u32), Remembered>,
    revisions: VecDeque<u64>,
}

/// A row as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The revision that it was told at last.
    pub revision: u64,
    /// The frame that it was in.
    pub frame: String,
    /// URL of that frame's document, without its fragment.
    pub url: String,
    /// Its role.
    pub role: String,
    /// Its name.
    pub name: String,
    /// The rows that it lay in.
    pub place: String,
}

impl Memory {
    /// Notes a row of an observation.
    pub fn note(&mut self, key: &FrameKey, node: u32, row: Remembered) {
        if self.revisions.back() != Some(&row.revision) {
            self.revisions.push_back(row.revision);
            if self.revisions.len() > REVISIONS {
                self.revisions.pop_front();
            }
            let oldest = self.revisions.front().copied().unwrap_or(0);
            self.rows.retain(|_, row| row.revision >= oldest);
        }
        self.rows.insert((key.label, node), row);
    }

    /// The row that a ref named.
    pub fn of(&self, label: u32, node: u32) -> Option<&Remembered> {
        self.rows.get(&(label, node))
    }
}

/// An address without its fragment.
pub(crate) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_last_eight_observed_revisions_are_kept() {
        let mut memory = Memory::default();
        let key = FrameKey { target: "t".into(), frame: "f".into(), generation: 1, label: 0 };
        let row = |revision| Remembered {
            revision,
            frame: "f".into(),
            url: "u".into(),
            role: "button".into(),
            name: "A".into(),
            place: String::new(),
        };
        for revision in 1..=10 {
            memory.note(&key, u32::try_from(revision).unwrap(), row(revision));
            memory.note(&key, 100, row(revision));
        }
        assert!(memory.of(0, 2).is_none() && memory.of(1, 9).is_none());
        assert_eq!(memory.of(0, 3).map(|row| row.revision), Some(3));
        assert_eq!(memory.of(0, 100).map(|row| row.revision), Some(10));
    }
}
