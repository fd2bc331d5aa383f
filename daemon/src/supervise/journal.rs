//! What a worker was about to send, read after its death.
//!
//! The worker notes an execution in a memory file right before its first effect. What it says of that on its channel can
//! be lost with it; what it wrote cannot.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use glass_proto::ExecutionId;
use glass_proto::start::{JOURNAL_ENTRIES, JOURNAL_ENTRY};
use nix::sys::memfd::{MFdFlags, memfd_create};

const LENGTH: usize = JOURNAL_ENTRY * JOURNAL_ENTRIES as usize;

/// The journal of one worker.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// An empty one, and a descriptor of it for the worker.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn create() -> io::Result<(Self, OwnedFd)> {
        let file = File::from(memfd_create("glass-journal", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(LENGTH as u64)?;
        let theirs = file.try_clone()?.into();
        Ok((Self(file), theirs))
    }

    /// Whether the worker was about to send something of this execution. Only for workers that are gone. A journal that
    /// cannot be read says yes: nobody can say that it was not.
    pub fn has(&self, execution: &ExecutionId) -> bool {
        let mut entries = vec![0; LENGTH];
        match self.0.read_exact_at(&mut entries, 0) {
            Ok(()) => entries.chunks(JOURNAL_ENTRY).any(|entry| entry == execution.as_str().as_bytes()),
            Err(error) => {
                tracing::error!(%error, "a worker's journal cannot be read");
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_and_a_broken_journal_says_yes() {
        let (journal, worker) = Journal::create().unwrap();
        let (noted, other) = (ExecutionId::generate(), ExecutionId::generate());
        let file = File::from(worker);
        file.write_all_at(noted.as_str().as_bytes(), 3 * JOURNAL_ENTRY as u64).unwrap();
        assert!(journal.has(&noted) && !journal.has(&other));
        file.set_len(1).unwrap();
        assert!(journal.has(&other));
    }
}
