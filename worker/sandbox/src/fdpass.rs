//! Passes descriptors between two processes over a Unix socket.
//!
//! Owns one message shape: a few bytes and up to [`MAX_FDS`] descriptors. Does not own the meaning of the
//! bytes, and refuses what it could only half deliver: a message cut short by the kernel is an error, and
//! descriptors that came with it are closed, never leaked.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg,
    socketpair,
};

/// The most descriptors that one message carries.
pub const MAX_FDS: usize = 4;

/// The most that Linux lets one message carry (SCM_MAX_FD).
const KERNEL_MAX_FDS: usize = 253;

/// A connected SOCK_SEQPACKET pair, close-on-exec and blocking.
///
/// Seqpacket keeps message borders and reports end of file, so a control channel needs no framing and its end
/// is a lifeline.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?)
}

/// Like [`pair`], with both ends non-blocking, for use under an event loop.
pub fn nonblocking_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    Ok(socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?)
}

/// A connected SOCK_STREAM pair, close-on-exec and non-blocking: what [`send`] usually hands over.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    Ok(socketpair(AddressFamily::Unix, SockType::Stream, None, flags)?)
}

/// Sends one message with its descriptors; the receiver gets duplicates, the caller keeps its own.
///
/// `data` must not be empty (an empty message could not be told from end of file) and `fds` holds at most
/// [`MAX_FDS`]. A non-blocking socket whose buffer is full gives [`io::ErrorKind::WouldBlock`] and sends
/// nothing.
pub fn send(socket: BorrowedFd<'_>, data: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if data.is_empty() {
        return Err(invalid("a message with descriptors needs at least one byte"));
    }
    if fds.len() > MAX_FDS {
        return Err(invalid("too many descriptors for one message"));
    }
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let control = if raw.is_empty() { &rights[..0] } else { &rights[..] };
    let sent = retry(|| {
        sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(data)], control, MsgFlags::MSG_NOSIGNAL, None)
    })?;
    if sent < data.len() {
        return Err(io::Error::new(io::ErrorKind::WriteZero, "the socket took only a part of the message"));
    }
    Ok(())
}

/// Receives one message into `buf`: its length and its descriptors, close-on-exec. Length 0 is end of file.
///
/// A message longer than `buf`, or with more than [`MAX_FDS`] descriptors, is an error and is lost.
pub fn recv(socket: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    // nix hides the control data of a message whose descriptors did not fit, although those that did are
    // installed in this process by then. Room for all that the kernel ever sends keeps every excess visible,
    // so it can be closed.
    let mut control = nix::cmsg_space!([RawFd; KERNEL_MAX_FDS]);
    let mut parts = [IoSliceMut::new(buf)];
    let message = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_CMSG_CLOEXEC) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(message) => break message,
        }
    };
    let mut fds = Vec::new();
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = part {
            // SAFETY: the kernel has just installed these numbers in our table for this message, so nothing
            // else in the process knows them; each is wrapped exactly once because the iterator yields each
            // message once.
            fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    if message.flags.contains(MsgFlags::MSG_TRUNC) {
        return Err(invalid("the message is longer than the buffer"));
    }
    if fds.len() > MAX_FDS {
        return Err(invalid("the message holds too many descriptors"));
    }
    Ok((message.bytes, fds))
}

fn retry<T>(mut call: impl FnMut() -> nix::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            other => return Ok(other?),
        }
    }
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_crosses_and_still_works() {
        let (a, b) = pair().unwrap();
        let (mine, theirs) = UnixStream::pair().unwrap();
        send(a.as_fd(), b"dial", &[theirs.as_fd()]).unwrap();
        drop(theirs);

        let mut buf = [0; 16];
        let (len, mut fds) = recv(b.as_fd(), &mut buf).unwrap();
        assert_eq!(&buf[..len], b"dial");
        assert_eq!(fds.len(), 1);
        let mut received = UnixStream::from(fds.remove(0));
        received.write_all(b"hello").unwrap();
        drop(received);
        let mut text = String::new();
        (&mine).read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn received_descriptors_are_close_on_exec() {
        let (a, b) = pair().unwrap();
        send(a.as_fd(), b"x", &[a.as_fd()]).unwrap();
        let (_, fds) = recv(b.as_fd(), &mut [0; 4]).unwrap();
        assert!(crate::fds::is_close_on_exec(fds[0].as_fd()).unwrap());
    }

    #[test]
    fn a_closed_peer_is_end_of_file() {
        let (a, b) = pair().unwrap();
        drop(a);
        let (len, fds) = recv(b.as_fd(), &mut [0; 4]).unwrap();
        assert_eq!((len, fds.len()), (0, 0));
        assert_eq!(send(b.as_fd(), b"x", &[]).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn empty_long_and_crowded_messages_are_refused() {
        let (a, b) = pair().unwrap();
        assert!(send(a.as_fd(), b"", &[]).is_err());
        assert!(send(a.as_fd(), b"x", &[a.as_fd(); MAX_FDS + 1]).is_err());
        send(a.as_fd(), b"longer", &[a.as_fd()]).unwrap();
        assert!(recv(b.as_fd(), &mut [0; 2]).is_err());
    }

    #[test]
    fn an_empty_nonblocking_socket_would_block() {
        let (_a, b) = nonblocking_pair().unwrap();
        assert_eq!(recv(b.as_fd(), &mut [0; 2]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
