//! The daemon's settings: one file, complete and commented defaults, strict reading.
//!
//! Owns the shape and the bounds of every setting. A file that cannot be read as meant stops the start with its line
//! and column: no setting is ever guessed or skipped.

mod read;
mod size;
mod span;
mod tell;

pub use read::{Config, ConfigError, DEFAULTS};
pub use span::Span;
pub use tell::{schema, settings};
