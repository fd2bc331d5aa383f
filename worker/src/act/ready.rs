//! Until an element can be acted on: one check in the page, one retry loop, and the guard that goes with the press.

use std::time::Duration;

use glass_proto::error::{Candidate, ErrorKind, OpError, Phase};
use glass_proto::op::{GuardScope, Locator, Point};
use glass_proto::result::Hit;
use serde::Deserialize;
use serde_json::{Value, json};

use super::find::{Found, Stale, find, stale_error};
use crate::context::Context;
use crate::page::{Blocker, Changes, Check, EngineError, FrameKey, Mapped, Step, reference};

/// Pauses between checks: the first come soon, since most pages settle soon.
const PAUSES: [u64; 6] = [0, 20, 50, 100, 100, 200];

/// An element that can be acted on, with its guard armed.
#[derive(Clone, Debug)]
pub struct Aim {
    /// The element.
    pub found: Found,
    /// Where to press, in the page's viewport. None where nothing is pressed.
    pub point: Option<(f64, f64)>,
    /// Role and name.
    pub label: String,
    /// Its role.
    pub role: String,
    /// State of a check box and the like: true, false or mixed.
    pub checked: Option<Checked>,
}

/// State of a check box, radio button or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Checked {
    /// On or off.
    Is(bool),
    /// Neither.
    Mixed(Mixed),
}

/// The one word for a check box that is neither on nor off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mixed {
    /// Neither.
    Mixed,
}

/// What the element is needed for.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    /// The engine's word: click, fill, hover, none.
    pub word: &'a str,
    /// Events that the guard looks at.
    pub guarded: &'a [&'a str],
    /// Where in the element, when a caller says so.
    pub position: Option<Point>,
}

/// What a guard saw.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Guarded events.
    pub seen: u64,
    /// A click reached the target.
    pub landed: bool,
    /// A double click reached the target.
    pub doubled: bool,
    /// The page took the target out when it was pressed, and put none like it there.
    pub left: bool,
    /// The target opened or closed what it stands for when it was pressed, and no click came.
    #[serde(default)]
    pub answered: bool,
    /// Of those, kept from the page.
    pub stopped: u64,
    /// What received the first of them.
    pub hit: Option<Blocker>,
    /// What would have received one that was stopped.
    pub wrong: Option<Blocker>,
    /// What received a drop.
    pub dropped: Option<Blocker>,
    /// The page took the first of them for itself.
    #[serde(default)]
    pub prevented: bool,
    /// Names of the events seen.
    pub types: Vec<String>,
    /// The same as a client sees it, of whichever frame.
    #[serde(skip)]
    pub would_hit: Option<Candidate>,
}

impl Report {
    /// The element that received a drop, as evidence.
    pub fn drop_target(&self, key: &FrameKey) -> Option<Hit> {
        let hit = self.dropped.as_ref()?;
        Some(Hit { reference: reference(key, hit.node?), role: hit.role.clone(), label: hit.label.clone() })
    }

    /// The element that received the input, as evidence.
    pub fn hit_target(&self, key: &FrameKey) -> Option<Hit> {
        let hit = self.hit.as_ref()?;
        Some(Hit { reference: reference(key, hit.node?), role: hit.role.clone(), label: hit.label.clone() })
    }
}

#[derive(Debug, Deserialize)]
struct Prepared {
    status: String,
    point: Option<[f64; 2]>,
    row: Option<Row>,
    reason: Option<String>,
    blocker: Option<Blocker>,
    stale: Option<Stale>,
    checked: Option<Checked>,
}

#[derive(Debug, Deserialize)]
struct Row {
    role: String,
    #[serde(default)]
    label: String,
}

#[derive(Debug, Deserialize)]
struct Seen {
    role: String,
    #[serde(default)]
    label: String,
    rect: Option<[f64; 4]>,
}

#[derive(Debug, Deserialize)]
struct RegionChanged {
    known: bool,
    changed: bool,
}

enum Attempt {
    Ready(Box<Aim>, Changes),
    NotYet { reason: String, blocker: Option<Candidate> },
    Stale(Box<OpError>),
}

