//! `IO`: streams that the browser holds.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use crate::cdp::command::command;

/// Reads the next piece.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Read<'a> {
    /// The stream.
    pub handle: &'a str,
    /// Most bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
}
command!(Read<'a> = "IO.read" -> Piece);

/// A piece of a stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Piece {
    /// Its content.
    pub data: String,
    /// Whether that is base64.
    #[serde(default)]
    pub base64_encoded: bool,
    /// Whether the stream ends here.
    pub eof: bool,
}

/// Lets a stream go.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Close<'a> {
    /// The stream.
    pub handle: &'a str,
}
command!(Close<'a> = "IO.close" -> Empty);
