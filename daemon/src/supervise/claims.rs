//! Which page of somebody else's browser is which session's (contract 1.2).
//!
//! Sessions that are attached to one browser know nothing of each other; what one claims the others are told not to see.
//! Pages are told apart by their ids alone, which browsers make up at random: two ways to one endpoint need not be known as
//! one. The browser's own word, that somebody is attached to a page, would not do, since its user may be.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glass_proto::start::{FromWorker, ToWorker};

use crate::egress::Channel;

/// Most pages of one session. A worker that asks for more is not well.
const MOST: usize = 256;
/// Longest id, in bytes (contract 7.1).
const LONGEST: usize = 128;

/// The claims of all sessions.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<HashMap<String, Holder>>>);

#[derive(Debug)]
struct Holder {
    control: Arc<Channel>,
    pages: HashSet<String>,
}

/// An attached session's right to claim, which ends with it and frees its pages.
#[derive(Debug)]
pub struct Claimant {
    all: Claims,
    id: String,
}

impl Claims {
    /// The session `id` may claim from now on; its worker is reached by `control`.
    pub fn enter(&self, id: &str, control: Arc<Channel>) -> Claimant {
        let holder = Holder { control, pages: HashSet::new() };
        self.map().insert(id.to_owned(), holder);
        Claimant { all: self.clone(), id: id.to_owned() }
    }

    fn map(&self) -> MutexGuard<'_, HashMap<String, Holder>> {
        // Nothing panics while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claimant {
    /// Takes what the session's worker says; anything but a claim or its end is of no interest here.
    pub fn hear(&self, said: FromWorker) {
        match said {
            FromWorker::Claim { target } if (1..=LONGEST).contains(&target.len()) => self.claim(target),
            FromWorker::Release { target } => self.release(&[target]),
            FromWorker::Claim { .. } | FromWorker::Ready { .. } | FromWorker::Failed { .. } => {}
        }
    }

    /// Tells the session's worker what others hold.
    pub fn begin(&self) {
        let map = self.all.map();
        let Some(own) = map.get(&self.id) else { return };
        let others = map.iter().filter(|(id, _)| **id != self.id);
        for target in others.flat_map(|(_, holder)| &holder.pages) {
            tell(&own.control, &ToWorker::Held { target: target.clone() });
        }
    }

    fn claim(&self, target: String) {
        let mut map = self.all.map();
        let elsewhere = map.iter().any(|(id, holder)| *id != self.id && holder.pages.contains(&target));
        let Some(own) = map.get_mut(&self.id) else { return };
        if elsewhere || own.pages.len() >= MOST {
            tell(&own.control, &ToWorker::Held { target });
            return;
        }
        own.pages.insert(target.clone());
        tell(&own.control, &ToWorker::Granted { target: target.clone() });
        for (_, other) in map.iter().filter(|(id, _)| **id != self.id) {
            tell(&other.control, &ToWorker::Held { target: target.clone() });
        }
    }

    fn release(&self, targets: &[String]) {
        let mut map = self.all.map();
        let Some(own) = map.get_mut(&self.id) else { return };
        let freed: Vec<_> = targets.iter().filter_map(|target| own.pages.take(target)).collect();
        for (_, other) in map.iter().filter(|(id, _)| **id != self.id) {
            for target in &freed {
                tell(&other.control, &ToWorker::Free { target: target.clone() });
            }
        }
    }
}

impl Drop for Claimant {
    fn drop(&mut self) {
        let pages = self.all.map().get(&self.id).map(|own| own.pages.iter().cloned().collect::<Vec<_>>());
        self.release(&pages.unwrap_or_default());
        self.all.map().remove(&self.id);
    }
}

/// A worker that does not read has more to worry about than whose a page is: asked for one that it does not know to be
/// another's, the daemon still says no.
fn tell(control: &Channel, word: &ToWorker) {
    let sent = serde_json::to_vec(word).map_err(io::Error::other).and_then(|text| control.try_send(&text));
    if let Err(error) = sent {
        tracing::debug!(%error, "a worker was not told whose a page is");
    }
}

#[cfg(test)]
mod tests {
    use glass_sandbox::fdpass;

    use super::*;

    fn session(claims: &Claims, id: &str) -> (Claimant, Channel) {
        let (ours, theirs) = fdpass::nonblocking_pair().unwrap();
        (claims.enter(id, Arc::new(Channel::new(ours).unwrap())), Channel::new(theirs).unwrap())
    }

    fn heard(worker: &Channel) -> Vec<ToWorker> {
        let mut buffer = [0; 1024];
        let mut all = Vec::new();
        while let Ok((length, _)) = worker.try_recv(&mut buffer)
            && length > 0
        {
            all.push(serde_json::from_slice(&buffer[..length]).unwrap());
        }
        all
    }

    // contract: 1.2 report: 74
    #[tokio::test]
    async fn a_page_is_one_sessions_until_it_lets_go_or_ends() {
        let claims = Claims::default();
        let ((one, first), (two, second)) = (session(&claims, "1"), session(&claims, "2"));
        let page = || "A".to_owned();
        one.hear(FromWorker::Claim { target: page() });
        assert_eq!(heard(&first), [ToWorker::Granted { target: page() }]);
        assert_eq!(heard(&second), [ToWorker::Held { target: page() }]);
        two.hear(FromWorker::Claim { target: page() });
        assert_eq!(heard(&second), [ToWorker::Held { target: page() }]);
        one.hear(FromWorker::Release { target: page() });
        assert_eq!(heard(&second), [ToWorker::Free { target: page() }]);
        two.hear(FromWorker::Claim { target: page() });
        assert_eq!(heard(&second), [ToWorker::Granted { target: page() }]);
        assert_eq!(heard(&first), [ToWorker::Held { target: page() }]);
        let (three, third) = session(&claims, "3");
        three.begin();
        assert_eq!(heard(&third), [ToWorker::Held { target: page() }]);
        drop(two);
        assert_eq!(heard(&first), [ToWorker::Free { target: page() }]);
        one.hear(FromWorker::Claim { target: "x".repeat(LONGEST + 1) });
        assert_eq!(heard(&first), []);
    }
}
