//! The browser process: which program, with which flags and environment, started, watched and ended.
//!
//! Owns everything between a path, or the endpoint of somebody else's browser, and a live CDP connection, and the death of the
//! browser. Knows no page and no
//! operation. The cage is around it already (`glass_sandbox`); Chromium's own sandbox is always on as well, and no
//! flag here may weaken it.

mod browser;
mod elsewhere;
mod exit;
mod find;
mod flags;
mod identity;
mod launch;
mod network;
mod profile;
mod reaper;
mod stderr;
mod version;

pub use browser::{Browser, Ended};
pub use elsewhere::{AttachError, Elsewhere, attach};
pub use exit::Exit;
pub use find::{Executable, FindError, find};
pub use flags::{Flag, FlagPlan, flags};
pub use identity::user_agent_metadata;
pub use launch::{Launch, LaunchError, launch};
pub use network::ONLINE;
pub use profile::ProfileError;
pub use reaper::{Reaper, Watched};
pub use version::{Version, VersionError, ask_version};
