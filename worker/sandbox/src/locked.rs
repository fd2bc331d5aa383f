//! Memory for secrets: pages of their own that are never swapped out, dumped or given to a child, and wiped at the end.

use std::ffi::c_void;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use zeroize::Zeroize;

/// Bytes in locked pages.
///
/// Each value has whole pages to itself, so that none is unlocked when another goes. They count towards
/// `RLIMIT_MEMLOCK`.
pub struct LockedBytes {
    at: NonNull<c_void>,
    mapped: NonZeroUsize,
    len: usize,
}

// SAFETY: the mapping is private to the value, which is changed by nobody between its making and its drop, so it may be
// used from and handed to any thread, as a boxed slice may.
unsafe impl Send for LockedBytes {}
// SAFETY: as above: shared use reads only.
unsafe impl Sync for LockedBytes {}

impl LockedBytes {
    /// A copy of these bytes.
    ///
    /// # Errors
    /// There is no memory, or no more of it may be locked; then nothing is kept.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        // An empty value has a page too, since a mapping has at least one byte; the kernel rounds up to whole pages.
        let mapped = NonZeroUsize::new(bytes.len()).unwrap_or(NonZeroUsize::MIN);
        // SAFETY: a new anonymous mapping at a place of the kernel's choice overlaps nothing that exists.
        let at = unsafe {
            mmap_anonymous(None, mapped, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE)
        }?;
        let whole = Self { at, mapped, len: bytes.len() };
        // SAFETY: the range is the mapping just made, whole; locking changes no byte of it.
        unsafe { mlock(at, mapped.get()) }?;
        #[cfg(target_os = "linux")]
        for advice in [MmapAdvise::MADV_DONTDUMP, MmapAdvise::MADV_DONTFORK] {
            // SAFETY: the range is the mapping just made, whole; neither advice changes a byte of it in this process.
            unsafe { madvise(at, mapped.get(), advice) }?;
        }
        // SAFETY: the mapping has at least `bytes.len()` writable bytes, and cannot overlap a slice that was there before.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.as_ptr().cast::<u8>(), bytes.len()) };
        Ok(whole)
    }

    /// The bytes.
    pub fn expose(&self) -> &[u8] {
        // SAFETY: the mapping has `len` bytes that were written in `copy_of`, lives as long as the value, and is not
        // written to while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr().cast::<u8>(), self.len) }
    }
}

impl Drop for LockedBytes {
    fn drop(&mut self) {
        // SAFETY: the mapping has `len` writable bytes, and nobody else has a reference to them any more.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr().cast::<u8>(), self.len) };
        bytes.zeroize();
        // SAFETY: the range is the mapping of this value, which nothing refers to from here on. A failure would leave
        // pages that are wiped.
        let _ = unsafe { munmap(self.at, self.mapped.get()) };
    }
}

impl fmt::Debug for LockedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockedBytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags that `/proc/self/smaps` tells of the pages of a value. Neighbours of the same flags are one entry there.
    fn flags(of: &LockedBytes) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let at = of.at.as_ptr().addr();
        let holds = |line: &str| {
            let (from, to) = line.split_once(' ')?.0.split_once('-')?;
            let [from, to] = [from, to].map(|end| usize::from_str_radix(end, 16));
            Some((from.ok()?..to.ok()?).contains(&at))
        };
        let mut lines = smaps.lines().skip_while(|line| holds(line) != Some(true));
        lines.find(|line| line.starts_with("VmFlags:")).expect("the flags of the pages").to_owned()
    }

    #[test]
    fn pages_are_locked_left_out_of_dumps_and_of_children() {
        let kept = LockedBytes::copy_of(b"very-secret").unwrap();
        let other = LockedBytes::copy_of(&[7; 5000]).unwrap();
        assert_eq!((kept.expose(), other.expose().len()), (&b"very-secret"[..], 5000));
        assert_eq!(LockedBytes::copy_of(b"").unwrap().expose(), b"");
        let flags = flags(&kept);
        for flag in ["lo", "dd", "dc"] {
            assert!(flags.split_whitespace().any(|one| one == flag), "{flag}: {flags}");
        }
        assert!(!format!("{kept:?}").contains("very"));
    }
}
