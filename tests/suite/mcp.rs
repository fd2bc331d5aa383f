//! `glass --mcp` over its two pipes: the wire, the tools, and what becomes of it when something breaks.

mod robust;
mod tools;
mod wire;

use std::sync::{Mutex, MutexGuard, OnceLock};

use glass_tests::World;
use glass_tests::mcp::Mcp;

/// A world that the tests of this module share: one daemon, a session for each server.
struct Shared(World);

fn world() -> MutexGuard<'static, Shared> {
    static WORLD: OnceLock<Mutex<Shared>> = OnceLock::new();
    let made = || {
        let world = World::new();
        world.glassctl(["daemon", "start"]).success();
        world.daemon();
        Mutex::new(Shared(world))
    };
    WORLD.get_or_init(made).lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Shared {
    fn server(&self) -> Mcp {
        Mcp::greeted(&self.0, &[], "2025-11-25")
    }
}
