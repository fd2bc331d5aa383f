//! Whose turn it is in a session (contract 1.7): page operations one at a time in the order of their arrival, the
//! others at once.
//!
//! Generic over what waits, and pure: whoever waits may have gone, which the caller's test tells.

use std::collections::VecDeque;

use glass_proto::ExecutionId;
use glass_proto::op::Lane;

/// The queue of one session.
#[derive(Debug)]
pub(super) struct Queue<T> {
    open: bool,
    /// The page operation that runs.
    page: Option<ExecutionId>,
    waiting: VecDeque<(ExecutionId, Lane, T)>,
    limit: usize,
}

/// There are as many page operations waiting as may wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<T> Queue<T> {
    /// An empty queue in which at most `limit` operations wait, and that gives no turn before [`Queue::open`].
    pub(super) fn new(limit: usize) -> Self {
        Self { open: false, page: None, waiting: VecDeque::new(), limit }
    }

    /// Adds an operation. `gone` tells of one that waits whether its client has left.
    ///
    /// # Errors
    /// As many wait as may.
    pub(super) fn push(
        &mut self,
        id: ExecutionId,
        lane: Lane,
        item: T,
        gone: impl Fn(&T) -> bool,
    ) -> Result<(), Full> {
        if self.waiting.len() >= self.limit {
            self.waiting.retain(|(_, _, item)| !gone(item));
            if self.waiting.len() >= self.limit {
                return Err(Full);
            }
        }
        self.waiting.push_back((id, lane, item));
        Ok(())
    }

    /// From now on turns are given.
    pub(super) fn open(&mut self) {
        self.open = true;
    }

    /// The next operation that may run now. A page operation holds the page until [`Queue::done`].
    pub(super) fn next(&mut self, gone: impl Fn(&T) -> bool) -> Option<(ExecutionId, T)> {
        if !self.open {
            return None;
        }
        self.waiting.retain(|(_, _, item)| !gone(item));
        let free = self.page.is_none();
        let position = self.waiting.iter().position(|(_, lane, _)| *lane != Lane::Page || free)?;
        let (id, lane, item) = self.waiting.remove(position)?;
        if lane == Lane::Page {
            self.page = Some(id.clone());
        }
        Some((id, item))
    }

    /// The operation `id` has ended.
    pub(super) fn done(&mut self, id: &ExecutionId) {
        if self.page.as_ref() == Some(id) {
            self.page = None;
        }
    }

    /// Takes out everything that waits.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<'_, T> {
        self.open = false;
        self.waiting.drain(..).map(|(_, _, item)| item)
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>() -> [ExecutionId; N] {
        std::array::from_fn(|_| ExecutionId::generate())
    }

    fn queue() -> Queue<&'static str> {
        let mut queue = Queue::new(3);
        queue.open();
        queue
    }

    const HERE: fn(&&str) -> bool = |_| false;

    #[test]
    fn page_operations_run_one_at_a_time_in_order() {
        let [a, b] = ids();
        let mut queue = queue();
        queue.push(a.clone(), Lane::Page, "a", HERE).unwrap();
        queue.push(b.clone(), Lane::Page, "b", HERE).unwrap();
        assert_eq!(queue.next(HERE), Some((a.clone(), "a")));
        assert_eq!(queue.next(HERE), None);
        queue.done(&b);
        assert_eq!(queue.next(HERE), None, "only the end of the one that runs frees the page");
        queue.done(&a);
        assert_eq!(queue.next(HERE), Some((b, "b")));
    }

    #[test]
    fn others_pass_by_a_page_operation() {
        let [a, b, c, d] = ids();
        let mut queue = queue();
        queue.push(a.clone(), Lane::Page, "a", HERE).unwrap();
        assert_eq!(queue.next(HERE), Some((a, "a")));
        queue.push(b, Lane::Page, "b", HERE).unwrap();
        queue.push(c.clone(), Lane::Watch, "c", HERE).unwrap();
        queue.push(d.clone(), Lane::Control, "d", HERE).unwrap();
        assert_eq!(queue.next(HERE), Some((c, "c")));
        assert_eq!(queue.next(HERE), Some((d, "d")));
        assert_eq!(queue.next(HERE), None);
    }

    #[test]
    fn nothing_runs_before_the_session_is_open_and_nothing_after_it_ended() {
        let [a] = ids();
        let mut queue = Queue::new(3);
        queue.push(a, Lane::Watch, "a", HERE).unwrap();
        assert_eq!(queue.next(HERE), None);
        assert_eq!(queue.drain().collect::<Vec<_>>(), ["a"]);
        assert_eq!(queue.next(HERE), None);
    }

    #[test]
    fn the_bound_counts_only_those_who_still_wait() {
        let [a, b, c, d, e] = ids();
        let mut queue = Queue::new(3);
        for (id, item) in [(a, "a"), (b, "gone"), (c, "c")] {
            queue.push(id, Lane::Page, item, HERE).unwrap();
        }
        let gone = |item: &&str| *item == "gone";
        assert_eq!(queue.push(d.clone(), Lane::Page, "d", HERE), Err(Full));
        assert_eq!(queue.push(d, Lane::Page, "d", gone), Ok(()));
        assert_eq!(queue.push(e, Lane::Page, "e", gone), Err(Full));
        queue.open();
        assert_eq!(queue.next(gone).map(|(_, item)| item), Some("a"));
    }
}
