//! One end of a SOCK_SEQPACKET pair under tokio.
//!
//! Owns waiting for the socket. Does not own the meaning of the messages (`wire`) and keeps no queue: a full
//! socket makes [`Channel::send`] wait and [`Channel::try_send`] give up.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram as StdUnixDatagram;

use glass_sandbox::fdpass;
use tokio::io::Interest;
use tokio::net::UnixDatagram;

/// A connected SEQPACKET socket: whole messages, with descriptors.
#[derive(Debug)]
pub struct Channel {
    /// Neither the standard library nor tokio has a seqpacket type. This one only waits; what is sent and received
    /// goes through `fdpass`, which minds neither.
    socket: UnixDatagram,
}

impl Channel {
    /// Takes a connected SEQPACKET socket and makes it non-blocking. Needs a running tokio runtime.
    ///
    /// # Errors
    /// The descriptor is no socket, or cannot be polled.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = StdUnixDatagram::from(socket);
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UnixDatagram::from_std(socket)? })
    }

    /// Sends one message and duplicates of `fds`, waiting while the socket is full.
    ///
    /// # Errors
    /// The other end is gone, or the message is empty or too large.
    pub async fn send(&self, data: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.socket.async_io(Interest::WRITABLE, || fdpass::send(self.socket.as_fd(), data, fds)).await
    }

    /// Sends one message now, or fails with [`io::ErrorKind::WouldBlock`] when the socket is full.
    ///
    /// # Errors
    /// As [`Channel::send`], and `WouldBlock`.
    pub fn try_send(&self, data: &[u8]) -> io::Result<()> {
        fdpass::send(self.socket.as_fd(), data, &[])
    }

    /// Receives one message now, or fails with [`io::ErrorKind::WouldBlock`] when there is none. Length 0 is the end.
    ///
    /// # Errors
    /// As [`Channel::recv`], and `WouldBlock`.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
        fdpass::recv(self.socket.as_fd(), buf)
    }

    /// Receives one message into `buf`: its length and descriptors; `None` when the other end is gone.
    ///
    /// Cancel safe: a message is either returned or still in the socket.
    ///
    /// # Errors
    /// A message longer than `buf` or with too many descriptors ([`io::ErrorKind::InvalidData`]; the channel
    /// lives on), or a broken socket.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
        match self.socket.async_io(Interest::READABLE, || fdpass::recv(self.socket.as_fd(), buf)).await {
            Ok((0, _)) => Ok(None),
            Ok(message) => Ok(Some(message)),
            // An end that closes with messages of ours unread resets the pair.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }
}
