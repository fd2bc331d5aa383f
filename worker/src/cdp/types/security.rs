//! `Security`: certificate errors.

use serde::Serialize;

use super::empty::Empty;
use crate::cdp::command::command;

/// Turns the domain on.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Security.enable" -> Empty);

/// Accepts or refuses broken certificates.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetIgnoreCertificateErrors {
    /// Whether they are accepted.
    pub ignore: bool,
}
command!(SetIgnoreCertificateErrors = "Security.setIgnoreCertificateErrors" -> Empty);
