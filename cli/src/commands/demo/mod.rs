//! `glassctl demo`: the main job shown on a small bundled site, each command with its answer (DESIGN 2).
//!
//! Runs glassctl itself, as somebody at a shell would, and checks every answer; the first surprise ends it with
//! an error. Has a daemon of its own, which is stopped at the end, after Ctrl-C too.

mod site;
mod walk;
mod world;

use std::net::Ipv4Addr;

use glass_proto::{ErrorKind, OpError, Phase};
use serde::Serialize;
use site::Site;
use walk::{Step, Walk, done, refused};
use world::World;

use crate::error::{Failure, cancelled};
use crate::output::{Output, Report};
use crate::signals::Cancel;

/// Long enough for the first start of a browser that lies on a slow disk.
const FIRST_START_MS: &str = "60000";

/// What goes into the password field. Shown nowhere: the demo checks that.
const PASSWORD: &str = "correct horse 7391";

#[derive(Serialize)]
struct Walked<'a> {
    session: &'a str,
    steps: Vec<Step>,
}

/// Walks through the site.
///
/// # Errors
/// `verification_failed` at the first answer that is not the expected one.
pub(super) async fn run(output: Output, mut cancel: Cancel) -> Result<Report, Failure> {
    let world = World::create().map_err(|error| not_possible("make its directories", &error))?;
    let site = Site::open().await.map_err(|error| not_possible("open a port on loopback", &error))?;
    let mut walk = Walk::new(&world, output);
    walk.say(&format!("a site on {}, a daemon of its own, session {}", site.url("/"), world.session))?;
    let walked = tokio::select! {
        walked = walk_through(&mut walk, &world, &site) => walked,
        () = site.serve() => Ok(()),
        () = cancel.asked() => Err(cancelled().into()),
    };
    // Whatever came, nothing stays behind.
    let stopped = stop(&mut walk).await;
    walked.and(stopped)?;
    let count = walk.steps.len();
    let text = format!("\ndemo: {count} commands, each answered as it should; nothing is left running");
    Report::of(&Walked { session: &world.session, steps: walk.steps }, text)
}

async fn stop(walk: &mut Walk<'_>) -> Result<(), Failure> {
    walk.say("the end: the daemon stops, and its process is gone when the command returns")?;
    walk.run(&["daemon", "stop"], done("glassd")).await.map(drop)
}

async fn walk_through(walk: &mut Walk<'_>, world: &World, site: &Site) -> Result<(), Failure> {
    sign_in(walk, site).await?;
    guard(walk).await?;
    dialog(walk).await?;
    read(walk, world).await?;
    errors(walk, site).await?;
    walk.say("sessions")?;
    walk.run(&["session", "list"], done("ready")).await?;
    walk.run(&["session", "close"], done("closed")).await.map(drop)
}

async fn sign_in(walk: &mut Walk<'_>, site: &Site) -> Result<(), Failure> {
    walk.say("look at a page, fill its form, and send it; the first command starts daemon and browser")?;
    let first = ["navigate", &site.url("/"), "--timeout-ms", FIRST_START_MS];
    walk.run(&first, done("Glass demo: sign in")).await?;
    walk.run(&["observe"], done("button \"Sign in\"")).await?;
    walk.run(&["fill", "label=Name", "Ann"], done("filled")).await?;
    walk.run_with(&["fill", "label=Password", "-"], PASSWORD, done("filled")).await?;
    let seen = walk.run(&["observe"], done("\"Ann\"")).await?;
    if seen.contains(PASSWORD) {
        return Err(told("a password was shown"));
    }
    walk.run(&["click", "role=button;name=Sign in"], done("/tasks")).await?;
    walk.run(&["wait", "visible=role=heading;name=Tasks"], done("visible")).await.map(drop)
}

