//! gRPC over local sockets: the daemon's listening socket and channels over passed descriptors.
//!
//! Owns nothing but the adapters; who may connect is the daemon's matter.

use std::io;
use std::path::Path;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

/// A channel over the socket at `path`.
///
/// # Errors
/// The connection's own error: not found, refused, path too long.
pub async fn connect(path: &Path) -> io::Result<Channel> {
    over(UnixStream::connect(path).await?).await
}

/// A channel over one connected stream. It does not reconnect: when the stream ends, so does the channel.
///
/// # Errors
/// When the other side does not speak HTTP/2.
pub async fn over<S>(stream: S) -> io::Result<Channel>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut stream = Some(stream);
    let connector = tower::service_fn(move |_: Uri| {
        let stream = stream.take();
        async move {
            stream
                .map(TokioIo::new)
                .ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "the connection is gone"))
        }
    });
    // The address is never looked at.
    let endpoint = Endpoint::from_static("http://glass.invalid")
        .initial_stream_window_size(1024 * 1024)
        .initial_connection_window_size(4 * 1024 * 1024);
    endpoint.connect_with_connector(connector).await.map_err(io::Error::other)
}
