//! The control socket: which sessions there are.
//!
//! Owns the map of sessions and carries out glassd's commands. Does not decide on connections (`dial` asks the
//! rules) and outlives glassd by nothing: the end of the control socket is the end.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use glass_policy::egress::Rules;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::channel::Channel;
use super::meter::Meter;
use super::session::{self, Events, Session};
use super::upstream::Upstream;
use super::wire::{Command, Event, MAX_ID_BYTES, MAX_MESSAGE_BYTES};

/// Events that wait for glassd to read them; further ones are dropped and counted.
const EVENT_QUEUE: usize = 1024;

/// Sessions whose counters fit one message with room to spare.
const COUNTERS_A_MESSAGE: usize = 128;

/// The longest explanation of a refused command, in characters.
const MAX_DETAIL_CHARS: usize = 300;

/// Serves sessions as commanded over `control`, a SEQPACKET socket, until its other end is gone. Every session's
/// connections end when this returns or is dropped.
///
/// # Errors
/// The control socket cannot be used or broke.
pub async fn serve(control: OwnedFd) -> io::Result<()> {
    let control = Channel::new(control)?;
    let (queue, waiting) = mpsc::channel(EVENT_QUEUE);
    let events = Events::new(queue);
    // The first to end decides: without commands or without a listener there is nothing to serve for.
    tokio::select! {
        ended = obey(&control, events) => ended,
        ended = tell(&control, waiting) => ended,
    }
}

async fn obey(control: &Channel, events: Events) -> io::Result<()> {
    let mut sessions = Sessions { served: HashMap::new(), events };
    let mut buffer = vec![0; MAX_MESSAGE_BYTES];
    loop {
        match control.recv(&mut buffer).await {
            Ok(Some((length, descriptors))) => sessions.carry_out(&buffer[..length], descriptors),
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => sessions.refuse(&error.to_string()),
            Err(error) => return Err(error),
        }
    }
}

async fn tell(control: &Channel, mut waiting: mpsc::Receiver<Event>) -> io::Result<()> {
    while let Some(event) = waiting.recv().await {
        match control.send(&serde_json::to_vec(&event)?, &[]).await {
            Ok(()) => {}
            // The reading side sees the same end and returns without an error.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) =>
            {
                std::future::pending().await
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

struct Sessions {
    served: HashMap<String, Served>,
    events: Events,
}

/// A session whose task ends with this entry.
struct Served {
    meter: Arc<Meter>,
    rules: watch::Sender<Arc<Rules>>,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sessions {
    fn carry_out(&mut self, message: &[u8], mut descriptors: Vec<OwnedFd>) {
        match (serde_json::from_slice(message), descriptors.pop()) {
            (Ok(Command::Session { id, rules, upstream }), Some(endpoint)) if descriptors.is_empty() => {
                self.serve(id, rules, upstream, endpoint);
            }
            (Ok(Command::Session { .. }), _) => self.refuse("a session needs one descriptor, its endpoint"),
            (Ok(Command::Rules { id, rules }), None) => match self.served.get(&id) {
                Some(served) => {
                    served.rules.send_if_modified(|old| {
                        let other = **old != rules;
                        *old = Arc::new(rules);
                        other
                    });
                }
                // It closed in the meantime.
                None => tracing::debug!(session = id, "rules came for a session that is not served"),
            },
            (Ok(Command::Close { id }), None) => {
                self.served.remove(&id);
            }
            (Ok(Command::Counters {}), None) => self.count(),
            (Ok(_), Some(_)) => self.refuse("only a session comes with a descriptor"),
            (Err(error), _) => self.refuse(&format!("not a command: {error}")),
        }
    }

    fn serve(&mut self, id: String, rules: Rules, upstream: Option<Upstream>, endpoint: OwnedFd) {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return self.refuse("a session's id has 1 to 128 bytes");
        }
        let before = self.served.remove(&id);
        let meter = before.map(|served| Arc::clone(&served.meter)).unwrap_or_default();
        let (rules, current) = watch::channel(Arc::new(rules));
        let events = self.events.clone();
        match Session::new(id.clone(), current, upstream, endpoint, Arc::clone(&meter), events) {
            Ok(session) => {
                let task = tokio::spawn(session::run(Arc::new(session)));
                self.served.insert(id, Served { meter, rules, task });
            }
            Err(error) => self.refuse(&format!("session {id}: its endpoint is not usable: {error}")),
        }
    }

    fn count(&self) {
        let counters: Vec<_> = self.served.iter().map(|(id, served)| served.meter.read(id)).collect();
        let messages = counters.len().div_ceil(COUNTERS_A_MESSAGE).max(1);
        let dropped_events = self.events.dropped();
        for message in 0..messages {
            let sessions = counters
                .iter()
                .skip(message * COUNTERS_A_MESSAGE)
                .take(COUNTERS_A_MESSAGE)
                .cloned()
                .collect();
            self.events.send(Event::Counters { sessions, more: message + 1 < messages, dropped_events });
        }
    }

    fn refuse(&self, detail: &str) {
        tracing::warn!(detail, "a command was not carried out");
        // A parser's message may quote as much as the command held, and must fit a message itself.
        let detail = detail.chars().take(MAX_DETAIL_CHARS).collect();
        self.events.send(Event::Invalid { detail });
    }
}
