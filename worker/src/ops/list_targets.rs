//! `listTargets`: from the model alone; no page is asked.

use glass_proto::escape::cut;
use glass_proto::result::{TargetRow, Targets};

use crate::context::Context;

pub(super) fn run(context: &Context) -> Targets {
    let state = context.pages.state();
    let targets = state.order.iter().filter_map(|id| state.target(id)).map(|target| TargetRow {
        id: target.id.clone(),
        url: cut(&target.url, 4096).into_owned(),
        title: cut(&target.title, 256).into_owned(),
        kind: if target.crashed { "crashed" } else { "page" }.to_owned(),
        opener: target.opener.clone(),
        selected: target.id == context.target,
    });
    Targets { targets: targets.collect() }
}
