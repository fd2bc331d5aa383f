//! Notes each execution right before its first effect, where it outlives this process.
//!
//! What is said on a socket takes some time to leave this process, and is lost if it dies in between: glassd would then
//! tell of an operation that was sent that it was not. A byte written to a memory file that glassd holds as well is there
//! at once, whatever happens next.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use glass_proto::start::{JOURNAL_ENTRIES, JOURNAL_ENTRY};

/// The file, used as a ring.
#[derive(Debug)]
pub struct Journal {
    file: File,
    next: AtomicU64,
}

impl Journal {
    /// On the file that glassd passed.
    pub fn new(file: OwnedFd) -> Self {
        Self { file: file.into(), next: AtomicU64::new(0) }
    }

    /// Notes an execution.
    ///
    /// # Errors
    /// The system's.
    pub fn note(&self, execution: &str) -> io::Result<()> {
        let slot = self.next.fetch_add(1, Ordering::Relaxed) % JOURNAL_ENTRIES;
        let mut entry = [0; JOURNAL_ENTRY];
        let id = execution.as_bytes();
        let length = id.len().min(JOURNAL_ENTRY);
        entry[..length].copy_from_slice(&id[..length]);
        self.file.write_all_at(&entry, slot * JOURNAL_ENTRY as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_makes_room() {
        let file = tempfile::tempfile().unwrap();
        let journal = Journal::new(file.try_clone().unwrap().into());
        for number in 0..=JOURNAL_ENTRIES {
            journal.note(&format!("{number:026}")).unwrap();
        }
        let length = file.metadata().unwrap().len();
        assert_eq!(length, JOURNAL_ENTRIES * JOURNAL_ENTRY as u64);
        let mut first = [0; JOURNAL_ENTRY];
        file.read_exact_at(&mut first, 0).unwrap();
        assert_eq!(first, *format!("{JOURNAL_ENTRIES:026}").as_bytes());
    }
}
