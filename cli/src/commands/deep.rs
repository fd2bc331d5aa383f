//! `glassctl doctor --deep`: starts a session, and lets it try from inside what its cage keeps away (contract 12.5).
//!
//! What a session says of itself is not all that counts: the servers that it is to reach are ours, and they say who came.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use glass_proto::OpError;
use glass_proto::diagnosis::{Attempt, Finding, Lures};
use glass_proto::wire::client::execute_event::Kind;
use glass_proto::wire::client::{self as pb, ended::Answer};
use tokio::time::timeout;

use crate::client::{Client, Server};

/// How long the session may take to begin, and each of the questions after.
const BEGIN: Duration = Duration::from_secs(25);
const QUESTION: Duration = Duration::from_secs(8);

/// What says so, where something can be reached that the cage is to keep away.
const REMEDY: &str =
    "do not show pages here that you do not trust; the layers of this session and `cage` say what is missing";

/// What a session could reach. Starts glassd where none runs.
pub(super) async fn look(server: &Server) -> Vec<Finding> {
    let broken = |detail: String, remedy: &str| vec![Finding::broken("deep", detail, remedy)];
    let servers = match Servers::start() {
        Ok(servers) => servers,
        Err(error) => return broken(format!("nothing could be set up to be reached: {error}"), "try again"),
    };
    let mut client = match timeout(BEGIN, server.connect()).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return broken(error.message, &error.remedy),
        Err(_) => return broken("glassd does not start in time".to_owned(), "look at `glassctl logs`"),
    };
    let session = format!("doctor-{}", std::process::id());
    let found = match timeout(BEGIN, begin(&mut client, &session)).await {
        Ok(Ok(())) => observe(&mut client, &session, &servers).await,
        Ok(Err(error)) => broken(format!("no session could be started: {}", error.message), &error.remedy),
        Err(_) => {
            broken(format!("no session started within {} s", BEGIN.as_secs()), "look at `glassctl logs`")
        }
    };
    // One that did not begin is not there, and one that does not end is ended by the daemon.
    let _ = timeout(QUESTION, client.close_session(session, false)).await;
    found
}

async fn observe(client: &mut Client, session: &str, servers: &Servers) -> Vec<Finding> {
    let lures = servers.lures();
    let attempts = match timeout(QUESTION, client.reach(session.to_owned(), &lures)).await {
        Ok(Ok(attempts)) => attempts,
        Ok(Err(error)) => return vec![Finding::broken("deep", error.message, error.remedy)],
        Err(_) => {
            return vec![Finding::broken(
                "deep",
                "the session did not say in time what it reaches",
                "try again",
            )];
        }
    };
    let mut found: Vec<Finding> = attempts.iter().map(|attempt| judged(attempt, servers)).collect();
    if let Ok(Ok(shown)) = timeout(QUESTION, client.show_session(session.to_owned())).await {
        found.extend(shown.layers.iter().map(layer));
    }
    found
}

/// What came of an attempt. A datagram that was sent is none that came: the cage has a network of its own.
fn judged(attempt: &Attempt, servers: &Servers) -> Finding {
    let check = format!("deep.{}", attempt.name);
    let Attempt { tried, answer, .. } = attempt;
    let (reached, answer) = match attempt.name.as_str() {
        "tcp" => (servers.was_called(), answer.clone()),
        "udp" if servers.was_sent_to() => (true, "it came".to_owned()),
        "udp" if attempt.worked => (false, "sent, and nothing came".to_owned()),
        _ => (attempt.worked, answer.clone()),
    };
    match reached {
        false => Finding::good(check, format!("{tried}: {answer}")),
        true => Finding::degraded(check, format!("{tried}: {answer}"), REMEDY),
    }
}

