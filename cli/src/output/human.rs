//! Text for people: answers as `glass_proto` words them, errors with what to do next.

use std::fmt::Write as _;
use std::io::IsTerminal;

use glass_proto::Outcome;
use glass_proto::escape::visible;
use glass_proto::result::error_text;

use super::Report;
use crate::error::Failure;

pub(super) fn report(report: &Report) -> String {
    let mut out = report.text.clone();
    // Only navigate can begin a session, so this never mixes with a value or an outline.
    if let Some(session) = report.session.as_ref().filter(|session| session.started == "new") {
        let _ = write!(out, "\nsession {} (new)", visible(&session.name, false));
    }
    out
}

pub(super) fn failure(failure: &Failure, colour: bool) -> String {
    let word = if colour { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let mut out = format!("{word} {}", error_text(&failure.error));
    if let (Outcome::Failed | Outcome::Unknown, Some(id)) =
        (failure.error.outcome, &failure.error.execution_id)
    {
        let _ = write!(out, "\noutcome: {} (execution {id})", failure.error.outcome.name());
    }
    if let Some(trace) = &failure.trace {
        let _ = write!(out, "\n{}", self::trace(trace));
    }
    if let Some(usage) = &failure.usage {
        let _ = write!(out, "\n{}", usage.trim_end());
    }
    out
}

/// What was going on: facts for whoever looks for the cause, page data among them.
pub(super) fn trace(trace: &serde_json::Value) -> String {
    visible(&format!("{trace:#}"), true).into_owned()
}

/// Whether a colour may be used on standard error (12.3).
pub(super) fn colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// A time in its two largest units: `4 min 10 s`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A number with its noun: `1 session`, `2 sessions`.
pub fn amount(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use glass_proto::OpError;

    use super::*;

    #[test]
    fn errors_say_what_and_what_next() {
        let text = failure(&Failure::invalid("the text is too long", "send less"), false);
        assert_eq!(text, "error: invalid_argument: the text is too long\nhint: send less");
    }

    #[test]
    fn an_outcome_that_is_not_plain_is_told_with_its_execution() {
        let id = glass_proto::ExecutionId::generate();
        let error = OpError::unknown("worker_lost", "the worker died", "look first").of(&id);
        let text = failure(&error.into(), false);
        assert!(text.ends_with(&format!("outcome: unknown (execution {id})")), "{text}");
    }

    #[test]
    fn times_read_well() {
        let want = ["0 ms", "999 ms", "1 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"];
        let got = [0, 999, 1000, 61_000, 3_660_000, 90_000_000].map(duration);
        assert_eq!(got, want);
    }
}
