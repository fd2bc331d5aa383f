//! The facts of an operation: what it may do, which lane it runs in, how long it may take.

use std::time::Duration;

pub use glass_policy::Capability;

/// Whether an operation can change the page, the browser or the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It is a mutation.
    Mutation,
}

/// Where an operation runs (contract 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// One at a time in a session, in the order of arrival.
    Page,
    /// Beside the others; blocks nothing.
    Watch,
    /// At once, also while an operation runs or a page spins.
    Control,
}

/// What an operation needs of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// May begin a session's browser (contract 1.4).
    StartsSession,
    /// Needs a page that somebody opened.
    OpenPage,
}

/// Everything that is known of an operation without its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name on the wire and in MCP, camelCase.
    pub name: &'static str,
    /// What policy asks for.
    pub capability: Capability,
    /// Whether it is a mutation.
    pub effect: Effect,
    /// Where it runs.
    pub lane: Lane,
    /// What it needs of the session.
    pub needs: Needs,
    /// Its deadline when the call names none (contract 2.7).
    pub timeout: Duration,
    /// Whether `expectedRevision` guards it; others refuse it (contract 3.6).
    pub guarded: bool,
    /// Whether it is about one target; `targetId` is refused otherwise.
    pub targeted: bool,
    /// Whether `frame` and `frameId`, and a selected frame, confine it; they are refused otherwise (contract 7.1).
    /// In the worker `Context::frame` has the frame; what goes through `act::find` is confined already.
    pub framed: bool,
}

impl Facts {
    /// The operation that is called so, on the wire (`getDOM`) or as a command (`get-dom`).
    pub fn of(name: &str) -> Option<&'static Self> {
        let find = |same: &dyn Fn(&Self) -> bool| super::OPERATIONS.iter().find(|facts| same(facts));
        find(&|facts| facts.name == name).or_else(|| find(&|facts| facts.command() == name))
    }

    /// Whether it is a mutation after which there is a page to look at (contract 2.5).
    pub fn leaves_page(&self) -> bool {
        self.effect == Effect::Mutation && (self.targeted || self.lane == Lane::Page)
    }

    /// The name of its command: `doubleClick` is `double-click`, `getDOM` is `get-dom`.
    pub fn command(&self) -> String {
        let mut out = String::new();
        let mut capital = false;
        for c in self.name.chars() {
            // Several capitals in a row are one word.
            if c.is_uppercase() && !capital {
                out.push('-');
            }
            capital = c.is_uppercase();
            out.extend(c.to_lowercase());
        }
        out
    }

    /// What policy is asked for whatever the parameters are.
    pub fn needed(&self) -> Vec<Capability> {
        match self.capability {
            Capability::CoordinateInput => vec![Capability::Input, self.capability],
            Capability::ReadFormValues => vec![Capability::Read, self.capability],
            _ => vec![self.capability],
        }
    }
}