/// Retries until the element can be acted on, then leaves its guard armed in every frame of the target.
///
/// # Errors
/// Those of [`find`]; `not_actionable` with the last reason at the deadline; `stale_revision` under a guard.
pub async fn ready(
    context: &Context,
    locator: &Locator,
    first: Found,
    need: Need<'_>,
) -> Result<(Aim, Changes), OpError> {
    let mut found = first;
    let mut log = Log::default();
    let mut attempt = 0_usize;
    loop {
        match check(context, &found, need, attempt).await? {
            Attempt::Ready(aim, changes) => return Ok((*aim, changes)),
            Attempt::NotYet { reason, blocker } => log.note(reason, blocker),
            // A ref names one node and nothing else; any other locator is looked up anew.
            Attempt::Stale(error) if found.by_ref.is_some() => return Err(*error),
            Attempt::Stale(_) => {
                log.note("detached".to_owned(), None);
                found = find(context, locator).await?.0;
            }
        }
        let pause = Duration::from_millis(PAUSES.get(attempt).copied().unwrap_or(500));
        if context.left() <= pause {
            return Err(log.give_up(&found));
        }
        tokio::time::sleep(pause).await;
        attempt += 1;
    }
}

/// The reasons that were met, the last one first in the message.
#[derive(Default)]
struct Log {
    reasons: Vec<(String, u32)>,
    blocker: Option<Candidate>,
}

impl Log {
    fn note(&mut self, reason: String, blocker: Option<Candidate>) {
        self.blocker = blocker;
        match self.reasons.last_mut() {
            Some((last, count)) if *last == reason => *count += 1,
            _ => self.reasons.push((reason, 1)),
        }
    }

    fn give_up(self, found: &Found) -> OpError {
        let last = self.reasons.last().map_or("not_visible", |(reason, _)| reason.as_str()).to_owned();
        let what = match last.as_str() {
            "hit_test_blocked" => match &self.blocker {
                Some(blocker) => format!("it is covered by {} [{}]", blocker.role, blocker.reference),
                None => "it is covered, or a press goes through it to what it lies in".to_owned(),
            },
            "disabled" => "it is disabled or inert".to_owned(),
            "not_visible" => "it is not visible".to_owned(),
            "unstable_geometry" | "geometry_changed" => "it does not stand still".to_owned(),
            "outside_viewport" => "it cannot be scrolled into view".to_owned(),
            "not_editable" => "it is no field that text can be put into, or it is read-only".to_owned(),
            _ => "it left the page while it was waited for".to_owned(),
        };
        let trace = self.reasons.iter().rev().take(4).map(|(reason, count)| format!("{count} × {reason}"));
        let trace: Vec<_> = trace.collect();
        OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            format!("{} cannot be acted on: {what}; nothing was sent", found.reference()),
            "observe the page; wait for what is in the way to go, or act on that first",
        )
        .reason(last)
        .detail("checks", trace)
        .with_candidates(self.blocker.into_iter().collect())
    }
}

