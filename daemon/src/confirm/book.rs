//! What waits for a person, and what a person has agreed to (contract 10.4).
//!
//! Owns every rule of a confirmation's life: one for one call, by its operation and arguments, its session and its client;
//! a bounded number of them; a minute each. Pure: whoever asks brings the time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use glass_proto::ConfirmationId;
use glass_proto::confirmation::Protection;

use super::terminal::Asker;

/// How long a confirmation waits for a person, and how long what was granted waits for its call.
pub(crate) const LIFE: Duration = Duration::from_secs(60);
/// Those of one client.
pub(crate) const PER_CLIENT: usize = 8;
/// Those of all clients.
pub(crate) const IN_ALL: usize = 64;
/// Wrong secrets for one confirmation.
pub(crate) const TRIES: u8 = 3;

/// Which call it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Whose: a client that stays, or the shells of a session.
    pub client: String,
    /// The session's name.
    pub session: String,
    /// The operation's name, and the hash of everything else about the call.
    pub call: (&'static str, [u8; 32]),
}

/// What a person is told of a call.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// As `glassctl confirm` shows it, without its arguments.
    pub shown: glass_proto::confirmation::Pending,
    /// Its arguments as JSON, bounded.
    pub arguments: String,
    /// Who asked.
    pub asker: Asker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting { wrong: u8 },
    Granted(Protection),
    Denied(No),
}

/// Why it will not be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum No {
    /// A person, or the approver, said so.
    Said,
    /// The secret was wrong too often.
    Locked,
}

#[derive(Clone, Debug)]
struct Entry {
    key: Key,
    about: About,
    state: State,
    until: Instant,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Book {
    entries: HashMap<ConfirmationId, Entry>,
}

/// What is there for a call.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// A person agreed: it is used up by this.
    Granted(Grant),
    /// It waits; `new` when it does so only now.
    Waiting { id: ConfirmationId, left: Duration, new: bool },
    /// Somebody said no.
    Denied { id: ConfirmationId, why: No },
    /// Too many wait: of this client, or in all.
    Full { limit: usize },
}

/// What was granted, taken out of the book; it goes back when its call did nothing.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    /// Its id.
    pub id: ConfirmationId,
    /// What the person who agreed had to pass.
    pub by: Protection,
    entry: Box<Entry>,
}

/// How a confirmation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Nobody has decided.
    Waiting,
    /// It was granted and not used.
    Granted,
    /// Somebody said no.
    Denied,
}

/// How an attempt to decide ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// There are tries left.
    Left(u8),
    /// There are none.
    Locked,
    /// It waits no more.
    Gone,
}

