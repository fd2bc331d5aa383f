//! `reconcileReferences`: what became of refs of an earlier revision (contract 3.7).

use glass_proto::error::{OpError, Phase};
use glass_proto::op::{ReconcileReferences, Ref};
use glass_proto::result::{Reconciled, ReferenceNow, ReferenceStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use crate::act::{Found, find_scope, frames_in, look, page_line};
use crate::context::Context;
use crate::page::{EngineError, FrameKey, Remembered, Step, without_fragment};

/// What a relocated element has in common with the one that was.
const MATCHED_BY: &str = "role, name and surroundings";

/// What a frame's engine says of one ref.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    preserved: bool,
    #[serde(rename = "ref")]
    node: Option<u32>,
    role: Option<String>,
    label: Option<String>,
    lost: Option<String>,
}

#[derive(Deserialize)]
struct Answers {
    refs: Vec<Answer>,
}

/// Where a ref is asked about.
enum Place {
    /// In the document that it is of.
    Own(FrameKey, Value),
    /// In the document that came in place of its own.
    Next(FrameKey, Remembered),
    /// Nowhere.
    Nowhere(&'static str),
}

pub(super) async fn run(context: &Context, params: &ReconcileReferences) -> Result<Reconciled, OpError> {
    begin::page(context)?;
    let from = params.from_revision.get();
    let looked = look(context, None, false, 1).await?;
    let now = looked.changes.revision;
    if params.refs.iter().filter_map(|wanted| wanted.revision).chain([from]).any(|revision| revision > now) {
        return Err(OpError::invalid(
            "the page never had that revision",
            "use a revision that an answer about this page printed",
        ));
    }
    let scope = find_scope(context).await?.map(|(scope, _)| scope);
    let within = match &scope {
        Some(scope) => Some(frames_in(context, scope).await?),
        None => None,
    };
    let mut references = Vec::with_capacity(params.refs.len());
    for wanted in &params.refs {
        let place = place(context, *wanted, wanted.revision.unwrap_or(from));
        references.push(one(context, *wanted, place, now, scope.as_ref(), within.as_deref()).await?);
    }
    let page = page_line(context, now).await.map_err(|error| context.engine(&error, Phase::Preflight))?;
    Ok(Reconciled { page, from_revision: from, references })
}

/// The document that a ref is looked for in.
fn place(context: &Context, wanted: Ref, revision: u64) -> Place {
    let shown = {
        let state = context.pages.state();
        let target = state.target(&context.target);
        target.and_then(|target| {
            let key = target.keys().into_iter().find(|key| key.label == wanted.frame)?;
            let seq = target.revisions.seq_at(revision, &key);
            Some((key, seq))
        })
    };
    if let Some((key, seq)) = shown
        && !context.pages.is_of_old_document(&key, wanted.node)
    {
        let mut asked = json!({ "ref": wanted.node });
        if let Some(seq) = seq {
            asked["asOf"] = seq.into();
        }
        return Place::Own(key, asked);
    }
    let state = context.pages.state();
    let Some(target) = state.target(&context.target) else { return Place::Nowhere("navigated") };
    let Some(row) = target.memory.of(wanted.frame, wanted.node) else {
        return Place::Nowhere("navigated");
    };
    // The frame itself, or the one that shows the same address: another page's button is not this one's.
    let is_same = |key: &FrameKey| {
        target.frames.get(&key.frame).is_some_and(|frame| without_fragment(&frame.url) == row.url)
    };
    let mut like = target.keys();
    like.retain(|key| (key.label == 0) == (wanted.frame == 0) && is_same(key));
    if let Some(at) = like.iter().position(|key| key.frame == row.frame) {
        return Place::Next(like.swap_remove(at), row.clone());
    }
    match like.len() {
        1 => Place::Next(like.swap_remove(0), row.clone()),
        _ => Place::Nowhere("navigated"),
    }
}

/// What became of one ref.
async fn one(
    context: &Context,
    wanted: Ref,
    place: Place,
    now: u64,
    scope: Option<&Found>,
    within: Option<&[FrameKey]>,
) -> Result<ReferenceNow, OpError> {
    let lost = |reason: &str| ReferenceNow {
        from: wanted.to_string(),
        status: ReferenceStatus::Lost,
        reference: None,
        role: None,
        label: None,
        matched_by: None,
        reason: Some(reason.to_owned()),
    };
    let (key, method, mut args) = match place {
        Place::Own(key, asked) => (key, "reconcile", json!({ "refs": [asked] })),
        Place::Next(key, row) => {
            let row = json!({ "role": row.role, "name": row.name, "place": row.place });
            (key, "rediscover", json!({ "rows": [row] }))
        }
        Place::Nowhere(reason) => return Ok(lost(reason)),
    };
    match scope {
        Some(scope) if scope.key == key => args["scopeRef"] = scope.node.into(),
        // What lies in another frame than the container cannot have come in it, unless the frame lies there.
        Some(_) if !within.is_some_and(|within| within.contains(&key)) => args["nowhere"] = true.into(),
        _ => {}
    }
    let call = context.pages.look(&key, vec![Step(method, args)]).await;
    let answer = match call.and_then(|mut call| call.take::<Answers>()) {
        Ok(Answers { refs }) => refs.into_iter().next().unwrap_or_default(),
        Err(EngineError::Gone | EngineError::Silent) if key.label != 0 => {
            return Ok(lost("frame_unavailable"));
        }
        Err(error) => return Err(context.engine(&error, Phase::Preflight)),
    };
    if let Some(reason) = answer.lost {
        return Ok(lost(&reason));
    }
    let node = answer.node.unwrap_or(wanted.node);
    let reference = Ref { revision: Some(now), frame: key.label, node };
    let status = if answer.preserved { ReferenceStatus::Preserved } else { ReferenceStatus::Relocated };
    Ok(ReferenceNow {
        status,
        reference: Some(reference.to_string()),
        role: answer.role,
        label: answer.label,
        matched_by: (!answer.preserved).then(|| MATCHED_BY.to_owned()),
        reason: None,
        ..lost("")
    })
}
