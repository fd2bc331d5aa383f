//! `hover`: the path of a click without the press. The pointer stays where it is put (contract 5.3).

use glass_proto::error::OpError;
use glass_proto::op::Hover;
use glass_proto::result::Acted;

use super::click::{Gesture, perform};
use crate::context::Context;
use crate::input::Contact;

pub(super) async fn run(context: &Context, params: &Hover) -> Result<Acted, OpError> {
    let Hover { target, modifiers, position } = params;
    perform(
        context,
        &Gesture { action: "hover", target, position: *position, modifiers, contact: Contact::Hover },
    )
    .await
}
