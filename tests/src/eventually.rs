//! Waiting for a condition, with a deadline and a message; never for a length of time.

use std::time::{Duration, Instant};

/// Between two looks. Short, so that a test ends soon after its condition holds.
const STEP: Duration = Duration::from_millis(10);

/// Waits until `look` finds something, and returns it.
///
/// # Panics
/// When the deadline passes. The message names `what`.
#[track_caller]
pub fn eventually<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
        // A park may end early: the condition is looked at again in any case.
        std::thread::park_timeout(STEP);
    }
}

/// Waits until `look` says yes.
///
/// # Panics
/// When the deadline passes. The message names `what`.
#[track_caller]
pub fn holds(what: &str, deadline: Duration, mut look: impl FnMut() -> bool) {
    eventually(what, deadline, || look().then_some(()));
}
