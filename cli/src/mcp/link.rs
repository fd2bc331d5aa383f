//! The way to the daemon: one connection that is kept, and the session that this process works in (contract 1.1, 9.1).
//!
//! Connects on the first call, and again after the daemon has gone. The private session belongs to the connection: it
//! closes when this process ends, however it ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use glass_proto::authority;
use glass_proto::policy::decide::Policy;
use glass_proto::policy::layer::{Given, Layer};
use glass_proto::wire::client as pb;
use glass_proto::{ClientId, ErrorKind, OpError, Phase, SessionName};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::tools::Call;
use crate::client::{Client, Server};
use crate::commands;
use crate::error;
use crate::files::Carried;
use crate::follow::{Following, News, Seen};
use crate::policy;
use crate::trace;

/// Longest wait for what policy denies, before the tools are listed.
const ASKING: Duration = Duration::from_secs(3);
/// Longest wait for the private session's end when this process ends.
const CLOSING: Duration = Duration::from_secs(5);

/// The session of this process.
#[derive(Clone, Debug)]
pub enum Own {
    /// Nobody else's; closes with this process.
    Private(SessionName),
    /// One by name; stays.
    Named(SessionName),
}

/// Which other sessions a call may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// None.
    None,
    /// Every one of the user.
    Any,
    /// Those whose names begin so.
    Prefix(String),
}

/// What a call came to.
#[derive(Debug)]
pub struct Ran {
    /// The end of the operation, or what the way to the daemon came to.
    pub ended: Result<pb::Ended, OpError>,
    /// What it said on the way.
    pub seen: Seen,
    /// How long what took, in milliseconds.
    pub times: Value,
}

/// The link.
#[derive(Debug)]
pub struct Link {
    server: Server,
    own: Own,
    others: Others,
    files: Option<PathBuf>,
    policy: Given,
    /// Whether there was a connection before.
    connected: AtomicBool,
    up: Mutex<Option<Up>>,
}

#[derive(Debug)]
struct Up {
    client: Client,
    gone: Arc<AtomicBool>,
    attendance: tokio::task::JoinHandle<()>,
}

impl Drop for Up {
    fn drop(&mut self) {
        self.attendance.abort();
    }
}

impl Link {
    /// A link that is not connected yet. Without a name the session is a private one.
    pub fn new(server: Server, named: Option<SessionName>, others: Others) -> Self {
        let own = match named {
            Some(name) => Own::Named(name),
            None => {
                let id = ClientId::generate();
                let name = format!("mcp-{}", &id.as_str()[..12]);
                Own::Private(name.parse().expect("letters, digits and a dash are a session's name"))
            }
        };
        Self {
            server: server.staying("mcp"),
            own,
            others,
            files: None,
            policy: Given::default(),
            connected: AtomicBool::new(false),
            up: Mutex::new(None),
        }
    }

    /// With this file root instead of the directory that the process runs in.
    #[must_use]
    pub fn with_files_below(mut self, root: Option<PathBuf>) -> Self {
        self.files = root;
        self
    }

    /// Under this policy of the command line.
    #[must_use]
    pub fn under(mut self, policy: Given) -> Self {
        self.policy = policy;
        self
    }

    /// The operations that policy denies whatever their parameters are. Starts no daemon; where none can be asked, what
    /// the command line alone denies.
    pub async fn denied(&self) -> Vec<String> {
        let asked = tokio::time::timeout(ASKING, commands::policy(&self.server, &self.policy)).await;
        if let Ok(Ok(told)) = asked
            && !told.layers.is_empty()
        {
            return told.denied_operations;
        }
        let ceiling = Arc::new(Layer::silent_client());
        // What contradicts itself has not come so far: the program does not start with it.
        let Ok(own) = policy::compile(self.policy.clone()) else { return Vec::new() };
        let policy = Policy::new(ceiling, Arc::new(own));
        authority::denied(&policy).map(|facts| facts.name.to_owned()).collect()
    }

    /// The name of this process's session.
    pub fn session(&self) -> &SessionName {
        match &self.own {
            Own::Private(name) | Own::Named(name) => name,
        }
    }

    /// The session of a call.
    ///
    /// # Errors
    /// `denied` for a session that this process may not use.
    pub fn resolve(&self, named: Option<&SessionName>) -> Result<SessionName, OpError> {
        let Some(name) = named.filter(|name| *name != self.session()) else {
            return Ok(self.session().clone());
        };
        match &self.others {
            Others::Any => Ok(name.clone()),
            Others::Prefix(prefix) if name.as_str().starts_with(prefix.as_str()) => Ok(name.clone()),
            Others::Prefix(prefix) => format!("{prefix}{name}").parse().map_err(|_| {
                OpError::invalid(
                    "the name with this process's prefix is no session name",
                    "use a shorter name",
                )
            }),
            Others::None => {
                let message = "this process works in its own session alone";
                let remedy =
                    "leave `session` out; a person may start it with --sessions any, --prefix or --session";
                Err(OpError::rejected(ErrorKind::Denied, Phase::Policy, message, remedy)
                    .reason("sessions_not_allowed"))
            }
        }
    }

