//! Descriptors that came through `execve`.
//!
//! Owns the rule by which they are told from descriptors of this program: an inherited one has close-on-exec
//! cleared, while everything that the standard library (and this crate) opens has it set. Taking one sets it,
//! so none is taken twice, and Chromium inherits none by accident.

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Takes ownership of descriptor `raw`, which the parent process passed under this number.
///
/// Fails with `EBADF` where nothing is open, and with `InvalidInput` for the three standard descriptors and
/// for one that this process opened itself or has taken before.
pub fn take_inherited(raw: RawFd) -> io::Result<OwnedFd> {
    if raw <= 2 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the standard descriptors are not for taking",
        ));
    }
    // SAFETY: the borrow lives for the two fcntl calls only; a number that is not open makes them fail with
    // EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(raw) };
    if is_close_on_exec(borrowed)? {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the descriptor was not inherited"));
    }
    set_close_on_exec(borrowed)?;
    // SAFETY: close-on-exec was clear, so this number came through execve and no object of this process owns
    // it; it is set now, so a second call is refused above.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Closes every inherited descriptor from 3 up that is not in `keep`; those that this process opened stay.
///
/// For the first lines of `main`, so that a leak in whoever started us ends here. Returns how many were
/// closed.
pub fn close_inherited(keep: &[RawFd]) -> io::Result<usize> {
    let mut closed = 0;
    for raw in open_descriptors()? {
        if raw > 2 && !keep.contains(&raw) {
            match take_inherited(raw) {
                Ok(fd) => {
                    drop(fd);
                    closed += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                // The directory stream itself was in the list and is closed by now.
                Err(error) if error.raw_os_error() == Some(Errno::EBADF as i32) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(closed)
}

/// Duplicates `fd` to the lowest free number from `lowest` up, close-on-exec.
///
/// Keeps a descriptor out of the way of numbers that a child is to inherit.
pub fn duplicate_above(fd: BorrowedFd<'_>, lowest: RawFd) -> io::Result<OwnedFd> {
    let raw = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(lowest))?;
    // SAFETY: the kernel has just made this descriptor for us, so nothing else owns the number.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// The numbers of all descriptors open now.
pub(crate) fn open_descriptors() -> io::Result<Vec<RawFd>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        if let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            numbers.push(number);
        }
    }
    Ok(numbers)
}

pub(crate) fn is_close_on_exec(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let flags = fcntl(fd, FcntlArg::F_GETFD)?;
    Ok(FdFlag::from_bits_truncate(flags).contains(FdFlag::FD_CLOEXEC))
}

pub(crate) fn set_close_on_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(())
}

/// Closes every descriptor from 3 up, whoever owns it.
///
/// # Safety
///
/// No object that owns a descriptor may be used after this. Only the stub qualifies: it does nothing but
/// wait.
pub(crate) unsafe fn close_all_from_three() -> io::Result<()> {
    // SAFETY: no pointer is passed; that nothing uses the descriptors afterwards is the caller's promise.
    let result = unsafe { nix::libc::close_range(3, u32::MAX, 0) };
    Errno::result(result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, AsRawFd, IntoRawFd};

    fn inheritable() -> RawFd {
        let file = std::fs::File::open("/dev/null").unwrap();
        fcntl(file.as_fd(), FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        file.into_raw_fd()
    }

    #[test]
    fn an_inherited_descriptor_is_taken_once() {
        let raw = inheritable();
        let fd = take_inherited(raw).unwrap();
        assert!(is_close_on_exec(fd.as_fd()).unwrap());
        assert_eq!(take_inherited(raw).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_duplicate_lies_above_and_is_not_inherited() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let high = duplicate_above(file.as_fd(), 200).unwrap();
        assert!(high.as_raw_fd() >= 200);
        assert!(is_close_on_exec(high.as_fd()).unwrap());
    }

    #[test]
    fn own_and_standard_descriptors_are_refused() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(take_inherited(file.as_raw_fd()).is_err());
        assert!(take_inherited(1).is_err());
        assert_eq!(take_inherited(9999).unwrap_err().raw_os_error(), Some(Errno::EBADF as i32));
    }
}
