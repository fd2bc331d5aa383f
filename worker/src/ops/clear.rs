//! `clear`: a fill with nothing.

use glass_proto::error::OpError;
use glass_proto::op::Clear;
use glass_proto::result::Acted;

use super::fill::whole;
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Clear) -> Result<Acted, OpError> {
    whole(context, "clear", &params.target, "").await
}