async fn check(context: &Context, found: &Found, need: Need<'_>, attempt: usize) -> Result<Attempt, OpError> {
    let pages = &context.pages;
    let key = &found.key;
    let nested = key.label != 0;
    if nested {
        // Mapping a point to the page asks each parent for the element that holds the frame.
        pages.place_frames(&context.target).await;
        let scrolled = if attempt == 0 { Ok(()) } else { pages.scroll_frames(key, attempt).await };
        scrolled.map_err(|error| context.engine(&error, Phase::Preflight))?;
    }
    arm_others(context, key, need.guarded).await;
    let mut prepare = json!({ "ref": found.node, "need": need.word, "attempt": attempt });
    if let Some(position) = need.position {
        prepare["position"] = json!(position);
    }
    if let Some(seq) = found.as_of {
        prepare["asOf"] = seq.into();
    }
    let mut steps = vec![Step("prepare", prepare), Step("check", json!({}))];
    let region = context.options.guard_scope == Some(GuardScope::Region);
    if let (true, Some(expected)) = (region, context.options.expected_revision) {
        let seq = pages
            .state()
            .target(&context.target)
            .and_then(|target| target.revisions.seq_at(expected.get(), key));
        steps.push(Step("regionChanged", json!({ "ref": found.node, "seq": seq })));
    }
    steps.push(Step("arm", json!({ "token": context.token, "ref": found.node, "kinds": need.guarded })));
    context.undo(|undo| undo.arm(key));
    let mut call = match pages.run(key, steps).await {
        Ok(call) => call,
        Err(EngineError::Gone) => {
            return Ok(Attempt::Stale(Box::new(context.engine(&EngineError::Gone, Phase::TargetResolution))));
        }
        Err(error) => return Err(context.engine(&error, Phase::Preflight)),
    };
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let prepared: Prepared = match call.take() {
        Err(EngineError::Engine { kind, .. }) if kind == "outside_element" => {
            return Err(OpError::invalid(
                "the position lies outside the element",
                "it counts CSS pixels from the element's top left; observe --boxes shows its size",
            ));
        }
        Err(EngineError::Engine { kind, .. }) if kind == "closed_option" => {
            return Err(OpError::rejected(
                ErrorKind::NotActionable,
                Phase::Preflight,
                "it is an option of a closed list, which opens outside the page",
                "choose it with select LIST --label TEXT",
            )
            .reason("not_visible"));
        }
        prepared => prepared.map_err(fault)?,
    };
    match prepared.status.as_str() {
        "stale" => {
            let stale = prepared
                .stale
                .unwrap_or(Stale { reason: prepared.reason.unwrap_or_default(), candidates: Vec::new() });
            let wanted = found.by_ref.unwrap_or(glass_proto::op::Ref {
                revision: None,
                frame: key.label,
                node: found.node,
            });
            return Ok(Attempt::Stale(Box::new(stale_error(context, key, wanted, &stale))));
        }
        "ready" => {}
        _ => {
            let reason = prepared.reason.unwrap_or_else(|| "node_unavailable".to_owned());
            return Ok(Attempt::NotYet {
                reason,
                blocker: prepared.blocker.and_then(|blocker| candidate(key, blocker)),
            });
        }
    }
    let report: Check = call.take().map_err(fault)?;
    let changes = pages.take_reports(&context.target, &[(key.clone(), report)]);
    let region_changed = if region && context.options.expected_revision.is_some() {
        let found: RegionChanged = call.take().map_err(fault)?;
        Some(!found.known || found.changed)
    } else {
        None
    };
    let wider = nested || context.options.guard_scope == Some(GuardScope::Page);
    if wider && context.options.expected_revision.is_some() {
        pages.sync(&context.target).await.map_err(fault)?;
    }
    guard_revision(context, Some(key), &changes, region_changed)?;
    let point = match prepared.point {
        None => None,
        Some([x, y]) if !nested => Some((x, y)),
        Some([x, y]) => match pages.to_page(key, (x, y)).await {
            Ok(Mapped::At(x, y)) => Some((x, y)),
            Ok(Mapped::Blocked { frame, blocker }) => {
                let reason = if blocker.is_some() { "hit_test_blocked" } else { "outside_viewport" };
                let blocker = blocker.and_then(|blocker| candidate(&frame, blocker));
                return Ok(Attempt::NotYet { reason: reason.to_owned(), blocker });
            }
            Err(EngineError::Gone) => {
                return Ok(Attempt::NotYet { reason: "node_unavailable".to_owned(), blocker: None });
            }
            Err(error) => return Err(context.engine(&error, Phase::Preflight)),
        },
    };
    let checked = prepared.checked;
    let (role, label) = prepared.row.map_or_else(Default::default, |row| (row.role, row.label));
    Ok(Attempt::Ready(Box::new(Aim { found: found.clone(), point, label, role, checked }), changes))
}

