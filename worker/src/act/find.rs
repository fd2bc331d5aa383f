//! From a locator to exactly one element, or to an error that says what there is (contract 4.2).

use std::collections::HashSet;

use glass_proto::error::{Candidate, ErrorKind, OpError, Phase, Recovery};
use glass_proto::op::Locator;
use glass_proto::op::Ref;
use glass_proto::op::locator::Step as LocatorStep;
use serde::Deserialize;
use serde_json::{Value, json};

use super::evidence::Info;
use super::frame::frame_gone;
use super::locator::{engine_locator, meant, numbered};
use crate::context::Context;
use crate::page::{Changes, Check, EngineError, FrameKey, Step, reference};

/// Documents in a row that are looked at when each is replaced meanwhile.
const LOOKS: usize = 4;
/// Part of the time that asking for closed roots and listeners may take.
const REVEAL: f64 = 0.3;

/// An element that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The document that it is in.
    pub key: FrameKey,
    /// Its number there.
    pub node: u32,
    /// The ref that named it, when one did.
    pub by_ref: Option<Ref>,
    /// The frame's count that the ref was given at, where it is known.
    pub as_of: Option<u64>,
}

impl Found {
    /// Its ref as clients see it.
    pub fn reference(&self) -> String {
        reference(&self.key, self.node)
    }
}

/// A look at all frames, and what a locator fits in them.
#[derive(Debug)]
pub struct Looked {
    /// The revision and what changed.
    pub changes: Changes,
    /// Per frame that answered.
    pub matches: Vec<(FrameKey, Matches)>,
    /// What the main frame's document says of itself.
    pub info: Info,
    /// Child frames that were to be looked into and did not answer.
    pub unread: usize,
}

/// What a locator fits in one frame.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Matches {
    /// Visible elements.
    pub total: u64,
    /// Hidden ones.
    pub hidden_total: u64,
    /// Visible ones that pass the test of the look, where it has one.
    pub good: u64,
    /// The first of them.
    pub matches: Vec<Match>,
    /// Why a ref names nothing.
    pub stale: Option<Stale>,
}