fn layer(layer: &pb::Layer) -> Finding {
    let check = format!("deep.layer.{}", layer.name);
    let detail = format!("{}: {}", layer.state, layer.detail);
    match layer.state.as_str() {
        "active" => Finding::good(check, detail),
        _ => Finding::degraded(
            check,
            detail,
            "`cage` and `sandbox.*` say what this machine refuses, and what to do",
        ),
    }
}

/// Begins a session with an empty page.
async fn begin(client: &mut Client, session: &str) -> Result<(), OpError> {
    let broken = |_| crate::error::unreadable("answer");
    let executed = client.execute(session.to_owned(), "createTarget", b"{}".to_vec(), Vec::new()).await;
    let mut events = executed.map_err(broken)?;
    while let Some(event) = events.message().await.map_err(broken)? {
        if let Some(Kind::Ended(ended)) = event.kind {
            return match ended.answer {
                Some(Answer::ErrorJson(json)) => {
                    Err(serde_json::from_slice(&json).unwrap_or_else(|_| crate::error::unreadable("answer")))
                }
                _ => Ok(()),
            };
        }
    }
    Err(crate::error::unreadable("answer"))
}

/// What is there to be reached.
struct Servers {
    tcp: TcpListener,
    udp: UdpSocket,
    abstract_name: String,
    _abstract: Option<UnixListener>,
    socket: PathBuf,
    _socket: UnixListener,
    _directory: Removed,
}

/// A directory that is removed with everything in it.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // It is this process's own; what is left of it is empty and harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Listens at an abstract socket, where the system has those.
#[cfg(target_os = "linux")]
fn abstract_listener(name: &str) -> std::io::Result<Option<UnixListener>> {
    use std::os::linux::net::SocketAddrExt as _;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    UnixListener::bind_addr(&address).map(Some)
}

#[cfg(not(target_os = "linux"))]
fn abstract_listener(_name: &str) -> std::io::Result<Option<UnixListener>> {
    Ok(None)
}

impl Servers {
    fn start() -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        let directory = std::env::temp_dir().join(format!("glass-doctor-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        let removed = Removed(directory.clone());
        let socket = directory.join("s");
        let abstract_name = format!("glass-doctor-{}", std::process::id());
        Ok(Self {
            tcp,
            udp,
            _abstract: abstract_listener(&abstract_name)?,
            abstract_name,
            _socket: UnixListener::bind(&socket)?,
            socket,
            _directory: removed,
        })
    }

    fn lures(&self) -> Lures {
        let port =
            |address: std::io::Result<std::net::SocketAddr>| address.map_or(0, |address| address.port());
        Lures {
            home: std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from),
            socket: self.socket.clone(),
            abstract_socket: self.abstract_name.clone(),
            tcp: port(self.tcp.local_addr()),
            udp: port(self.udp.local_addr()),
            pid: i32::try_from(std::process::id()).unwrap_or(1),
        }
    }

    fn was_called(&self) -> bool {
        self.tcp.accept().is_ok()
    }

    fn was_sent_to(&self) -> bool {
        self.udp.recv(&mut [0; 1]).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::diagnosis::Verdict;

    use super::*;

    // contract: 12.5
    #[test]
    fn what_came_counts_and_not_what_was_sent() {
        let servers = Servers::start().unwrap();
        let attempt = |name: &str, worked| Attempt {
            name: name.to_owned(),
            tried: "t".to_owned(),
            answer: "a".to_owned(),
            worked,
        };
        assert_eq!(judged(&attempt("udp", true), &servers).verdict, Verdict::Good, "nothing came");
        assert_eq!(judged(&attempt("home", true), &servers).verdict, Verdict::Degraded);
        assert_eq!(judged(&attempt("home", false), &servers).verdict, Verdict::Good);
        let lures = servers.lures();
        let _came = std::net::TcpStream::connect(("127.0.0.1", lures.tcp)).unwrap();
        assert_eq!(judged(&attempt("tcp", false), &servers).verdict, Verdict::Degraded, "whatever it says");
    }
}