/// An element as it is, without a press.
#[derive(Clone, Debug)]
pub struct Sight {
    /// Its role.
    pub role: String,
    /// Its name.
    pub label: String,
    /// Left, top, width and height in its frame's viewport.
    pub rect: Option<[f64; 4]>,
    /// Why it cannot be acted on as it is.
    pub reason: Option<String>,
    /// What lies over it.
    pub blocker: Option<Candidate>,
}

/// One look at whether an element can be acted on: nothing is scrolled, nothing is armed.
///
/// # Errors
/// A stale ref, a document that went.
pub async fn glance(context: &Context, found: &Found, need: &str) -> Result<Sight, OpError> {
    let fault = |error: EngineError| context.engine(&error, Phase::Preflight);
    let key = &found.key;
    let mut args = json!({ "ref": found.node, "need": need, "scroll": false });
    if let Some(seq) = found.as_of {
        args["asOf"] = seq.into();
    }
    let steps = vec![Step("sight", args.clone()), Step("prepare", args)];
    let mut call = context.pages.run(key, steps).await.map_err(fault)?;
    let seen: Seen = call.take().map_err(fault)?;
    let prepared: Prepared = call.take().map_err(fault)?;
    let mut sight =
        Sight { role: seen.role, label: seen.label, rect: seen.rect, reason: None, blocker: None };
    if prepared.status != "ready" {
        sight.reason = Some(prepared.reason.unwrap_or_else(|| "node_unavailable".to_owned()));
        sight.blocker = prepared.blocker.and_then(|blocker| candidate(key, blocker));
        return Ok(sight);
    }
    if let (Some([x, y]), true) = (prepared.point, key.label != 0) {
        context.pages.place_frames(&context.target).await;
        if let Mapped::Blocked { frame, blocker } = context.pages.to_page(key, (x, y)).await.map_err(fault)? {
            let covered = blocker.is_some();
            sight.reason = Some(if covered { "hit_test_blocked" } else { "outside_viewport" }.to_owned());
            sight.blocker = blocker.and_then(|blocker| candidate(&frame, blocker));
        }
    }
    Ok(sight)
}

/// What stands in the way, as a client sees it.
pub fn candidate(key: &FrameKey, blocker: Blocker) -> Option<Candidate> {
    Some(Candidate {
        reference: reference(key, blocker.node?),
        role: blocker.role,
        label: blocker.label,
        frame: (key.label != 0).then(|| format!("f{}", key.label)),
        reason: Some("covers".to_owned()),
    })
}

/// Every other frame of the target stops all guarded input: none of it is meant for them (DESIGN 7).
async fn arm_others(context: &Context, key: &FrameKey, kinds: &[&str]) {
    let others: Vec<FrameKey> = {
        let state = context.pages.state();
        let keys = state.target(&context.target).map(crate::page::Target::keys).unwrap_or_default();
        keys.into_iter().filter(|other| other.frame != key.frame).collect()
    };
    if others.is_empty() {
        return;
    }
    context.undo(|undo| others.iter().for_each(|other| undo.arm(other)));
    let arming = others.iter().map(|other| {
        let step = Step("arm", json!({ "token": context.token, "ref": Value::Null, "kinds": kinds }));
        context.pages.run(other, vec![step])
    });
    // A frame that does not answer in time is not waited for: it cannot be told, and the hit test vouches for it.
    let arming = futures_util::future::join_all(arming);
    let _ = tokio::time::timeout(Duration::from_millis(250).min(context.left()), arming).await;
}

/// Watches guarded input in every frame and stops none of it: for input that has no target.
pub async fn watch_all(context: &Context, kinds: &[&str]) {
    let keys =
        context.pages.state().target(&context.target).map(crate::page::Target::keys).unwrap_or_default();
    context.undo(|undo| keys.iter().for_each(|key| undo.arm(key)));
    let arming = keys.iter().map(|key| {
        let step =
            Step("arm", json!({ "token": context.token, "ref": Value::Null, "kinds": kinds, "watch": true }));
        context.pages.run(key, vec![step])
    });
    let arming = futures_util::future::join_all(arming);
    let _ = tokio::time::timeout(Duration::from_millis(250).min(context.left()), arming).await;
}