async fn guard(walk: &mut Walk<'_>) -> Result<(), Failure> {
    walk.say("a button that renames itself: what was decided on the old page is refused on the new one")?;
    let seen = walk.run(&["observe"], done("button \"Start timer\"")).await?;
    let (revision, timer) = revision(&seen)
        .zip(reference(&seen, "button \"Start timer\""))
        .ok_or_else(|| told("the outline has no revision or no ref where they belong"))?;
    walk.run(&["click", timer, "--expected-revision", revision], done("clicked")).await?;
    walk.run(&["click", timer, "--expected-revision", revision], refused(3, "stale_revision")).await?;
    walk.run(&["find", "role=button;name=Stop timer"], done("1 found")).await.map(drop)
}

async fn dialog(walk: &mut Walk<'_>) -> Result<(), Failure> {
    walk.say("a dialog blocks the page, not the tool; its effect comes later and is waited for")?;
    walk.run(&["click", "Delete all tasks"], done("confirm \"Delete all tasks?\"")).await?;
    walk.run(&["click", "Stop timer"], refused(1, "dialog_blocked")).await?;
    walk.run(&["accept-dialog"], done("accepted confirm")).await?;
    walk.run(&["wait", "text=No tasks left"], done("text after")).await.map(drop)
}

async fn read(walk: &mut Walk<'_>, world: &World) -> Result<(), Failure> {
    walk.say("read it: text, a value, a picture")?;
    walk.run(&["get-text"], done("No tasks left")).await?;
    walk.run(&["evaluate", "document.querySelectorAll(\"li\").length"], done("0")).await?;
    walk.run(&["screenshot", "-o", "tasks.png"], done("tasks.png")).await?;
    let picture = std::fs::read(world.directory().join("tasks.png"));
    if picture.is_ok_and(|bytes| bytes.starts_with(b"\x89PNG\r\n")) {
        return Ok(());
    }
    Err(told("the screenshot is no PNG file"))
}

async fn errors(walk: &mut Walk<'_>, site: &Site) -> Result<(), Failure> {
    walk.say("what goes wrong is said: a missing page, a closed port, an element that is not there")?;
    walk.run(&["navigate", &site.url("/missing")], done("404")).await?;
    walk.run(&["click", "Buy", "--timeout-ms", "500"], refused(3, "target_not_found")).await?;
    let closed = closed_port().map_err(|error| not_possible("find a closed port", &error))?;
    walk.run(&["navigate", &format!("http://127.0.0.1:{closed}/")], refused(8, "navigation_failed"))
        .await
        .map(drop)
}

/// A port of loopback where nobody listens.
fn closed_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The revision in an outline's head: `7` of `r7 "Checkout" …`.
fn revision(outline: &str) -> Option<&str> {
    let word = outline.split_whitespace().next()?.strip_prefix('r')?;
    word.bytes().all(|c| c.is_ascii_digit()).then_some(word)
}

/// The ref of the first row that begins so: `e4` of `button "Reject all" [e4]`.
fn reference<'a>(outline: &'a str, row: &str) -> Option<&'a str> {
    let rest = outline.lines().find_map(|line| line.trim_start().strip_prefix(row))?;
    rest.split_once('[')?.1.split_once(']').map(|(reference, _)| reference)
}

fn not_possible(what: &str, error: &std::io::Error) -> Failure {
    OpError::rejected(
        ErrorKind::Transport,
        Phase::Preflight,
        format!("the demo cannot {what}: {error}"),
        "it needs a home directory or a temporary directory that it can write to, and loopback",
    )
    .into()
}

fn told(what: &str) -> Failure {
    let remedy = "report it with the demo's output";
    OpError::failed(ErrorKind::VerificationFailed, Phase::Verification, what, remedy).reason("demo").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_read() {
        let outline = "r12 \"T\" http://x/ 200 complete\nmain\n  button \"Start timer\" [e7]\n";
        assert_eq!(revision(outline), Some("12"));
        assert_eq!(reference(outline, "button \"Start timer\""), Some("e7"));
        assert_eq!(reference(outline, "button \"Other\""), None);
        assert_eq!(revision("nothing"), None);
    }
}
