//! `Page`: frames, navigation, dialogs, scripts, screenshots.

mod capture;
mod dialogs;
mod export;
mod frames;
mod history;
mod lifecycle;
mod scripts;

pub use capture::*;
pub use dialogs::*;
pub use export::*;
pub use frames::*;
pub use history::*;
pub use lifecycle::*;
pub use scripts::*;
