//! What happened in the session (contract 7.6): events with numbers that only grow, the newest 200 of each target, and
//! an honest count of those that had to make room.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use glass_proto::op::Events as Asked;
use glass_proto::result::{Event, EventKind, EventOf, Events};

use super::state::State;

/// Events that are kept of a target, and of what belongs to none.
const KEPT: usize = Asked::MAX_LIMIT as usize;
/// Numbers of events that had to go that are remembered.
const MAX_LOST: usize = 4096;
/// Targets of which events are kept, closed ones among them.
const MAX_RINGS: usize = 64;

/// The events of the session.
#[derive(Debug, Default)]
pub struct News {
    /// In order.
    events: VecDeque<Event>,
    newest: u64,
    /// Those that had to go, with their targets.
    lost: VecDeque<(u64, Option<Arc<str>>)>,
    /// Operations at work on targets.
    at_work: HashMap<String, String>,
}

impl News {
    /// Notes an event.
    pub(super) fn add(&mut self, kind: EventKind, what: &str, target: Option<&str>, of: EventOf) {
        let execution_id = target.and_then(|target| self.at_work.get(target)).cloned();
        self.add_of(kind, what, target, execution_id, of);
    }

    fn add_of(
        &mut self,
        kind: EventKind,
        what: &str,
        target: Option<&str>,
        execution_id: Option<String>,
        of: EventOf,
    ) {
        self.newest += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.events.push_back(Event {
            sequence: self.newest,
            time_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            kind,
            what: what.to_owned(),
            target_id: target.map(str::to_owned),
            execution_id,
            of,
        });
        let of_target = |event: &Event| event.target_id.as_deref() == target;
        if self.events.iter().filter(|event| of_target(event)).count() > KEPT {
            let oldest = self.events.iter().position(of_target);
            self.forget(oldest);
        }
        if self.events.len() > KEPT * MAX_RINGS {
            self.forget(Some(0));
        }
    }

    fn forget(&mut self, at: Option<usize>) {
        let Some(gone) = at.and_then(|at| self.events.remove(at)) else { return };
        if self.lost.len() >= MAX_LOST {
            self.lost.pop_front();
        }
        self.lost.push_back((gone.sequence, gone.target_id.map(Into::into)));
    }

    /// Notes that an operation that is at work on a target has sent something.
    pub(crate) fn begins(&mut self, target: &str, execution: &str) {
        self.at_work.insert(target.to_owned(), execution.to_owned());
    }

    /// Notes that an operation is not at work any more.
    pub(crate) fn ends(&mut self, execution: &str) {
        self.at_work.retain(|_, at_work| at_work != execution);
    }

    /// Notes what became of an operation.
    pub(crate) fn ended(
        &mut self,
        kind: EventKind,
        what: &str,
        target: Option<&str>,
        execution: &str,
        of: EventOf,
    ) {
        self.add_of(kind, what, target, Some(execution.to_owned()), of);
    }

    /// Reads what fits, of one target or of all.
    pub fn read(&self, asked: &Asked, target: Option<&str>) -> Events {
        let after = asked.after.unwrap_or(0);
        let of_target = |id: Option<&str>| target.is_none() || id == target;
        let fits = |event: &&Event| {
            event.sequence > after
                && of_target(event.target_id.as_deref())
                && (asked.kinds.is_empty() || asked.kinds.contains(&event.kind))
        };
        let mut events: Vec<_> = self.events.iter().filter(fits).cloned().collect();
        let limit = usize::from(asked.limit.unwrap_or(Asked::LIMIT));
        let left_out = events.len().saturating_sub(limit);
        let mut next = self.newest;
        if asked.after.is_none() {
            events.drain(..left_out);
        } else if left_out > 0 {
            events.truncate(limit);
            next = events.last().map_or(after, |last| last.sequence);
        }
        let lost = self.lost.iter().filter(|(number, of)| *number > after && of_target(of.as_deref()));
        Events { events, next, dropped: lost.count() as u64, left_out: left_out as u64 }
    }
}

impl State {
    /// Notes an event of the target of a CDP session.
    pub(super) fn tell(&mut self, session: Option<&Arc<str>>, kind: EventKind, what: &str, of: EventOf) {
        let Some(session) = session else { return };
        let target = self.workers.get(session).or_else(|| self.sessions.get(session).map(|at| &at.target));
        if let Some(target) = target {
            self.news.add(kind, what, Some(target), of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(after: Option<u64>, limit: Option<u16>) -> Asked {
        Asked { after, limit, ..Asked::default() }
    }

    fn numbers(read: &Events) -> Vec<u64> {
        read.events.iter().map(|event| event.sequence).collect()
    }

    #[test]
    fn a_noisy_target_pushes_out_its_own_alone_and_the_gap_is_told() {
        let mut news = News::default();
        news.add(EventKind::Crash, "crashed", Some("quiet"), EventOf::default());
        for _ in 0..KEPT + 5 {
            news.add(EventKind::Navigation, "committed", Some("noisy"), EventOf::default());
        }
        let all = news.read(&asked(Some(0), None), None);
        assert_eq!((all.events[0].kind, all.dropped), (EventKind::Crash, 5));
        assert_eq!(news.read(&asked(Some(0), None), Some("quiet")).dropped, 0);
        assert_eq!(news.read(&asked(Some(4), None), Some("noisy")).dropped, 2);
    }

    #[test]
    fn a_cursor_reads_on_from_the_oldest_and_without_one_the_newest_are_told() {
        let mut news = News::default();
        for _ in 0..10 {
            news.add(EventKind::Print, "asked", None, EventOf::default());
        }
        let first = news.read(&asked(Some(0), Some(4)), None);
        assert_eq!((numbers(&first), first.next, first.left_out), (vec![1, 2, 3, 4], 4, 6));
        let rest = news.read(&asked(Some(first.next), Some(6)), None);
        assert_eq!((rest.events.len(), rest.next, rest.left_out), (6, 10, 0));
        assert_eq!(numbers(&news.read(&asked(None, Some(2)), None)), [9, 10]);
    }

    #[test]
    fn what_happens_while_an_operation_is_at_work_has_its_id() {
        let mut news = News::default();
        news.begins("T", "X1");
        news.add(EventKind::Popup, "opened", Some("T"), EventOf::default());
        news.add(EventKind::Popup, "opened", Some("other"), EventOf::default());
        news.ends("X1");
        news.add(EventKind::Popup, "opened", Some("T"), EventOf::default());
        let ids: Vec<_> =
            news.read(&Asked::default(), None).events.into_iter().map(|event| event.execution_id).collect();
        assert_eq!(ids, [Some("X1".to_owned()), None, None]);
    }
}
