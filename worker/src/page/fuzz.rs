//! Fuzz target: the model of pages lives through any order of any events, and stays within its bounds.

use std::net::TcpListener;

use glass_proto::session::SessionOptions;
use glass_sandbox::fdpass;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::Pages;
use super::state::{MAX_FRAMES, MAX_TARGETS};
use crate::cdp::Event;
use crate::forward::{Forwarder, Peers};

const WORDS: &[&str] = &[
    "\n",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Target.targetInfoChanged",
    "Target.targetCrashed",
    "Page.frameAttached",
    "Page.frameNavigated",
    "Page.frameDetached",
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
    "Page.lifecycleEvent",
    "Page.navigatedWithinDocument",
    "Browser.downloadWillBegin",
    "Browser.downloadProgress",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Runtime.bindingCalled",
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFailed",
    "Network.webSocketCreated",
    "Network.webSocketClosed",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "\"sessionId\":\"S2\"",
    "\"frameId\":\"F1\"",
    "\"parentFrameId\":\"F1\"",
    "\"parentId\":\"F2\"",
];

/// One event a line.
#[test]
fn fuzz_events() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let _entered = runtime.enter();
    glass_fuzz::run("cdp_events", WORDS, |input| {
        let (_proxy, endpoint) = fdpass::nonblocking_pair().expect("a pair of sockets");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let pages = Pages::new(
            Forwarder::start(listener, endpoint, Peers::Cage).expect("a forwarder"),
            "data-testid".into(),
            None,
            32,
            1 << 20,
            &SessionOptions::default(),
            // Every other input comes from somebody else's browser.
            input.len().is_multiple_of(2).then(|| tokio::sync::mpsc::unbounded_channel().0),
        );
        let mut taken = 0;
        for line in String::from_utf8_lossy(input).lines() {
            if let Some(event) = event(line) {
                pages.on_event(&event);
                taken += 1;
            }
        }
        let state = pages.state();
        assert!(state.targets.len() <= MAX_TARGETS, "{} targets", state.targets.len());
        assert_eq!(state.order.len(), state.targets.len(), "each target has its place in the order");
        for target in state.targets.values() {
            assert!(target.frames.len() <= MAX_FRAMES, "{} frames", target.frames.len());
            // Parents may lie: following them comes to an end.
            for frame in target.frames.keys() {
                assert!(target.chain(frame).len() <= target.frames.len() + 1);
            }
            let _ = (target.keys(), target.pending(), target.quiet_since());
        }
        let frames: usize = state.targets.values().map(|target| target.frames.len()).sum();
        let word = format!("{} {} {frames} {}", taken.min(8), state.targets.len(), state.downloads.len());
        drop(state);
        drop(pages);
        // The forwarder's tasks are told to end: they hold sockets until the runtime looks at them.
        runtime.block_on(tokio::task::yield_now());
        word
    });
}

fn event(line: &str) -> Option<Event> {
    let message: Value = serde_json::from_str(line).ok()?;
    Some(Event {
        session: message["sessionId"].as_str().map(Into::into),
        method: message["method"].as_str()?.to_owned(),
        params: to_raw_value(&message["params"]).ok()?,
    })
}
