//! What every page operation begins with: a page that can be asked.

use glass_proto::error::OpError;

use crate::context::{Context, halted};
use crate::page::Halt;

/// Refuses a page that is closed, crashed or held by a dialog.
///
/// # Errors
/// `no_target_selected`, `browser_crashed`, `dialog_blocked`.
pub(super) fn page(context: &Context) -> Result<(), OpError> {
    context.pages.use_target(&context.target);
    let halt = Halt::of(&context.pages.state(), &context.target);
    halt.map_or(Ok(()), |halt| Err(halted(&halt)))
}