impl Book {
    /// Looks for the confirmation of a call, and enters one where there is none.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        key: Key,
        id: ConfirmationId,
        about: impl FnOnce() -> About,
    ) -> Found {
        let live = |entry: &Entry| entry.until > now;
        let found = self.entries.iter().find(|(_, entry)| entry.key == key && live(entry));
        if let Some((id, entry)) = found {
            let (id, state, left) = (id.clone(), entry.state, entry.until - now);
            return match state {
                State::Waiting { .. } => Found::Waiting { id, left, new: false },
                State::Denied(why) => Found::Denied { id, why },
                State::Granted(by) => match self.entries.remove(&id) {
                    Some(entry) => Found::Granted(Grant { id, by, entry: entry.into() }),
                    None => Found::Full { limit: 0 },
                },
            };
        }
        let own = self.entries.values().filter(|entry| entry.key.client == key.client && live(entry)).count();
        let all = self.entries.values().filter(|entry| live(entry)).count();
        if own >= PER_CLIENT || all >= IN_ALL {
            return Found::Full { limit: if own >= PER_CLIENT { PER_CLIENT } else { IN_ALL } };
        }
        let entry = Entry { key, about: about(), state: State::Waiting { wrong: 0 }, until: now + LIFE };
        self.entries.insert(id.clone(), entry);
        Found::Waiting { id, left: LIFE, new: true }
    }

    /// Puts back what was granted for a call that did nothing, for as long as it would have lasted.
    pub(crate) fn give_back(&mut self, now: Instant, grant: Grant) {
        let taken = self.entries.values().any(|entry| entry.key == grant.entry.key && entry.until > now);
        if grant.entry.until > now && !taken {
            self.entries.insert(grant.id, *grant.entry);
        }
    }

    /// What waits, or was granted and not used, with the time that is left.
    pub(crate) fn open(&self, now: Instant) -> Vec<(ConfirmationId, About, bool, Duration)> {
        let open = |(id, entry): (&ConfirmationId, &Entry)| {
            let granted = match entry.state {
                State::Waiting { .. } => false,
                State::Granted(_) => true,
                State::Denied(_) => return None,
            };
            let left = entry.until.checked_duration_since(now).filter(|left| !left.is_zero())?;
            Some((id.clone(), entry.about.clone(), granted, left))
        };
        self.entries.iter().filter_map(open).collect()
    }

    /// How one stands, and for how long.
    pub(crate) fn stands(&self, now: Instant, id: &ConfirmationId) -> Option<(About, Stands, Duration)> {
        let entry = self.entries.get(id)?;
        let left = entry.until.checked_duration_since(now).filter(|left| !left.is_zero())?;
        let stands = match entry.state {
            State::Waiting { .. } => Stands::Waiting,
            State::Granted(_) => Stands::Granted,
            State::Denied(_) => Stands::Denied,
        };
        Some((entry.about.clone(), stands, left))
    }

    /// What is told of one that waits.
    pub(crate) fn waiting(&self, now: Instant, id: &ConfirmationId) -> Option<(&About, Duration)> {
        let entry = self.entries.get(id)?;
        let left = entry.until.checked_duration_since(now).filter(|left| !left.is_zero())?;
        matches!(entry.state, State::Waiting { .. }).then_some((&entry.about, left))
    }

    /// A person agreed. False when it waits no more.
    pub(crate) fn grant(&mut self, now: Instant, id: &ConfirmationId, by: Protection) -> bool {
        let Some(entry) = self.live(now, id) else { return false };
        if !matches!(entry.state, State::Waiting { .. }) {
            return false;
        }
        (entry.state, entry.until) = (State::Granted(by), now + LIFE);
        true
    }

    /// Somebody said no, which also takes back what was granted and not used. False when there is nothing.
    pub(crate) fn deny(&mut self, now: Instant, id: &ConfirmationId) -> bool {
        let Some(entry) = self.live(now, id) else { return false };
        if matches!(entry.state, State::Denied(_)) {
            return false;
        }
        entry.state = State::Denied(No::Said);
        true
    }

    /// A secret was wrong.
    pub(crate) fn wrong(&mut self, now: Instant, id: &ConfirmationId) -> Wrong {
        let Some(entry) = self.live(now, id) else { return Wrong::Gone };
        let State::Waiting { wrong } = &mut entry.state else { return Wrong::Gone };
        *wrong += 1;
        match TRIES.saturating_sub(*wrong) {
            0 => {
                entry.state = State::Denied(No::Locked);
                Wrong::Locked
            }
            left => Wrong::Left(left),
        }
    }

    /// Forgets what is over, and tells what nobody decided or used.
    pub(crate) fn prune(&mut self, now: Instant) -> Vec<(ConfirmationId, About)> {
        let mut over = Vec::new();
        self.entries.retain(|id, entry| {
            let keeps = entry.until > now;
            if !keeps && !matches!(entry.state, State::Denied(_)) {
                over.push((id.clone(), entry.about.clone()));
            }
            keeps
        });
        over
    }

    fn live(&mut self, now: Instant, id: &ConfirmationId) -> Option<&mut Entry> {
        self.entries.get_mut(id).filter(|entry| entry.until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(client: &str, call: u8) -> Key {
        Key { client: client.to_owned(), session: "s".to_owned(), call: ("evaluate", [call; 32]) }
    }

    fn about() -> About {
        About { shown: Default::default(), arguments: String::new(), asker: Asker::default() }
    }

    fn ask(book: &mut Book, now: Instant, key: Key) -> Found {
        book.ask(now, key, ConfirmationId::generate(), about)
    }

    fn waiting(found: Found) -> (ConfirmationId, bool) {
        match found {
            Found::Waiting { id, new, .. } => (id, new),
            other => panic!("{other:?}"),
        }
    }

    // contract: 10.4
    #[test]
    fn a_grant_is_for_one_call_with_the_same_arguments_within_a_minute() {
        let (mut book, now) = (Book::default(), Instant::now());
        let (id, new) = waiting(ask(&mut book, now, key("a", 1)));
        assert!(new);
        assert_eq!(waiting(ask(&mut book, now, key("a", 1))), (id.clone(), false));
        assert!(book.grant(now + LIFE / 2, &id, Protection::Terminal));
        assert!(!book.grant(now, &id, Protection::Terminal), "once");
        for other in [key("a", 2), key("b", 1)] {
            assert!(waiting(ask(&mut book, now, other)).1, "another call waits by itself");
        }
        let later = now + LIFE;
        assert!(matches!(ask(&mut book, later, key("a", 1)), Found::Granted(grant) if grant.id == id));
        let (next, new) = waiting(ask(&mut book, later, key("a", 1)));
        assert!(new && next != id, "it is used up");
        assert!(book.grant(later, &next, Protection::Terminal));
        assert!(waiting(ask(&mut book, later + LIFE, key("a", 1))).1, "it has lasted a minute");
    }

    #[test]
    fn what_did_nothing_goes_back_and_lasts_no_longer_for_it() {
        let (mut book, now) = (Book::default(), Instant::now());
        let (id, _) = waiting(ask(&mut book, now, key("a", 1)));
        book.grant(now, &id, Protection::Secret);
        let Found::Granted(grant) = ask(&mut book, now, key("a", 1)) else { panic!("granted") };
        book.give_back(now, grant);
        let Found::Granted(grant) = ask(&mut book, now, key("a", 1)) else { panic!("still granted") };
        book.give_back(now + LIFE, grant);
        assert!(waiting(ask(&mut book, now + LIFE, key("a", 1))).1);
    }

    #[test]
    fn no_holds_for_a_minute_and_takes_back_what_was_granted() {
        let (mut book, now) = (Book::default(), Instant::now());
        let (id, _) = waiting(ask(&mut book, now, key("a", 1)));
        book.grant(now, &id, Protection::Terminal);
        assert!(book.deny(now, &id) && !book.deny(now, &id));
        assert!(matches!(ask(&mut book, now, key("a", 1)), Found::Denied { why: No::Said, .. }));
        assert!(!book.grant(now, &id, Protection::Terminal));
        assert!(waiting(ask(&mut book, now + 2 * LIFE, key("a", 1))).1);
    }

    #[test]
    fn three_wrong_secrets_lock_it() {
        let (mut book, now) = (Book::default(), Instant::now());
        let (id, _) = waiting(ask(&mut book, now, key("a", 1)));
        let tries: Vec<_> = (0..4).map(|_| book.wrong(now, &id)).collect();
        assert_eq!(tries, [Wrong::Left(2), Wrong::Left(1), Wrong::Locked, Wrong::Gone]);
        assert!(!book.grant(now, &id, Protection::Secret));
        assert!(matches!(ask(&mut book, now, key("a", 1)), Found::Denied { why: No::Locked, .. }));
    }

    #[test]
    fn there_are_only_so_many() {
        let (mut book, now) = (Book::default(), Instant::now());
        for call in 0..8 {
            waiting(ask(&mut book, now, key("a", call)));
        }
        assert!(matches!(ask(&mut book, now, key("a", 9)), Found::Full { limit: PER_CLIENT }));
        for client in 1..8 {
            (0..8).for_each(|call| drop(waiting(ask(&mut book, now, key(&client.to_string(), call)))));
        }
        assert!(matches!(ask(&mut book, now, key("x", 1)), Found::Full { limit: IN_ALL }));
        assert_eq!(book.prune(now + LIFE).len(), 64);
        waiting(ask(&mut book, now + LIFE, key("x", 1)));
    }
}
