//! Ctrl-C, SIGTERM and clients that are killed (contract 2.8, report 63).

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use glass_proto::{ErrorKind, OpError, Phase};
use rustix::process::{Pid, Signal, kill_process};

use crate::fake::{Fake, Step, accepted, error, execution};
use crate::{glassctl, json, text};

fn begin(fake: &Fake, arguments: &[&str]) -> Child {
    let home = fake.socket().parent().unwrap().to_owned();
    let mut command = glassctl(&home);
    command.arg("--socket").arg(fake.socket()).args(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fake.until("the operation arrives", |log| !log.executed.is_empty());
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Sends until the daemon was asked to cancel: the first signal may come before the operation's id is known.
fn interrupt(fake: &Fake, child: Child, signal: Signal) -> Output {
    send(&child, signal);
    fake.until("the cancel arrives", |log| !log.cancelled.is_empty() || log.left > 0);
    child.wait_with_output().unwrap()
}

fn cancelled() -> Step {
    error(&OpError::rejected(ErrorKind::Cancelled, Phase::Preflight, "cancelled in the queue", "ask again"))
}

#[test]
fn ctrl_c_cancels_and_says_how_it_ended() {
    let fake = Fake::start(|_| vec![accepted(), Step::Gate, Step::UntilCancelled, cancelled()]);
    let child = begin(&fake, &["wait", "text=x", "--json"]);
    fake.open_gate();
    let output = interrupt(&fake, child, Signal::INT);
    assert_eq!(output.status.code(), Some(130));
    let answer = json(&output);
    assert_eq!(answer["error"]["kind"], "cancelled");
    assert_eq!(answer["error"]["outcome"], "rejected");
}

#[test]
fn the_daemon_is_told_which_operation() {
    let fake = Fake::start(|_| vec![accepted(), Step::UntilCancelled, cancelled()]);
    let child = begin(&fake, &["click", "e1"]);
    let output = interrupt(&fake, child, Signal::TERM);
    assert_eq!(output.status.code(), Some(143));
    fake.log(|log| assert!(log.cancelled.is_empty() || log.cancelled == [execution().to_string()]));
}

#[test]
fn a_daemon_that_does_not_answer_is_left_after_two_seconds_with_an_honest_outcome() {
    let fake = Fake::start(|_| vec![accepted(), Step::Silence]);
    let child = begin(&fake, &["click", "e1"]);
    let begun = Instant::now();
    let output = interrupt(&fake, child, Signal::INT);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stderr).contains("unknown_outcome (cancelled)"), "{}", text(&output.stderr));
}

#[test]
fn the_second_signal_ends_it_at_once() {
    let fake = Fake::start(|_| vec![accepted(), Step::Silence]);
    let child = begin(&fake, &["click", "e1"]);
    send(&child, Signal::INT);
    fake.until("the cancel arrives", |log| !log.cancelled.is_empty() || log.left > 0);
    let begun = Instant::now();
    // Gone already where the first signal came before the operation's id.
    let _ = kill_process(Pid::from_child(&child), Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn a_killed_client_leaves_its_operation() {
    let fake = Fake::start(|_| vec![accepted(), Step::Silence]);
    let mut child = begin(&fake, &["wait", "text=x"]);
    child.kill().unwrap();
    child.wait().unwrap();
    fake.until("the stream is left", |log| log.left == 1);
}
