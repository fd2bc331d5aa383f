//! One connection to glassd's socket, and whether somebody alive is behind it.
//!
//! A socket takes connections that nobody will ever read: of a daemon that was killed a moment ago, or is stopped, or
//! has not come up. A request sent there would have an unknown outcome. So a connection counts only once the
//! daemon has said its first word, which HTTP/2 has it say before it reads any request; until then nothing but the
//! protocol's own greeting was sent, and trying again is safe.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use glass_proto::transport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tonic::transport::Channel;

/// What is behind a socket.
#[derive(Debug)]
pub enum Behind {
    /// A daemon that speaks.
    Daemon(Channel),
    /// Nobody listens: no socket, or a dead one.
    Nobody,
    /// The connection was ended without a word: a daemon that is ending, or one that serves somebody else.
    Closed,
    /// Nothing was said in time.
    Silent,
}

/// Connects, and waits for the first word at most for `limit`.
///
/// # Errors
/// When the socket cannot be reached for another reason than that nobody listens.
pub async fn connect(socket: &Path, limit: Duration) -> io::Result<Behind> {
    let stream = match UnixStream::connect(socket).await {
        Ok(stream) => stream,
        Err(error) if is_absent(&error) => return Ok(Behind::Nobody),
        Err(error) => return Err(error),
    };
    let (tell, told) = oneshot::channel();
    let Ok(channel) = transport::over(Listening { stream, tell: Some(tell) }).await else {
        return Ok(Behind::Closed);
    };
    Ok(match tokio::time::timeout(limit, told).await {
        Ok(Ok(true)) => Behind::Daemon(channel),
        Ok(Ok(false) | Err(_)) => Behind::Closed,
        Err(_) => Behind::Silent,
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// A stream that tells once whether it has brought a word or its end.
struct Listening {
    stream: UnixStream,
    tell: Option<oneshot::Sender<bool>>,
}

impl AsyncRead for Listening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if read.is_ready()
            && let Some(tell) = self.tell.take()
        {
            // Nobody waits any more where the limit has passed.
            let _ = tell.send(buf.filled().len() > before);
        }
        read
    }
}

impl AsyncWrite for Listening {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn only_a_daemon_that_speaks_counts() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("s");
        assert!(matches!(connect(&socket, SHORT).await.unwrap(), Behind::Nobody));
        let listener = tokio::net::UnixListener::bind(&socket).unwrap();
        // In the backlog, as with a daemon that is stopped.
        assert!(matches!(connect(&socket, SHORT).await.unwrap(), Behind::Silent));
        drop(listener.accept().await.unwrap());
        let (behind, ()) = tokio::join!(connect(&socket, SHORT * 100), async {
            drop(listener.accept().await.unwrap());
        });
        assert!(matches!(behind.unwrap(), Behind::Closed));
        drop(listener);
        assert!(matches!(connect(&socket, SHORT).await.unwrap(), Behind::Nobody));
    }
}
