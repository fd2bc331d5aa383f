//! The CDP client and the launcher against a real Chromium, outside of the cage and with its own sandbox on.
//!
//! Chromium refuses to run as root with its sandbox, so a test that finds itself root runs itself again as a user
//! that owns nothing.

use std::{
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use glass_worker::{
    cdp::{
        CdpError, Client, Event, Limits,
        types::{
            emulation::SetUserAgentOverride,
            input::{DispatchMouseEvent, MouseButton, MouseEventType},
            page::{self, FrameNavigated, LoadEventFired},
            runtime::{self, Evaluate},
            target::{AttachToTarget, GetTargets},
        },
    },
    chromium::{Browser, Ended, Exit, Launch, ONLINE, Reaper, find, launch, user_agent_metadata},
};

/// A uid without name, home or files.
const NOBODY: u32 = 61_234;

/// A hung browser fails the test instead of the whole run.
const PATIENCE: Duration = Duration::from_secs(60);

const MESSAGE_LIMIT: usize = 1 << 20;

/// Runs `test` as an ordinary user, in a directory of its own.
fn unprivileged(name: &str, test: impl AsyncFnOnce(&Path)) {
    let directory = tempfile::Builder::new().prefix("glass-cdp-").tempdir().expect("a directory");
    if !nix::unistd::geteuid().is_root() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let test = async { tokio::time::timeout(PATIENCE, test(directory.path())).await };
        assert!(runtime.block_on(test).is_ok(), "the test did not end within {PATIENCE:?}");
        return;
    }
    // The build directory may be out of reach for others. `cp` copies, because a file that is open for writing in
    // this process could be inherited by a child of another test, and then it cannot be executed.
    let program = directory.path().join("test");
    let this = std::env::current_exe().expect("this test");
    let copied = Command::new("cp").arg(this).arg(&program).status().expect("cp runs");
    assert!(copied.success(), "this test cannot be copied");
    for path in [directory.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let home = directory.path().join("home");
    std::fs::create_dir(&home).expect("a directory");
    std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY)).expect("an owner");
    let mut again = Command::new(&program);
    again
        .args(["--exact", name, "--nocapture"])
        .env("TMPDIR", &home)
        .current_dir(&home)
        .uid(NOBODY)
        .gid(NOBODY);
    assert!(again.status().expect("this test runs again").success(), "the test failed as an ordinary user");
}

type Events = Arc<Mutex<Vec<Event>>>;

struct World {
    browser: Browser,
    events: Events,
    session: String,
}

impl World {
    async fn start(directory: &Path) -> Self {
        let reaper = Reaper::start().expect("a reaper");
        let executable = find(None).unwrap_or_else(|error| panic!("{error}; {}", error.remedy()));
        let profile = directory.join("profile");
        std::fs::create_dir(&profile).expect("a directory");
        let environment = ["HOME", "TMPDIR", "XDG_RUNTIME_DIR"].map(|name| (name.into(), directory.into()));
        let plan = Launch {
            executable,
            version: None,
            profile,
            environment: environment.into(),
            proxy_port: None,
            own_shared_memory: true,
            viewport: (1280, 720),
            language: Some("de-DE,de".to_owned()),
            authenticates: false,
            ignore_certificate_errors: false,
            time_zone: Some("Asia/Tokyo".to_owned()),
            deadline: Duration::from_secs(15),
        };
        let limits = Limits { message: MESSAGE_LIMIT, ..Limits::default() };
        let events = Events::default();
        let log = events.clone();
        let browser = launch(&plan, &reaper, limits, move |event| log.lock().expect("a log").push(event))
            .await
            .expect("a browser");
        let targets = browser.client().send(None, GetTargets::default()).await.expect("targets").target_infos;
        let pages: Vec<_> = targets.iter().filter(|target| target.kind == "page").collect();
        assert_eq!(
            (targets.len(), pages.len()),
            (1, 1),
            "one tab and no hidden page of the browser: {targets:?}"
        );
        let attach = AttachToTarget { target_id: &pages[0].target_id, flatten: true };
        let session = browser.client().send(None, attach).await.expect("a session").session_id;
        Self { browser, events, session }
    }

    fn client(&self) -> &Client {
        self.browser.client()
    }

