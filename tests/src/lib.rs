//! What the end-to-end tests stand on: private worlds with a daemon of their own, a fixture site, and the table of
//! processes. The tests themselves are in `suite/`, the pages that they drive in `site/`.

#![forbid(unsafe_code)]

pub mod answer;
mod asking;
pub mod chrome;
pub mod eventually;
pub mod mcp;
mod oracle;
pub mod process;
mod programs;
pub mod run;
pub mod schemas;
pub mod session_tree;
pub mod site;
mod stage;
pub mod terminal;
mod who;
mod world;

pub use answer::Answer;
pub use asking::Asking;
pub use chrome::Chrome;
pub use eventually::{eventually, holds};
pub use run::{Run, Running};
pub use stage::{Stage, rows};
pub use who::{Who, can_look_inside};
pub use world::{GONE, World, gone};
