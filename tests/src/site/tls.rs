//! A server that speaks TLS with a certificate that nobody vouches for. It counts who came past the handshake.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};

/// Whether the server asks for a certificate of the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// It does not.
    Nothing,
    /// It does, and goes on without one.
    Certificate,
    /// It goes on with one alone.
    CertificateOrNothing,
}

/// The server: one thread a connection, for as long as the test process lives.
#[derive(Debug)]
pub struct TlsSite {
    port: u16,
    requests: Arc<AtomicU32>,
}

impl TlsSite {
    /// A server for `localhost`, or with a certificate for another host.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn start(host: &str, asks: Asks) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![host.to_owned()]).expect("a certificate");
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let config = Arc::new(config(certificate, key, asks));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of loopback");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let requests = Arc::new(AtomicU32::new(0));
        let count = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, count) = (config.clone(), count.clone());
                // Clients that break the handshake off are what the tests are about.
                std::thread::spawn(move || drop(answer(stream, config, &count)));
            }
        });
        Self { port, requests }
    }

    /// The URL of a page at this host.
    pub fn url_at(&self, host: &str, page: &str) -> String {
        format!("https://{host}:{}/{page}", self.port)
    }

    /// How many requests came.
    pub fn requests(&self) -> u32 {
        self.requests.load(Ordering::SeqCst)
    }
}

fn config(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>, asks: Asks) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().expect("versions of TLS");
    let builder = if asks == Asks::Nothing {
        builder.with_no_client_auth()
    } else {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("a certificate to trust");
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        let verifier = if asks == Asks::Certificate { verifier.allow_unauthenticated() } else { verifier };
        builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
    };
    builder.with_single_cert(vec![certificate], key).expect("a certificate with its key")
}

fn answer(mut stream: TcpStream, config: Arc<ServerConfig>, count: &AtomicU32) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut tls = Stream::new(&mut connection, &mut stream);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if tls.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    count.fetch_add(1, Ordering::SeqCst);
    let body = "<!doctype html><title>Behind TLS</title><h1>Behind TLS</h1>";
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nAccess-Control-Allow-Origin: *";
    write!(tls, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    tls.conn.send_close_notify();
    tls.flush()
}