    /// The connection, made anew where there is none or the daemon has gone.
    ///
    /// # Errors
    /// `daemon_unreachable`, and what the daemon answers to a client that it does not take.
    pub async fn client(&self) -> Result<Client, OpError> {
        let mut up = self.up.lock().await;
        if let Some(up) = up.as_ref().filter(|up| !up.gone.load(Ordering::Relaxed)) {
            return Ok(up.client.clone());
        }
        *up = None;
        // What was agreed to beforehand was for one daemon: another does not know how much of it is used up.
        let again = self.connected.load(Ordering::Relaxed);
        let server =
            if again { self.server.clone().without_tokens(&self.policy) } else { self.server.clone() };
        let mut client = server.connect().await?;
        self.connected.store(true, Ordering::Relaxed);
        let private = match &self.own {
            Own::Private(name) => Some(name.to_string()),
            Own::Named(_) => None,
        };
        let mut attending = client.attend(private).await?;
        let gone = Arc::new(AtomicBool::new(false));
        let tell = gone.clone();
        let attendance = tokio::spawn(async move {
            while let Ok(Some(_)) = attending.message().await {}
            tell.store(true, Ordering::Relaxed);
        });
        *up = Some(Up { client: client.clone(), gone, attendance });
        Ok(client)
    }

    /// Runs a call to its end, or until `cancelled`.
    /// `news` hears how far it is.
    pub async fn run(&self, call: &Call, cancelled: &CancellationToken, news: &News) -> Ran {
        let begun = Instant::now();
        let mut seen = Seen::default();
        let mut connected = None;
        let ended = async {
            let session = self.resolve(call.session.as_ref())?;
            let unwritable = |_| OpError::invalid("the parameters cannot be written as JSON", "");
            let mut operation = call.operation.clone();
            let mut carried = Carried::of(&mut operation, self.files.as_deref())?;
            let options = call.options.encode().map_err(unwritable)?;
            let mut client = tokio::select! {
                client = self.client() => client?,
                () = cancelled.cancelled() => return Err(error::cancelled()),
            };
            connected = Some(begun.elapsed());
            tokio::select! {
                sent = carried.send(&mut client, session.as_str(), &mut operation) => sent?,
                () = cancelled.cancelled() => return Err(error::cancelled()),
            }
            let params = operation.encode().map_err(unwritable)?;
            let mut following = Following::new(client, &call.operation, &call.options);
            following.seen.incoming = carried.take_incoming();
            following.seen.progress = news.clone();
            let ended = following.run(session.into(), params, options, cancelled.cancelled()).await;
            seen = std::mem::take(&mut following.seen);
            let mut ended = ended?;
            if let Some(pb::ended::Answer::ResultJson(json)) = &mut ended.answer {
                *json = carried.keep(std::mem::take(json), &mut seen)?;
            }
            Ok(ended)
        }
        .await;
        let ended = ended.map_err(|mut error| {
            error.execution_id = error.execution_id.or(seen.execution.clone());
            error
        });
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let accepted = seen.accepted.map(|at| millis(at.saturating_duration_since(begun)));
        let times = trace::times(connected.map(millis), accepted, millis(begun.elapsed()));
        Ran { ended, seen, times }
    }

    /// Closes the private session, and waits until it is gone.
    pub async fn close(&self) {
        let up = self.up.lock().await.take();
        let (Own::Private(name), Some(mut up)) = (&self.own, up) else { return };
        if !up.gone.load(Ordering::Relaxed) {
            // That there is none, or that it takes too long, changes nothing: the daemon closes it when we are gone.
            let _ = tokio::time::timeout(CLOSING, up.client.close_session(name.to_string(), false)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Global;

    fn link(named: Option<&str>, others: Others) -> Link {
        let global = Global { socket: Some("/nowhere/glassd.sock".into()), ..Global::default() };
        Link::new(Server::find(&global).unwrap(), named.map(|name| name.parse().unwrap()), others)
    }

    // contract: 9.5, 13.2
    #[test]
    fn a_call_names_no_session_but_those_that_the_command_line_gave() {
        let name = |text: &str| text.parse::<SessionName>().unwrap();
        let own = link(None, Others::None);
        assert_eq!(own.resolve(None).unwrap(), *own.session());
        assert_eq!(own.resolve(Some(&own.session().clone())).unwrap(), *own.session());
        assert_eq!(own.resolve(Some(&name("other"))).unwrap_err().kind, ErrorKind::Denied);
        let any = link(Some("shared"), Others::Any);
        assert_eq!(any.resolve(None).unwrap().as_str(), "shared");
        assert_eq!(any.resolve(Some(&name("other"))).unwrap().as_str(), "other");
        let prefix = link(None, Others::Prefix("team-".into()));
        assert_eq!(prefix.resolve(Some(&name("team-a"))).unwrap().as_str(), "team-a");
        assert_eq!(prefix.resolve(Some(&name("a"))).unwrap().as_str(), "team-a");
    }

    #[test]
    fn private_sessions_have_names_of_their_own() {
        assert_ne!(link(None, Others::None).session(), link(None, Others::None).session());
    }
}
