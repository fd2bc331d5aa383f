//! `Page`: frames, navigation, dialogs, scripts, screenshots.

mod capture;
mod dialogs;
mod frames;
mod lifecycle;
mod scripts;

pub use capture::*;
pub use dialogs::*;
pub use frames::*;
pub use lifecycle::*;
pub use scripts::*;
