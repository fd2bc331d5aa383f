//! Nothing, in both directions.

use serde::{Deserialize, Serialize};

/// A reply whose content, if there is any, does not matter.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Empty {}

/// The parameters of a command that has none, for calls by name.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct NoParams {}
