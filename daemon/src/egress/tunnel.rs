//! Bytes between the browser and a server, unread.
//!
//! Owns the copying of a `CONNECT` tunnel or an upgraded connection, with half-closes and resets passed on. Does
//! not open it (`proxy`, `relay`), and looks at nothing that passes but the first byte, where rules tell TLS from the rest.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use glass_policy::host::Transport;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::sleep;

use super::failure::Failure;
use super::meter::Meter;

const BUFFER_BYTES: usize = 16 * 1024;

/// How long the open half of a half-closed tunnel may be idle. A browser that closed wholly looks the same as one
/// that only finished sending, until something is written to it; a server that never writes would hold the
/// connection for ever.
const HALF_CLOSED_IDLE: Duration = Duration::from_secs(300);

/// A tunnel that begins once the browser's connection was handed over by HTTP.
pub(super) struct Tunnel {
    /// The browser's side.
    pub(super) client: OnUpgrade,
    /// The server's side.
    pub(super) server: TcpStream,
    /// What the server sent already.
    pub(super) early: Bytes,
    /// What alone may go through it, where the rules make a difference, and why the other may not.
    pub(super) only: Option<(Transport, Failure)>,
}

/// What went in was not what may go through: the denial.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) Failure);

/// The first byte of TLS: a record that holds a handshake.
const HANDSHAKE: u8 = 0x16;

impl Tunnel {
    /// Copies until both sides ended or one broke.
    ///
    /// # Errors
    /// The browser began with something that may not go through; nothing of it was sent.
    pub(super) async fn run(self, meter: &Meter) -> Result<(), Wrong> {
        let Ok(upgraded) = self.client.await else { return Ok(()) };
        let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else { return Ok(()) };
        let mut client = parts.io.into_inner();
        let mut server = self.server;
        if let Some((only, denied)) = self.only {
            let mut first = [0];
            let begun = match parts.read_buf.first() {
                Some(byte) => Some(*byte),
                // A connection that broke or ended sends nothing more, so there is nothing to judge.
                None => client.peek(&mut first).await.ok().filter(|read| *read > 0).map(|_| first[0]),
            };
            let is = if begun == Some(HANDSHAKE) { Transport::Tls } else { Transport::Plain };
            if begun.is_some() && is != only {
                reset(&client);
                return Err(Wrong(denied));
            }
        }
        if copy(&mut client, &mut server, &parts.read_buf, &self.early, meter).await.is_err() {
            // What broke on one side must not look like a clean end on the other.
            reset(&client);
            reset(&server);
        }
        Ok(())
    }
}

async fn copy(
    client: &mut TcpStream,
    server: &mut TcpStream,
    client_early: &[u8],
    server_early: &[u8],
    meter: &Meter,
) -> io::Result<()> {
    server.write_all(client_early).await?;
    Meter::add(&meter.bytes_up, client_early.len());
    client.write_all(server_early).await?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let moved = AtomicU64::new(0);
    let mut up = pin!(pump(from_client, to_server, &meter.bytes_up, &moved));
    let mut down = pin!(pump(from_server, to_client, &meter.bytes_down, &moved));
    let last = tokio::select! {
        ended = &mut up => { ended?; down }
        ended = &mut down => { ended?; up }
    };
    finish(last, &moved).await
}

/// Copies one direction; its end is passed on as a half-close.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    counter: &AtomicU64,
    moved: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
        Meter::add(counter, read);
        Meter::add(moved, read);
    }
}

/// Lets the remaining direction end by itself, or by having been idle too long.
async fn finish(mut last: impl Future<Output = io::Result<()>> + Unpin, moved: &AtomicU64) -> io::Result<()> {
    loop {
        let before = moved.load(Relaxed);
        tokio::select! {
            ended = &mut last => return ended,
            () = sleep(HALF_CLOSED_IDLE) => {
                if moved.load(Relaxed) == before {
                    return Ok(());
                }
            }
        }
    }
}

/// Makes the coming close of a socket a reset. A socket that refuses is closed in the ordinary way.
fn reset(socket: &TcpStream) {
    if let Err(error) = socket.set_zero_linger() {
        tracing::debug!(%error, "a broken tunnel ends with a clean close");
    }
}
