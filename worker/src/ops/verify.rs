//! `verify` (contract 8.2): one look, or looks until it holds where the call gives a time.

use glass_proto::error::OpError;
use glass_proto::op::Verify;
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::Verified;

use super::wait::revision;
use crate::act::{Since, Truth, failed, page_seen, verify};
use crate::context::Context;

pub(super) async fn run(context: &Context, params: &Verify) -> Result<Verified, OpError> {
    context.pages.use_target(&context.target);
    let predicate = params.whole().map_err(|error| OpError::invalid(error.to_string(), "see --help"))?;
    let wait = context.options.timeout_ms.is_some();
    let weighed = verify(context, &predicate, Since::default(), wait).await?;
    if weighed.truth != Truth::Holds {
        return Err(failed(&weighed, Outcome::Completed, Dispatched::No));
    }
    let page = page_seen(context, revision(context).await).await?;
    let waited_ms = u64::try_from(weighed.waited.as_millis()).unwrap_or(u64::MAX);
    Ok(Verified { page, waited_ms, parts: weighed.parts })
}
