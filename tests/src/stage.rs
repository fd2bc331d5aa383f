//! A browser that tests use one after the other, each on a fresh page. Starting one for each test would take most of
//! the suite's time.
//!
//! There are as many as tests run at once. A test that panics throws its stage away: nothing of a broken state reaches
//! the next one. The worlds of the others end with the test process, by their leash.

use std::ops::Deref;
use std::sync::Mutex;

use serde_json::Value;

use crate::site::{Site, Visit, site};
use crate::world::World;

static FREE: Mutex<Vec<World>> = Mutex::new(Vec::new());

/// Closes what the test before opened beside the first page.
fn tidy(world: &World) {
    let listed = world.ask(&["list-targets"]);
    // A test may have closed the session: the next page begins another.
    for target in listed.json["result"]["targets"].as_array().into_iter().flatten().skip(1) {
        world.ok(&["close-target", target["id"].as_str().expect("a target has an id")]);
    }
}

/// A session that this test has for itself, in a daemon that runs.
#[derive(Debug)]
pub struct Stage {
    world: Option<World>,
}

impl Stage {
    /// A free one, else a new one.
    pub fn take() -> Self {
        let free = FREE.lock().expect("nobody panics while it holds this").pop();
        if let Some(world) = &free {
            world.oracle.anew();
            tidy(world);
        }
        Self { world: Some(free.unwrap_or_else(started)) }
    }

    /// A free one with a page of the fixture site open in it.
    ///
    /// # Panics
    /// When the page does not load.
    #[track_caller]
    pub fn open(page: &str) -> (Self, Visit) {
        let stage = Self::take();
        let visit = stage.visit(page);
        (stage, visit)
    }

    /// Opens a page of the fixture site, as a visit of its own.
    ///
    /// # Panics
    /// When it does not load.
    #[track_caller]
    pub fn visit(&self, page: &str) -> Visit {
        let visit = site().visit();
        self.go(&visit, page);
        visit
    }

    /// Goes to a page of that visit.
    ///
    /// # Panics
    /// When it does not load.
    #[track_caller]
    pub fn go(&self, visit: &Visit, page: &str) -> Value {
        self.ok(&["navigate", &visit.url(page)])
    }

    /// Opens a page made of this HTML.
    ///
    /// # Panics
    /// When it does not load.
    #[track_caller]
    pub fn show(&self, html: &str) -> Visit {
        let visit = site().visit();
        visit.serve("page.html", html);
        self.go(&visit, "page.html");
        visit
    }

    /// The revision now.
    ///
    /// # Panics
    /// When the page cannot be observed.
    #[track_caller]
    pub fn revision(&self) -> u64 {
        let observed = self.ok(&["observe"]);
        observed["page"]["revision"].as_u64().expect("an observation has a revision")
    }

    /// The ref of the one row of the outline with this role and name, as seen now.
    ///
    /// # Panics
    /// When there is not exactly one.
    #[track_caller]
    pub fn reference(&self, role: &str, name: &str) -> String {
        let observed = self.ok(&["observe"]);
        let rows = rows(&observed, role, name);
        assert_eq!(
            rows.len(),
            1,
            "one {role} {name:?} is wanted in:\n{}",
            observed["outline"].as_str().unwrap_or("")
        );
        rows[0]["ref"].as_str().expect("a row has a ref").to_owned()
    }

    /// The fixture site.
    pub fn site(&self) -> &'static Site {
        site()
    }
}

fn started() -> World {
    // All tests of a module are one client to the daemon, and quicker than a person.
    let world = World::new().with_config(
        "[limits]\noperations_per_second = 1000\noperations_at_once = 1000\nnavigations_per_second = 1000\n",
    );
    world.glassctl(["daemon", "start"]).success();
    // Its leash learns the pid.
    world.daemon();
    world
}

/// The rows of an observation with this role and name.
pub fn rows<'a>(observed: &'a Value, role: &str, name: &str) -> Vec<&'a Value> {
    let nodes = observed["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().filter(|node| node["role"] == role && node["name"] == name).collect()
}

impl Deref for Stage {
    type Target = World;
    fn deref(&self) -> &World {
        self.world.as_ref().expect("a stage has a world until it is dropped")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let Some(world) = self.world.take() else { return };
        if !std::thread::panicking() {
            FREE.lock().expect("nobody panics while it holds this").push(world);
        }
    }
}
