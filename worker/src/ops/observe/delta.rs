//! `observeDelta`: each frame's changed rows in parallel, one list of them within its bound (contract 3.8).

use std::collections::HashSet;
use std::fmt::Write as _;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::{quoted, visible};
use glass_proto::op::ObserveDelta;
use glass_proto::result::{Delta, LeftOut, NodeChanged, NodeGone};
use serde::Deserialize;
use serde_json::json;

use super::super::begin;
use super::outline::{head, line_of};
use super::stitch::{Row, shown_ref};
use super::{MAX_ROWS, not_read};
use crate::act::{look, page_line};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, Step, frame_number};

/// What one frame's engine says.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Read {
    forgotten: bool,
    added: Vec<Row>,
    added_total: u64,
    changed: Vec<Changed>,
    changed_total: u64,
    removed: Vec<Gone>,
    removed_total: u64,
    text: bool,
    moved: u64,
    /// Labels of frames that nobody sees.
    unseen: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Changed {
    #[serde(flatten)]
    row: Row,
    #[serde(flatten)]
    was: Was,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Was {
    was_role: Option<String>,
    was_name: Option<String>,
    was_states: Option<Vec<String>>,
    was_value: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Gone {
    #[serde(rename = "ref")]
    node: u32,
    role: String,
    name: String,
}

pub(in super::super) async fn run(context: &Context, params: &ObserveDelta) -> Result<Delta, OpError> {
    begin::page(context)?;
    let since = params.since_revision.get();
    let looked = look(context, None, false, 1).await?;
    let now = looked.changes.revision;
    if since > now {
        return Err(OpError::invalid(
            "the page never had that revision",
            "use a revision that an answer about this page printed",
        ));
    }
    if !knows(context, since) {
        return Err(forgotten(now));
    }
    context.pages.place_frames(&context.target).await;
    let keys = context.readable();
    let reads = keys.iter().map(|key| read(context, key, since));
    let reads = futures_util::future::join_all(reads).await;
    let mut delta = Delta { since_revision: since, ..Delta::default() };
    let mut frames = Vec::new();
    let mut silent = Vec::new();
    for (key, answer) in keys.iter().zip(reads) {
        match answer {
            Ok((read, _)) if read.forgotten => return Err(forgotten(now)),
            Ok((read, is_new)) => frames.push((key.label, read, is_new)),
            Err(error) if key.label == 0 => return Err(context.engine(&error, Phase::Preflight)),
            Err(_) => silent.push(key),
        }
    }
    let unseen: HashSet<u32> =
        frames.iter().flat_map(|(_, read, _)| &read.unseen).filter_map(|label| frame_number(label)).collect();
    let unseen = {
        let state = context.pages.state();
        let Some(target) = state.target(&context.target) else { return Err(halted(&Halt::Closed)) };
        let unseen = target.with_inner(&unseen);
        let silent = silent.into_iter().filter(|key| !unseen.contains(&key.label));
        delta.incomplete.extend(silent.filter_map(|key| not_read(target, key)).map(|(_, left)| left));
        unseen
    };
    frames.retain(|(label, ..)| !unseen.contains(label));
    delta.page = page_line(context, now).await.map_err(|error| context.engine(&error, Phase::Preflight))?;
    for (label, read, is_new) in frames {
        take(&mut delta, label, read, is_new);
    }
    Ok(bounded(delta, params.max_bytes as usize))
}

/// What changed in one frame, and whether its document is another than at that revision.
async fn read(context: &Context, key: &FrameKey, since: u64) -> Result<(Read, bool), EngineError> {
    let seq = {
        let state = context.pages.state();
        state.target(&context.target).and_then(|target| target.revisions.seq_at(since, key))
    };
    let mut args = json!({ "maxRows": MAX_ROWS, "values": !context.hide_values });
    if let Some(seq) = seq {
        args["since"] = seq.into();
    }
    let mut call = context.pages.look(key, vec![Step("delta", args)]).await?;
    Ok((call.take()?, seq.is_none()))
}

/// Whether the documents and counts of that revision are known.
fn knows(context: &Context, revision: u64) -> bool {
    let state = context.pages.state();
    state.target(&context.target).is_some_and(|target| target.revisions.knows(revision))
}

fn forgotten(now: u64) -> OpError {
    OpError::rejected(
        ErrorKind::StaleRevision,
        Phase::Preflight,
        "what the page showed at that revision is no longer known",
        "observe shows all of it; the last 8 revisions of a page are kept",
    )
    .reason("revision_forgotten")
    .detail("currentRevision", now)
}

/// Adds what one frame says.
fn take(delta: &mut Delta, label: u32, read: Read, is_new: bool) {
    if is_new && label == 0 {
        delta.document_changed = true;
    }
    if is_new {
        delta.incomplete.push(LeftOut {
            kind: "removed".to_owned(),
            reference: (label != 0).then(|| format!("f{label}")),
            reason: Some("the document that they were in is gone".to_owned()),
            ..LeftOut::default()
        });
    }
    let totals = [
        ("added", read.added_total, read.added.len()),
        ("changed", read.changed_total, read.changed.len()),
        ("removed", read.removed_total, read.removed.len()),
    ];
    for (kind, total, told) in totals {
        leave_out(delta, kind, total.saturating_sub(told as u64));
    }
    if read.moved > 0 {
        delta.incomplete.push(LeftOut {
            kind: "order".to_owned(),
            count: Some(read.moved),
            reason: Some("rows stand in another order".to_owned()),
            hint: Some("observe shows the order".to_owned()),
            ..LeftOut::default()
        });
    }
    delta.text_changed |= read.text;
    delta.added.extend(read.added.iter().map(|row| row.node(label, row.depth())));
    delta.changed.extend(read.changed.into_iter().map(|Changed { row, was }| NodeChanged {
        node: row.node(label, 0),
        was_role: was.was_role,
        was_name: was.was_name,
        was_states: was.was_states,
        was_value: was.was_value,
    }));
    delta.removed.extend(read.removed.into_iter().map(|gone| NodeGone {
        reference: (gone.node != 0).then(|| shown_ref(label, gone.node)),
        role: gone.role,
        name: gone.name,
    }));
}

/// Counts rows that are not told, in one line a kind.
fn leave_out(delta: &mut Delta, kind: &str, count: u64) {
    if count == 0 {
        return;
    }
    let known = delta.incomplete.iter_mut().find(|left| left.kind == kind && left.count.is_some());
    match known {
        Some(left) => left.count = left.count.map(|before| before + count),
        None => delta.incomplete.push(LeftOut {
            kind: kind.to_owned(),
            count: Some(count),
            hint: Some("observe shows the page as it is now".to_owned()),
            ..LeftOut::default()
        }),
    }
}

/// With its text, and so few rows that this fits: the longest list gives way first.
fn bounded(mut delta: Delta, max: usize) -> Delta {
    loop {
        delta.outline = text(&delta);
        let over = delta.outline.len().saturating_sub(max);
        if over == 0 {
            return delta;
        }
        let lengths = [
            ("added", delta.added.len()),
            ("changed", delta.changed.len()),
            ("removed", delta.removed.len()),
        ];
        let Some((kind, rows)) = lengths.into_iter().max_by_key(|(_, rows)| *rows).filter(|(_, n)| *n > 0)
        else {
            return delta;
        };
        let all: usize = lengths.iter().map(|(_, rows)| rows).sum();
        let fewer = (over * all / delta.outline.len()).clamp(1, rows);
        match kind {
            "added" => delta.added.truncate(rows - fewer),
            "changed" => delta.changed.truncate(rows - fewer),
            _ => delta.removed.truncate(rows - fewer),
        }
        leave_out(&mut delta, kind, fewer as u64);
    }
}

fn text(delta: &Delta) -> String {
    let mut out = format!("since r{}: {}", delta.since_revision, head(&delta.page));
    if delta.document_changed {
        out.push_str("\nanother document");
    }
    for node in &delta.added {
        out.push_str("\n+ ");
        line_of(&mut out, node);
    }
    for changed in &delta.changed {
        out.push_str("\n~ ");
        line_of(&mut out, &changed.node);
        was(&mut out, changed);
    }
    for gone in &delta.removed {
        let _ = write!(out, "\n- {}", visible(&gone.role, false));
        if !gone.name.is_empty() {
            let _ = write!(out, " {}", quoted(&gone.name));
        }
        if let Some(reference) = &gone.reference {
            let _ = write!(out, " [{reference}]");
        }
    }
    if delta.added.is_empty() && delta.changed.is_empty() && delta.removed.is_empty() {
        out.push_str("\nno row came, went or changed");
    }
    if delta.text_changed && !delta.document_changed {
        out.push_str("\nthe visible text changed");
    }
    for left in &delta.incomplete {
        let _ = write!(out, "\n{}", left.line());
    }
    out
}

fn was(out: &mut String, changed: &NodeChanged) {
    let mut parts = Vec::new();
    parts.extend(changed.was_role.as_ref().map(|role| visible(role, false).into_owned()));
    parts.extend(changed.was_name.as_ref().map(|name| quoted(name)));
    parts.extend(changed.was_value.as_ref().map(|value| format!("= {}", quoted(value))));
    if let Some(states) = &changed.was_states {
        let gone: Vec<_> =
            states.iter().filter(|state| !changed.node.states.contains(state)).map(String::as_str).collect();
        let came = changed.node.states.iter().filter(|state| !states.contains(state));
        let came = came.map(|state| format!("not {state}"));
        let words: Vec<String> = gone.into_iter().map(str::to_owned).chain(came).collect();
        parts.push(visible(&words.join(" "), false).into_owned());
    }
    if !parts.is_empty() {
        let _ = write!(out, " (was {})", parts.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use glass_proto::result::Node;

    use super::*;

    #[test]
    fn a_long_delta_is_cut_within_its_bound_and_what_is_left_out_is_counted_once_a_kind() {
        let node = Node { role: "button".into(), name: "x".repeat(100), ..Node::default() };
        let gone = NodeGone { reference: None, role: "link".into(), name: "y".repeat(50) };
        let delta = Delta { added: vec![node; 300], removed: vec![gone; 200], ..Delta::default() };
        let cut = bounded(delta, 4096);
        assert!(cut.outline.len() <= 4096, "{}", cut.outline.len());
        let left = |kind: &str| {
            let all: Vec<_> = cut.incomplete.iter().filter(|left| left.kind == kind).collect();
            assert_eq!(all.len(), 1, "{:?}", cut.incomplete);
            all[0].count.unwrap_or(0)
        };
        assert_eq!(left("added") + cut.added.len() as u64, 300);
        assert_eq!(left("removed") + cut.removed.len() as u64, 200);
    }

    #[test]
    fn states_that_were_otherwise_are_told_both_ways() {
        let node = Node { role: "checkbox".into(), states: vec!["checked".into()], ..Node::default() };
        let changed =
            NodeChanged { node, was_states: Some(vec!["unchecked".into()]), ..NodeChanged::default() };
        let mut out = String::new();
        was(&mut out, &changed);
        assert_eq!(out, " (was unchecked not checked)");
    }
}
