//! `doubleClick`: the path of a click with two presses.

use glass_proto::error::OpError;
use glass_proto::op::DoubleClick;
use glass_proto::result::Acted;

use super::click::{Gesture, perform};
use crate::context::Context;
use crate::input::Contact;

pub(super) async fn run(context: &Context, params: &DoubleClick) -> Result<Acted, OpError> {
    let DoubleClick { target, button, modifiers, position } = params;
    let contact = Contact::Press(*button, 2);
    perform(context, &Gesture { action: "doubleClick", target, position: *position, modifiers, contact })
        .await
}
