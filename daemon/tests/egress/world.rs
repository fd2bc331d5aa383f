//! The parts round the proxy: a glassd that commands it, a forwarder, browsers and servers made of plain sockets.
//!
//! Every wait here has a limit, so a test that would hang fails and says what it waited for.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use glass_daemon::egress::{Channel, Command, Event, MAX_MESSAGE_BYTES, SessionCounters, Upstream, serve};
use glass_policy::egress::Rules;
use glass_sandbox::fdpass;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const LIMIT: Duration = Duration::from_secs(10);

pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

/// A running proxy with one session, `s1`.
pub(crate) struct World {
    pub(crate) control: Channel,
    pub(crate) service: JoinHandle<io::Result<()>>,
    endpoint: Channel,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Rules::allow_all()).await
    }

    pub(crate) async fn with(rules: Rules) -> Self {
        Self::behind(rules, None).await
    }

    /// With another proxy behind it.
    pub(crate) async fn behind(rules: Rules, upstream: Option<Upstream>) -> Self {
        let (ours, theirs) = fdpass::pair().unwrap();
        let service = tokio::spawn(serve(theirs));
        let control = Channel::new(ours).unwrap();
        let endpoint = open_session(&control, "s1", rules, upstream).await;
        Self { control, service, endpoint }
    }

    /// Gives `s1` a new endpoint, as after a restart of its worker's channel.
    pub(crate) async fn reopen(&mut self, rules: Rules) {
        self.endpoint = open_session(&self.control, "s1", rules, None).await;
    }

    pub(crate) async fn command(&self, command: &Command) {
        self.control.send(&serde_json::to_vec(command).unwrap(), &[]).await.unwrap();
    }

    /// A connection of the caged browser, in the proxy's hands.
    pub(crate) async fn browser(&self) -> Wire {
        let (browser, passed) = connected().await;
        self.endpoint.send(b"c", &[passed.as_fd()]).await.unwrap();
        Wire::new(browser)
    }

    /// Passes a descriptor that is no connection.
    pub(crate) async fn pass_file(&self) {
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        self.endpoint.send(b"c", &[file.as_fd()]).await.unwrap();
    }

    pub(crate) async fn event(&self) -> Event {
        let mut message = vec![0; MAX_MESSAGE_BYTES];
        let received = within("an event", self.control.recv(&mut message)).await.unwrap();
        serde_json::from_slice(&message[..received.unwrap().0]).unwrap()
    }

    /// The next message to the worker; it must lie in the socket already.
    pub(crate) fn note(&self) -> serde_json::Value {
        let mut message = [0; 4096];
        let (length, _) = self.endpoint.try_recv(&mut message).unwrap();
        serde_json::from_slice(&message[..length]).unwrap()
    }

    pub(crate) async fn counters(&self) -> SessionCounters {
        self.command(&Command::Counters {}).await;
        loop {
            if let Event::Counters { mut sessions, more, .. } = self.event().await {
                assert!(!more && sessions.len() <= 1, "{sessions:?}");
                return sessions.pop().unwrap_or_default();
            }
        }
    }

    /// Asks for the counters until they are as wanted.
    pub(crate) async fn counters_until(
        &self,
        what: &str,
        wanted: impl Fn(&SessionCounters) -> bool,
    ) -> SessionCounters {
        within(what, async {
            loop {
                let counters = self.counters().await;
                if wanted(&counters) {
                    return counters;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

async fn open_session(control: &Channel, id: &str, rules: Rules, upstream: Option<Upstream>) -> Channel {
    let (workers, proxys) = fdpass::pair().unwrap();
    let command = serde_json::to_vec(&Command::Session { id: id.into(), rules, upstream }).unwrap();
    control.send(&command, &[proxys.as_fd()]).await.unwrap();
    Channel::new(workers).unwrap()
}

async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
    (ours.unwrap(), theirs.unwrap().0)
}

/// One end of a TCP connection that speaks HTTP by hand.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new() }
    }

    pub(crate) async fn send(&mut self, text: impl AsRef<[u8]>) {
        within("a write", self.stream.write_all(text.as_ref())).await.unwrap();
    }

    pub(crate) async fn finish_sending(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// The next head, up to and with its empty line.
    pub(crate) async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                let head: Vec<u8> = self.unread.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            assert!(self.more().await.unwrap() > 0, "the connection ended in a head: {:?}", self.unread);
        }
    }

    pub(crate) async fn bytes(&mut self, count: usize) -> String {
        while self.unread.len() < count {
            assert!(self.more().await.unwrap() > 0, "the connection ended after {:?}", self.unread);
        }
        String::from_utf8(self.unread.drain(..count).collect()).unwrap()
    }

    /// Everything up to a clean end.
    pub(crate) async fn rest(&mut self) -> String {
        while self.more().await.unwrap() > 0 {}
        String::from_utf8(std::mem::take(&mut self.unread)).unwrap()
    }

    /// Waits for the connection to end, cleanly or not.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        while self.more().await? > 0 {}
        Ok(())
    }

    async fn more(&mut self) -> io::Result<usize> {
        within("a read", self.stream.read_buf(&mut self.unread)).await
    }

    /// Sends a request for `http://127.0.0.1:PORT` and reads the head of the answer.
    pub(crate) async fn get(&mut self, server: &Server, path: &str) -> String {
        let address = server.address;
        self.send(format!("GET http://{address}{path} HTTP/1.1\r\nHost: {address}\r\n\r\n")).await;
        self.head().await
    }
}

/// A server whose connections the test takes and answers itself.
pub(crate) struct Server {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    pub(crate) async fn accept(&self) -> Wire {
        Wire::new(within("a connection to the server", self.listener.accept()).await.unwrap().0)
    }

    /// Whether nobody has connected so far.
    pub(crate) async fn is_untouched(&self) -> bool {
        // The listener's queue is filled by the kernel before connect returns, so one turn sees all that happened.
        tokio::time::timeout(Duration::ZERO, self.listener.accept()).await.is_err()
    }

    /// Answers the next connection's one request with `text`, then closes.
    pub(crate) async fn answer_once(&self, text: impl AsRef<[u8]>) -> String {
        let mut wire = self.accept().await;
        let head = wire.head().await;
        wire.send(text).await;
        head
    }
}

/// A port that nobody listens on.
pub(crate) async fn closed_port() -> SocketAddr {
    Server::start().await.address
}
