//! `tap`: the path of a click with a finger.

use glass_proto::error::OpError;
use glass_proto::op::Tap;
use glass_proto::result::Acted;

use super::click::{Gesture, perform};
use crate::context::Context;
use crate::input::Contact;

pub(super) async fn run(context: &Context, params: &Tap) -> Result<Acted, OpError> {
    let Tap { target, position } = params;
    let contact = Contact::Touch;
    perform(context, &Gesture { action: "tap", target, position: *position, modifiers: &[], contact }).await
}