/// One element that fits.
#[derive(Clone, Debug, Deserialize)]
pub struct Match {
    /// Its number.
    #[serde(rename = "ref")]
    pub node: u32,
    /// Its role.
    #[serde(default)]
    pub role: String,
    /// Its name.
    #[serde(default)]
    pub label: String,
    /// Whether a person can see it.
    #[serde(default)]
    pub visible: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// Why a ref names nothing any more.
#[derive(Clone, Debug, Deserialize)]
pub struct Stale {
    /// detached, replaced, changed, or unknown.
    pub reason: String,
    /// What could be meant.
    #[serde(default)]
    pub candidates: Vec<StaleCandidate>,
}

/// An element that a stale ref may have become.
#[derive(Clone, Debug, Deserialize)]
pub struct StaleCandidate {
    /// Its number.
    #[serde(rename = "ref")]
    pub node: Option<u32>,
    /// Its role.
    #[serde(default)]
    pub role: String,
    /// Its name.
    #[serde(default)]
    pub label: String,
}

/// What a look for elements asks beside which.
#[derive(Clone, Debug, Default)]
pub(super) struct Ask {
    /// Hidden elements too, even where visible ones fit.
    pub hidden: bool,
    /// Elements listed of each frame.
    pub limit: u32,
    /// What the visible ones are tested for, in the engine's words.
    pub test: Option<Value>,
}

impl Ask {
    fn args(&self, locator: &Value) -> Value {
        let Self { hidden, limit, test } = self;
        json!({ "locator": locator, "limit": limit, "includeHidden": hidden, "test": test })
    }
}

/// Brings the revision up to date and looks for `step` in every frame of the target, in one call a frame.
///
/// # Errors
/// When the main frame cannot be asked.
pub async fn look(
    context: &Context,
    step: Option<&LocatorStep>,
    include_hidden: bool,
    limit: u32,
) -> Result<Looked, OpError> {
    let known = context.pages.has_internals(&context.target);
    if known {
        context.pages.tell_internals(&context.target, context.left().mul_f64(REVEAL)).await;
    }
    let looked = look_until_steady(context, step, include_hidden, limit).await?;
    if known || !context.pages.has_internals(&context.target) {
        return Ok(looked);
    }
    context.pages.tell_internals(&context.target, context.left().mul_f64(REVEAL)).await;
    look_until_steady(context, step, include_hidden, limit).await
}

async fn look_until_steady(
    context: &Context,
    step: Option<&LocatorStep>,
    include_hidden: bool,
    limit: u32,
) -> Result<Looked, OpError> {
    look_for(context, step, &Ask { hidden: include_hidden, limit, test: None }).await
}

async fn look_for(context: &Context, step: Option<&LocatorStep>, ask: &Ask) -> Result<Looked, OpError> {
    // A document that is replaced while it is looked at is nobody's fault: the new one is looked at.
    for _ in 0..LOOKS {
        match look_once(context, step, ask).await {
            Err(error) if error.reason.as_deref() == Some("navigated") && !context.left().is_zero() => {}
            looked => return looked,
        }
    }
    look_once(context, step, ask).await
}

async fn look_once(context: &Context, step: Option<&LocatorStep>, ask: &Ask) -> Result<Looked, OpError> {
    let pages = &context.pages;
    let keys = pages.state().target(&context.target).map(crate::page::Target::keys).unwrap_or_default();
    let locator = step.and_then(|step| engine_locator(context, step));
    if locator.is_some() && keys.len() > 1 {
        pages.place_frames(&context.target).await;
    }
    if let (Some(_), Some(frame)) = (&locator, context.frame())
        && !keys.contains(&frame)
    {
        return Err(frame_gone(&frame));
    }
    let looks = keys.iter().map(|key| {
        let mut steps = vec![Step("check", json!({}))];
        if key.label == 0 {
            steps.push(Step("info", json!({})));
        }
        if let Some(locator) = locator.as_ref().filter(|_| context.looks_into(key)) {
            steps.push(Step("locate", ask.args(locator)));
        }
        async move {
            let mut call = pages.look(key, steps).await?;
            let check: Check = call.take()?;
            let info = if key.label == 0 { Some(call.take::<Info>()?) } else { None };
            let matches = if call.has_more() { Some(call.take::<Matches>()?) } else { None };
            Ok::<_, EngineError>((check, info, matches))
        }
    });
    let looks = futures_util::future::join_all(looks).await;
    let mut reports = Vec::new();
    let mut matches = Vec::new();
    let mut main = Info::default();
    let mut unread = 0;
    for (key, look) in keys.into_iter().zip(looks) {
        match look {
            Ok((check, info, found)) => {
                main = info.unwrap_or(main);
                reports.push((key.clone(), check));
                matches.extend(found.map(|found| (key, found)));
            }
            Err(EngineError::Engine { kind, .. }) if kind == "invalid_locator" => {
                return Err(unparsed());
            }
            // The page itself, or the frame that was asked for.
            Err(error)
                if key.label == 0 || (locator.is_some() && context.frame().is_some_and(|own| own == key)) =>
            {
                return Err(context.engine(&error, Phase::TargetResolution));
            }
            Err(error) => {
                unread += usize::from(context.looks_into(&key) && pages.may_hold(&key));
                tracing::debug!(%error, "a frame did not answer");
            }
        }
    }
    pages.note_info(&context.target, &main.url, &main.title);
    hide_unseen(context, &reports, &mut matches);
    Ok(Looked { changes: pages.take_reports(&context.target, &reports), matches, info: main, unread })
}

/// What lies in a frame that nobody sees is hidden, whatever its own document says.
fn hide_unseen(context: &Context, reports: &[(FrameKey, Check)], matches: &mut [(FrameKey, Matches)]) {
    let unseen: HashSet<u32> = reports.iter().flat_map(|(_, check)| check.unseen()).collect();
    if unseen.is_empty() {
        return;
    }
    let state = context.pages.state();
    let Some(unseen) = state.target(&context.target).map(|target| target.with_inner(&unseen)) else { return };
    for (_, found) in matches.iter_mut().filter(|(key, _)| unseen.contains(&key.label)) {
        found.hidden_total += std::mem::take(&mut found.total);
        found.good = 0;
        for one in &mut found.matches {
            one.visible = false;
            one.reason.get_or_insert_with(|| "not_visible".to_owned());
        }
    }
}

fn unparsed() -> OpError {
    OpError::invalid(
        "the selector cannot be parsed by the browser",
        "check its brackets and quotes; css= takes what querySelectorAll takes, xpath= what document.evaluate takes",
    )
}

/// Everything that a locator fits, with its containers resolved.
///
/// # Errors
/// A container that fits nothing or more than one element; see [`look`].
pub async fn locate_all(
    context: &Context,
    locator: &Locator,
    include_hidden: bool,
    limit: u32,
) -> Result<Looked, OpError> {
    locate_for(context, locator, &Ask { hidden: include_hidden, limit, test: None }).await
}

/// The same, with a test of the elements.
///
/// # Errors
/// See [`locate_all`].
pub(super) async fn locate_for(context: &Context, locator: &Locator, ask: &Ask) -> Result<Looked, OpError> {
    locate_meant(context, &meant(context, locator)?, ask).await
}

async fn locate_meant(context: &Context, locator: &Locator, ask: &Ask) -> Result<Looked, OpError> {
    let looked = locate_once(context, locator, ask).await;
    let nothing = match &looked {
        Ok(looked) => looked.matches.iter().all(|(_, matches)| matches.total == 0),
        Err(error) => error.kind == ErrorKind::TargetNotFound,
    };
    if !nothing || matches!(locator.step, LocatorStep::Ref(_)) {
        return looked;
    }
    // It may be in a closed shadow root, or a row by its listener alone.
    if !context.pages.reveal(&context.target, context.left().mul_f64(REVEAL)).await {
        return looked;
    }
    locate_once(context, locator, ask).await
}

async fn locate_once(context: &Context, locator: &Locator, ask: &Ask) -> Result<Looked, OpError> {
    let Some((first, rest)) = locator.scopes.split_first() else {
        if let LocatorStep::Ref(wanted) = &locator.step {
            let looked = look(context, None, false, ask.limit).await?;
            let (_, matches) = one_by_ref(context, *wanted, ask).await?;
            return Ok(Looked { matches, ..looked });
        }
        return look_for(context, Some(&locator.step), ask).await;
    };
    let few = Ask { hidden: false, limit: 8, test: None };
    let looked = look_for(context, Some(first), &few).await?;
    let mut scope = match first {
        LocatorStep::Ref(wanted) => one_by_ref(context, *wanted, &few).await?.0,
        _ => one(&looked.matches, looked.unread)?,
    };
    for step in rest {
        let (matches, unread) = within(context, &scope, step, &few).await?;
        scope = one(&matches, unread)?;
    }
    let (matches, unread) = within(context, &scope, &locator.step, ask).await?;
    Ok(Looked { matches, unread, ..looked })
}

/// What a step fits inside a container: in its own document, and in the frames that lie in it; and how many of these
/// did not answer.
async fn within(
    context: &Context,
    scope: &Found,
    step: &LocatorStep,
    ask: &Ask,
) -> Result<(Vec<(FrameKey, Matches)>, usize), OpError> {
    let locator = engine_locator(context, step).ok_or_else(|| {
        OpError::invalid(
            "a ref names its element by itself and takes no container",
            "leave out what stands before `>>`",
        )
    })?;
    let mut args = ask.args(&locator);
    let inner = frames_in(context, scope).await?;
    let reads = inner.iter().map(|key| {
        let step = Step("locate", args.clone());
        async move { context.pages.look(key, vec![step]).await?.take::<Matches>() }
    });
    let reads = futures_util::future::join_all(reads).await;
    args["scopeRef"] = scope.node.into();
    let call = context.pages.run(&scope.key, vec![Step("locate", args)]).await;
    let own = call.and_then(|mut call| call.take()).map_err(|error| match error {
        EngineError::Engine { kind, .. } if kind == "invalid_locator" => unparsed(),
        error => context.engine(&error, Phase::TargetResolution),
    })?;
    let mut found = vec![(scope.key.clone(), own)];
    let mut unread = 0;
    for (key, read) in inner.into_iter().zip(reads) {
        match read {
            Ok(matches) => found.push((key, matches)),
            Err(error) => {
                unread += usize::from(context.pages.may_hold(&key));
                tracing::debug!(%error, "a frame did not answer");
            }
        }
    }
    Ok((found, unread))
}

#[derive(Deserialize)]
struct FramesIn {
    labels: Vec<String>,
}

/// Documents of the frames whose elements lie in a container, and those below them.
///
/// # Errors
/// When the container cannot be asked.
pub async fn frames_in(context: &Context, scope: &Found) -> Result<Vec<FrameKey>, OpError> {
    let below: Vec<FrameKey> = {
        let state = context.pages.state();
        let Some(target) = state.target(&context.target) else { return Ok(Vec::new()) };
        let is_below = |key: &FrameKey| {
            key.frame != scope.key.frame && target.chain(&key.frame).contains(&scope.key.frame)
        };
        target.keys().into_iter().filter(is_below).collect()
    };
    if below.is_empty() {
        return Ok(below);
    }
    context.pages.place_frames(&context.target).await;
    let call = context.pages.run(&scope.key, vec![Step("framesIn", json!({ "ref": scope.node }))]).await;
    let inside: FramesIn = call
        .and_then(|mut call| call.take())
        .map_err(|error| context.engine(&error, Phase::TargetResolution))?;
    let state = context.pages.state();
    let Some(target) = state.target(&context.target) else { return Ok(Vec::new()) };
    let tops: Vec<&str> = below
        .iter()
        .filter(|key| inside.labels.iter().any(|label| *label == format!("f{}", key.label)))
        .map(|key| key.frame.as_str())
        .collect();
    let under_one = |key: &FrameKey| target.chain(&key.frame).iter().any(|id| tops.contains(&id.as_str()));
    Ok(below.iter().filter(|key| under_one(key)).cloned().collect())
}

/// The element that the call's `scope` names, for operations that are about all that lies in it.
///
/// # Errors
/// See [`find`].
pub async fn find_scope(context: &Context) -> Result<Option<(Found, Looked)>, OpError> {
    let Some(scope) = &context.options.scope else { return Ok(None) };
    find_meant(context, &numbered(context, scope.clone())?).await.map(Some)
}

/// The one element that a locator means, and the revision that was found on the way.
///
/// # Errors
/// `target_not_found`, `ambiguous_target`, `stale_reference`, each with candidates.
pub async fn find(context: &Context, locator: &Locator) -> Result<(Found, Looked), OpError> {
    find_meant(context, &meant(context, locator)?).await
}

async fn find_meant(context: &Context, locator: &Locator) -> Result<(Found, Looked), OpError> {
    if let (true, LocatorStep::Ref(wanted)) = (locator.scopes.is_empty(), &locator.step) {
        let looked = look(context, None, false, 8).await?;
        let (found, matches) = one_by_ref(context, *wanted, &Ask::default()).await?;
        return Ok((found, Looked { matches, ..looked }));
    }
    let looked = locate_meant(context, locator, &Ask { hidden: false, limit: 8, test: None }).await?;
    Ok((one(&looked.matches, looked.unread)?, looked))
}

/// As [`find`], where what was looked at is of interest too when it is not the one element.
///
/// # Errors
/// Those of the look, of a container and of a ref; that of the element itself stands inside.
pub async fn find_among(
    context: &Context,
    locator: &Locator,
) -> Result<(Result<Found, OpError>, Looked), OpError> {
    let locator = meant(context, locator)?;
    if locator.scopes.is_empty() && matches!(locator.step, LocatorStep::Ref(_)) {
        let (found, looked) = find_meant(context, &locator).await?;
        return Ok((Ok(found), looked));
    }
    let looked = locate_meant(context, &locator, &Ask { hidden: false, limit: 8, test: None }).await?;
    Ok((one(&looked.matches, looked.unread), looked))
}

/// The one element that a locator means, where hidden ones count as much as visible ones (contract 4.2).
///
/// # Errors
/// See [`find`].
pub async fn find_attached(context: &Context, locator: &Locator) -> Result<(Found, Looked), OpError> {
    let locator = meant(context, locator)?;
    if locator.scopes.is_empty() && matches!(locator.step, LocatorStep::Ref(_)) {
        return find_meant(context, &locator).await;
    }
    let looked = locate_meant(context, &locator, &Ask { hidden: true, limit: 8, test: None }).await?;
    let attached: u64 = looked.matches.iter().map(|(_, matches)| matches.total + matches.hidden_total).sum();
    if attached == 1
        && let Some((key, node)) = looked
            .matches
            .iter()
            .find_map(|(key, matches)| matches.matches.first().map(|found| (key.clone(), found.node)))
    {
        return Ok((Found { key, node, by_ref: None, as_of: None }, looked));
    }
    if attached == 0 {
        return one(&looked.matches, looked.unread).map(|found| (found, looked));
    }
    Err(ambiguous(attached, "must, hidden ones counted", candidates(&looked.matches)))
}

/// The one visible element. That there is none is only known where every frame was read.
fn one(frames: &[(FrameKey, Matches)], unread: usize) -> Result<Found, OpError> {
    let total: u64 = frames.iter().map(|(_, matches)| matches.total).sum();
    if total == 1
        && let Some((key, found)) = frames.iter().find_map(|(key, matches)| {
            matches.matches.iter().find(|found| found.visible && matches.total == 1).map(|found| (key, found))
        })
    {
        return Ok(Found { key: key.clone(), node: found.node, by_ref: None, as_of: None });
    }
    let hidden: u64 = frames.iter().map(|(_, matches)| matches.hidden_total).sum();
    if total == 0 {
        let message = match hidden {
            0 => "nothing on the page fits the locator".to_owned(),
            n => format!(
                "nothing visible fits the locator; {n} hidden element{} would",
                if n == 1 { "" } else { "s" }
            ),
        };
        let remedy =
            "observe shows what there is; names are compared exactly, name=~part finds a part of one";
        let error = OpError::rejected(ErrorKind::TargetNotFound, Phase::TargetResolution, message, remedy)
            .with_candidates(candidates(frames))
            .detail("total", 0)
            .detail("hidden", hidden);
        if unread == 0 {
            return Err(error);
        }
        let mut error = error.reason("frame_unavailable").detail("framesUnread", unread);
        error.message = format!(
            "nothing visible fits the locator in what could be read; {unread} frame{} did not answer",
            if unread == 1 { "" } else { "s" }
        );
        return Err(error);
    }
    Err(ambiguous(total, "must", candidates(frames)))
}

/// The error of several elements where one is wanted; `must` is the end of its message.
pub(super) fn ambiguous(total: u64, must: &str, candidates: Vec<Candidate>) -> OpError {
    OpError::rejected(
        ErrorKind::AmbiguousTarget,
        Phase::TargetResolution,
        format!("{total} elements fit the locator, and one {must}"),
        "use the ref of the one that is meant, or narrow it: CONTAINER >> LOCATOR",
    )
    .with_candidates(candidates)
    .detail("total", total)
}

/// The elements of a look as candidates.
pub fn candidates(frames: &[(FrameKey, Matches)]) -> Vec<Candidate> {
    let rows = frames.iter().flat_map(|(key, matches)| matches.matches.iter().map(move |found| (key, found)));
    rows.map(|(key, found)| Candidate {
        reference: reference(key, found.node),
        role: found.role.clone(),
        label: found.label.clone(),
        frame: (key.label != 0).then(|| format!("f{}", key.label)),
        reason: if found.visible {
            None
        } else {
            Some(found.reason.clone().unwrap_or_else(|| "not_visible".to_owned()))
        },
    })
    .collect()
}

async fn one_by_ref(
    context: &Context,
    wanted: Ref,
    ask: &Ask,
) -> Result<(Found, Vec<(FrameKey, Matches)>), OpError> {
    let named = context.options.frame_id.is_some() || !context.options.frame.is_empty();
    if named && context.frame().is_some_and(|frame| frame.label != wanted.frame) {
        return Err(OpError::invalid(
            "the ref is of another frame than the one that is named beside it",
            "a ref names its frame by itself: leave --frame out",
        ));
    }
    let known = {
        let state = context.pages.state();
        let target = state.target(&context.target);
        target.and_then(|target| {
            let key = target.keys().into_iter().find(|key| key.label == wanted.frame)?;
            let as_of = wanted.revision.and_then(|revision| target.revisions.seq_at(revision, &key));
            let before = wanted.revision.is_some_and(|revision| revision > target.revisions.number);
            Some((key, as_of, before))
        })
    };
    let Some((key, as_of, from_the_future)) = known else {
        return Err(stale(context, wanted, "navigated", Vec::new()));
    };
    if from_the_future {
        return Err(OpError::invalid(
            "the ref names a revision that this page never had",
            "use a ref that observe printed",
        ));
    }
    if context.pages.is_of_old_document(&key, wanted.node) {
        return Err(stale(context, wanted, "navigated", Vec::new()));
    }
    let mut locator = json!({ "kind": "ref", "ref": wanted.node });
    if let Some(seq) = as_of {
        locator["asOf"] = seq.into();
    }
    let call = context.pages.run(&key, vec![Step("locate", ask.args(&locator))]).await;
    let matches: Matches = call
        .and_then(|mut call| call.take())
        .map_err(|error| context.engine(&error, Phase::TargetResolution))?;
    if let Some(found) = &matches.stale {
        if found.reason == "unknown" {
            return Err(OpError::rejected(
                ErrorKind::TargetNotFound,
                Phase::TargetResolution,
                format!("no ref {wanted} was ever given out for this page"),
                "use a ref that observe printed",
            )
            .reason("unknown_ref"));
        }
        return Err(stale_error(context, &key, wanted, found));
    }
    let found = Found { key: key.clone(), node: wanted.node, by_ref: Some(wanted), as_of };
    Ok((found, vec![(key, matches)]))
}

/// A ref that names nothing any more (contract 3.5).
pub fn stale_error(context: &Context, key: &FrameKey, wanted: Ref, found: &Stale) -> OpError {
    let candidates = found.candidates.iter().filter_map(|candidate| {
        Some(Candidate {
            reference: reference(key, candidate.node?),
            role: candidate.role.clone(),
            label: candidate.label.clone(),
            frame: (key.label != 0).then(|| format!("f{}", key.label)),
            reason: None,
        })
    });
    stale(context, wanted, &found.reason, candidates.collect())
}

fn stale(context: &Context, wanted: Ref, reason: &str, candidates: Vec<Candidate>) -> OpError {
    let what = match reason {
        "navigated" => "its document is not shown any more",
        "replaced" => {
            "its element was taken out of the page and one like it was put in; the page did not navigate"
        }
        "changed" => "its element has become something else",
        _ => "its element is not in the page any more",
    };
    let mut error = OpError::rejected(
        ErrorKind::StaleReference,
        Phase::TargetResolution,
        format!("{wanted} names nothing any more: {what}"),
        "observe gives the refs of what is there now; reconcile-references says what became of old ones",
    )
    .reason(reason)
    .with_candidates(candidates);
    error.recovery = Some(Recovery {
        suggestion: "reconcileReferences".to_owned(),
        from_revision: wanted.revision.or_else(|| last_seen(context)),
        stale_ref: wanted.to_string(),
    });
    error
}

/// The revision that this client saw last: the one that a ref without its own is of.
fn last_seen(context: &Context) -> Option<u64> {
    let state = context.pages.state();
    state.target(&context.target)?.observed.rows(&context.client)?.first()?.revision
}

impl crate::page::Pages {
    /// Whether a number was given out for a document that this frame showed before.
    pub(crate) fn is_of_old_document(&self, key: &FrameKey, node: u32) -> bool {
        self.state().target(&key.target).is_some_and(|target| node < target.first_ref(&key.frame))
    }
}