    async fn evaluate(&self, expression: &str) -> String {
        let evaluate =
            Evaluate { expression, return_by_value: true, await_promise: true, ..Default::default() };
        let done = self.client().send(Some(&self.session), evaluate).await.expect("an answer");
        assert!(done.exception_details.is_none(), "{expression}: {:?}", done.exception_details);
        match serde_json::from_str(done.result.value.expect("a value").get()).expect("JSON") {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Loads a page and waits until it is complete.
    async fn load(&self, url: &str) {
        let navigated =
            self.client().send(Some(&self.session), page::Navigate { url, ..Default::default() }).await;
        assert_eq!(navigated.expect("an answer").error_text, None);
        let complete =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', done))";
        self.evaluate(&format!("Promise.resolve({complete}).then(() => 1)")).await;
    }
}

#[test]
fn a_browser_starts_navigates_and_closes() {
    unprivileged("a_browser_starts_navigates_and_closes", async |directory: &Path| {
        let world = World::start(directory).await;
        let (client, session) = (world.client(), Some(world.session.as_str()));
        let page = client.start_send(session, page::Enable {});
        let online = client.start_send(session, ONLINE);
        page.await.expect("page events");
        online.await.expect("a network state");

        // A file is a secure context, where client hints exist.
        let file = directory.join("page.html");
        std::fs::write(&file, "<title>Glass \u{1f600}</title><button onclick='window.hit = 1'>B</button>")
            .expect("a page");
        world.load(&format!("file://{}", file.display())).await;
        assert_eq!(world.evaluate("document.title").await, "Glass \u{1f600}");
        let half = Evaluate { expression: "'a\\ud83d'", return_by_value: true, ..Default::default() };
        let half: serde_json::Value =
            client.call(session, "Runtime.evaluate", half).await.expect("half a pair");
        assert_eq!(half["result"]["value"], "a\u{fffd}");
        {
            let events = world.events.lock().expect("a log");
            let navigated =
                events.iter().find(|event| event.method == FrameNavigated::METHOD).expect("a navigation");
            assert_eq!(navigated.session.as_deref(), session);
            let navigated: FrameNavigated = navigated.params().expect("its parameters");
            assert!(navigated.frame.url.ends_with("/page.html"));
            assert!(events.iter().any(|event| event.method == LoadEventFired::METHOD));
        }

        // Presses leave back to back; the answers are awaited after.
        let button = "(() => { const b = document.querySelector('button').getBoundingClientRect(); return b.x + 5 })()";
        let x: f64 = world.evaluate(button).await.parse().expect("a number");
        let press = |kind| {
            let button = Some(MouseButton::Left);
            DispatchMouseEvent { button, click_count: Some(1), ..DispatchMouseEvent::new(kind, x, 15.0) }
        };
        let pressed = client.start_send(session, press(MouseEventType::MousePressed));
        let released = client.start_send(session, press(MouseEventType::MouseReleased));
        pressed.await.expect("pressed");
        released.await.expect("released");
        assert_eq!(world.evaluate("window.hit").await, "1");

        // A result above the limit fails alone.
        let big = Evaluate { expression: "'x'.repeat(3 << 20)", return_by_value: true, ..Default::default() };
        let error = client.send(session, big).await.expect_err("too large");
        assert!(matches!(error, CdpError::TooLarge { bytes, .. } if bytes > 3 << 20), "{error:?}");
        assert_eq!(world.evaluate("6 * 7").await, "42");

        // A context that is gone is told apart from other refusals.
        let gone = Evaluate { expression: "1", context_id: Some(987_654), ..Default::default() };
        assert!(client.send(session, gone).await.expect_err("no context").context_destroyed());
        let error = client.send(Some("nobody"), runtime::Enable {}).await.expect_err("no session");
        assert!(error.no_session(), "{error:?}");

        assert_eq!(world.browser.close(Duration::from_secs(5)).await, Ended::OnClose(Exit::Code(0)));
        let error = client.send(session, runtime::Enable {}).await.expect_err("no browser");
        assert!(error.is_closed());
        assert!(matches!(world.browser.close(Duration::ZERO).await, Ended::AlreadyGone(Exit::Code(0))));
    });
}

#[test]
fn a_page_sees_an_ordinary_browser() {
    unprivileged("a_page_sees_an_ordinary_browser", async |directory: &Path| {
        let world = World::start(directory).await;
        let (client, session) = (world.client(), Some(world.session.as_str()));
        let file = directory.join("page.html");
        std::fs::write(&file, "<title>t</title><button>OK</button>").expect("a page");
        let url = format!("file://{}", file.display());
        world.load(&url).await;
        let agent = world.browser.version().user_agent();
        assert_eq!(world.evaluate("navigator.userAgent").await, agent);
        assert_eq!(world.evaluate("[innerWidth, innerHeight].join()").await, "1280,720");
        assert_eq!(world.evaluate("navigator.languages.join()").await, "de-DE,de");
        assert_eq!(world.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone").await, "Asia/Tokyo");
        assert_eq!(
            world.evaluate("['(hover: hover)', '(pointer: fine)'].every(q => matchMedia(q).matches)").await,
            "true"
        );
        assert_eq!(world.evaluate("document.querySelector('button').computedRole").await, "button");

        // Our brand list is the browser's own; with the override the detailed hints are there as well.
        let brands = "JSON.stringify(navigator.userAgentData.brands)";
        let own = world.evaluate(brands).await;
        let metadata = user_agent_metadata(world.browser.version());
        let identity = SetUserAgentOverride {
            user_agent: &agent,
            user_agent_metadata: Some(&metadata),
            ..Default::default()
        };
        client.send(session, identity).await.expect("an identity");
        world.load(&url).await;
        assert_eq!(world.evaluate(brands).await, own);
        let detailed = "navigator.userAgentData.getHighEntropyValues(['fullVersionList', 'bitness'])\
                        .then(hints => JSON.stringify([hints.bitness, hints.fullVersionList.length]))";
        assert_eq!(world.evaluate(detailed).await, "[\"64\",2]");
        world.browser.close(Duration::from_secs(5)).await;
    });
}

#[test]
fn a_killed_browser_fails_its_calls_with_the_reason() {
    unprivileged("a_killed_browser_fails_its_calls_with_the_reason", async |directory: &Path| {
        let world = World::start(directory).await;
        let never =
            Evaluate { expression: "new Promise(() => {})", await_promise: true, ..Default::default() };
        let waiting = world.client().start_send(Some(&world.session), never);
        let pid = nix::unistd::Pid::from_raw(
            i32::try_from(world.browser.pid().expect("a browser of our own")).expect("a pid"),
        );
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("killed");
        let error = waiting.await.expect_err("the browser is gone");
        assert_eq!(error.to_string(), "the browser is gone: it was killed by signal SIGKILL");
        assert_eq!(world.browser.exited().await, Exit::Signal(nix::sys::signal::Signal::SIGKILL).to_string());
    });
}