/// Takes the watches off: what each frame saw that saw anything.
pub async fn unwatch_all(context: &Context) -> Vec<(FrameKey, Report)> {
    let armed = context.undo(|undo| std::mem::take(&mut undo.armed));
    let step = || vec![Step("disarm", json!({ "token": context.token }))];
    let reads = armed.iter().map(|key| async {
        let answer = context.pages.run(key, step()).await;
        answer.and_then(|mut call| call.take::<Report>()).ok().map(|report| (key.clone(), report))
    });
    let limit = Duration::from_millis(250);
    let reads = futures_util::future::join_all(reads);
    let seen = tokio::time::timeout(limit, reads).await.unwrap_or_default();
    seen.into_iter().flatten().filter(|(_, report)| report.seen > 0).collect()
}

/// Takes the guards of all frames off, and answers what that of `key` saw. `None` when its document is gone.
pub async fn disarm_all(context: &Context, key: &FrameKey) -> Option<Report> {
    let armed = context.undo(|undo| std::mem::take(&mut undo.armed));
    let others = armed.into_iter().filter(|other| other.frame != key.frame).collect::<Vec<_>>();
    let step = || vec![Step("disarm", json!({ "token": context.token }))];
    let rest = futures_util::future::join_all(others.iter().map(|other| context.pages.run(other, step())));
    let own = async { context.pages.run(key, step()).await.and_then(|mut call| call.take::<Report>()).ok() };
    let (own, rest) = tokio::join!(own, tokio::time::timeout(Duration::from_millis(250), rest));
    let mut elsewhere = others.iter().zip(rest.into_iter().flatten()).filter_map(|(other, answer)| {
        let report: Report = answer.ok()?.take().ok()?;
        (report.stopped > 0).then(|| report.wrong.and_then(|wrong| candidate(other, wrong)))
    });
    own.map(|mut report| {
        report.would_hit = report.wrong.clone().and_then(|wrong| candidate(key, wrong));
        if let Some(wrong) = elsewhere.next() {
            report.stopped += 1;
            report.would_hit = report.would_hit.or(wrong);
        }
        report
    })
}

/// `expectedRevision` (contract 3.6): what counts is the target's frame and those that it lies in, its region, or all.
///
/// # Errors
/// `stale_revision` with both numbers and what changed.
pub fn guard_revision(
    context: &Context,
    key: Option<&FrameKey>,
    changes: &Changes,
    region_changed: Option<bool>,
) -> Result<(), OpError> {
    let Some(expected) = context.options.expected_revision.map(std::num::NonZeroU64::get) else {
        return Ok(());
    };
    let moved = {
        let state = context.pages.state();
        let Some(target) = state.target(&context.target) else { return Ok(()) };
        let frame = key.map_or(target.main.as_str(), |key| key.frame.as_str());
        match (context.options.guard_scope.unwrap_or_default(), region_changed) {
            (GuardScope::Page, _) => target.revisions.changed_since(expected, None),
            (GuardScope::Region, Some(changed)) => changed,
            // With no element there is no region to narrow to.
            (GuardScope::Region, None) if key.is_none() => {
                target.revisions.changed_since(expected, Some(&target.chain(frame)))
            }
            // Before the element is known nothing can be said of its region.
            (GuardScope::Region, None) => expected > target.revisions.number,
            (GuardScope::Frame, _) => target.revisions.changed_since(expected, Some(&target.chain(frame))),
        }
    };
    if !moved {
        return Ok(());
    }
    let rows: Vec<Value> =
        changes.sample.iter().map(|row| json!({ "ref": row.reference, "role": row.role })).collect();
    Err(OpError::rejected(
        ErrorKind::StaleRevision,
        Phase::Preflight,
        format!("the page is at revision {}, not {expected}; nothing was sent", changes.revision),
        "observe the page, then act with the revision that it shows",
    )
    .detail("expectedRevision", expected)
    .detail("currentRevision", changes.revision)
    .detail("changedRows", rows))
}
