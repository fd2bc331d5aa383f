//! Whether each line goes on from the one before it.

use super::chain::{Chain, Fault, Sealed, Unseal, unseal};

/// Reads lines in their order. After a fault it goes on from the line that it found, so that one fault is told once.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// The last line that could be trusted; `None` before the first one.
    last: Option<Chain>,
    /// Lines since then that could not.
    skipped: u64,
}

impl Judge {
    /// The last line that could be trusted.
    pub fn last(&self) -> Option<&Chain> {
        self.last.as_ref()
    }

    /// How many lines stand after that one and could not be trusted.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Judges the next line, without its line break. The entry comes with a fault too, where there is one.
    pub fn line(&mut self, line: &[u8]) -> (Option<Box<Sealed>>, Option<Fault>) {
        let sealed = match unseal(line) {
            Unseal::Whole(sealed) => sealed,
            Unseal::Changed(sealed) => {
                self.skipped += 1;
                return (Some(sealed), Some(Fault::Changed));
            }
            Unseal::No => {
                self.skipped += 1;
                return (None, Some(Fault::Unreadable));
            }
        };
        let fault = match &self.last {
            Some(last) if sealed.seq <= last.seq => Some(Fault::Order),
            Some(last) if sealed.seq - last.seq > self.skipped + 1 => Some(Fault::Missing),
            Some(last) if self.skipped == 0 && sealed.prev != last.hash => Some(Fault::Replaced),
            _ => None,
        };
        // A line that stands too late does not set the count back: what follows it is where it was.
        if fault != Some(Fault::Order) {
            self.last = Some(Chain { seq: sealed.seq, hash: sealed.hash.clone() });
            self.skipped = 0;
        }
        (Some(sealed), fault)
    }
}
