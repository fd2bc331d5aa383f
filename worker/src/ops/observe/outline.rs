//! The outline as text: one row a thing, made for a model and a person to read (contract 3.1).

use std::fmt::Write as _;

use glass_proto::escape::{cut, quoted, visible};
use glass_proto::op::Observe;
use glass_proto::result::{
    DialogSeen, DownloadSeen, DownloadState, LeftOut, Node, Observation, PageLine, Queried, size,
};

use super::MAX_TEXT;
use super::stitch::{Blanks, Seen, found, news, stitch};
use crate::act::line;
use crate::context::Context;

/// Rows that the page engine does not choose among any more.
const FEW: usize = 8;
/// Text that is always given room, however long the outline.
const TEXT_ROOM: usize = 2 * 1024;

pub(super) fn build(
    context: &Context,
    params: &Observe,
    page: PageLine,
    frames: &[Seen],
    (mut incomplete, blank): (Vec<LeftOut>, Blanks),
    limit: usize,
) -> Observation {
    let (nodes, over) = match params.query {
        Some(_) => (found(frames, params.offset.unwrap_or(0) as usize, queried(params).min(limit)), 0),
        None => stitch(frames, &blank, limit),
    };
    let query = params.query.as_ref().map(|text| Queried {
        text: text.clone(),
        matches: frames.iter().map(|frame| frame.rows_total).sum(),
        shown: nodes.len() as u64,
        offset: params.offset.unwrap_or(0).into(),
    });
    // What a search leaves out it counts itself.
    for frame in frames.iter().filter(|_| query.is_none()) {
        incomplete.extend(
            frame.left_out.iter().filter(|left| left.kind != "text").map(|left| left_out(frame, left)),
        );
    }
    if over > 0 {
        incomplete.push(LeftOut {
            kind: "rows".to_owned(),
            count: Some(over),
            hint: Some("observe --scope REF reads one part of the page".to_owned()),
            ..LeftOut::default()
        });
    }
    let over_frames = context.pages.state().target(&context.target).map_or(0, |target| target.frames_over);
    if over_frames > 0 {
        incomplete.push(LeftOut {
            kind: "frame".to_owned(),
            count: Some(over_frames),
            reason: Some("the page has more frames than are read".to_owned()),
            ..LeftOut::default()
        });
    }
    let downloads = running_downloads(context);
    let choosers = context.pages.state().choosers_since(&context.target, 0);
    let main = frames.first();
    if main.is_some_and(|main| main.rootless) {
        incomplete.push(LeftOut {
            kind: "page".to_owned(),
            reason: Some("its document has no root element".to_owned()),
            hint: Some("observe again; a script may be replacing it".to_owned()),
            ..LeftOut::default()
        });
    }
    let content_type = main.map(|main| main.content_type.clone());
    let content_type = content_type.filter(|kind| !kind.is_empty() && kind != "text/html");
    let snapshot_id = snapshot_id(&page.target_id, page.revision);
    if let Some(query) = &query {
        incomplete.extend(rest_of(query, &snapshot_id));
    }
    let mut out = head(&page);
    if let Some(query) = &query {
        let _ = write!(out, "\n{} of {} rows hold {}", query.shown, query.matches, quoted(&query.text));
    }
    if let Some(kind) = &content_type {
        let _ = write!(out, " {}", visible(kind, false));
    }
    for node in &nodes {
        row(&mut out, node);
    }
    for chooser in &choosers {
        let _ = write!(out, "\nfile chooser [{}] waits for files", chooser.chooser_id);
    }
    for download in &downloads {
        let _ = write!(out, "\ndownload {} in progress", quoted(&download.page_file_name));
    }
    let whole: u64 = frames.iter().map(|frame| frame.text_bytes).sum();
    let room = MAX_TEXT.min(
        (params.max_bytes as usize)
            .saturating_sub(out.len() + 256)
            .max(TEXT_ROOM.min(params.max_bytes as usize / 4)),
    );
    let text = if params.interactive || query.is_some() { String::new() } else { text_of(frames, room) };
    if !params.interactive && query.is_none() && (text.len() as u64) < whole {
        incomplete.push(LeftOut {
            kind: "text".to_owned(),
            count: Some(whole - text.len() as u64),
            hint: Some("get-text reads up to 64 KiB, of one element with a locator".to_owned()),
            ..LeftOut::default()
        });
    }
    if !text.is_empty() {
        let size = if (text.len() as u64) < whole {
            format!("{} of {}", size(text.len() as u64), size(whole))
        } else {
            size(whole)
        };
        let _ = write!(out, "\ntext {size}:\n{}", visible(&text, true));
    }
    for left in &incomplete {
        let _ = write!(out, "\n{}", left.line());
    }
    Observation {
        page,
        snapshot_id,
        query,
        content_type,
        outline: out,
        nodes,
        text,
        text_bytes: whole,
        dialog: None,
        dom: None,
        screenshot: None,
        popups: Vec::new(),
        choosers,
        downloads,
        incomplete,
    }
}

/// What is new or changed: at most `limit` rows, and of those no more than fit into `max` bytes where they are few.
pub(super) fn changed(
    page: PageLine,
    frames: &[Seen],
    missing: &[LeftOut],
    limit: usize,
    max: usize,
) -> Observation {
    let mut nodes = news(frames, limit);
    let total: u64 = frames.iter().map(|frame| frame.rows_total).sum();
    let (outline, incomplete) = loop {
        let left = total.saturating_sub(nodes.len() as u64);
        let hint = Some("observe shows the whole page".to_owned());
        let mut incomplete = Vec::new();
        if left > 0 {
            incomplete.push(LeftOut {
                kind: "rows".to_owned(),
                count: Some(left),
                hint: hint.clone(),
                ..LeftOut::default()
            });
        }
        if !missing.is_empty() {
            let count = Some(missing.len() as u64);
            incomplete.push(LeftOut { kind: "frame".to_owned(), count, hint, ..LeftOut::default() });
        }
        let nothing = if nodes.is_empty() && left == 0 { " nothing" } else { "" };
        let mut out = format!("new or changed at r{}:{nothing}", page.revision);
        for node in &nodes {
            row(&mut out, node);
        }
        for left in &incomplete {
            let _ = write!(out, "\n{}", left.line());
        }
        if out.len() <= max || nodes.len() > FEW || nodes.pop().is_none() {
            break (out, incomplete);
        }
    };
    let snapshot_id = snapshot_id(&page.target_id, page.revision);
    let text_bytes = frames.iter().map(|frame| frame.text_bytes).sum();
    Observation { page, snapshot_id, outline, nodes, text_bytes, incomplete, ..Observation::default() }
}

/// An outline that is no longer than `max` bytes: what does not fit goes, at the end of a line.
pub(super) fn bounded(mut seen: Observation, max: usize) -> Observation {
    if seen.outline.len() <= max {
        return seen;
    }
    let left = LeftOut {
        kind: "lines".to_owned(),
        hint: Some("observe shows the whole page".to_owned()),
        ..LeftOut::default()
    };
    let last = left.line();
    let room = seen.outline.floor_char_boundary(max.saturating_sub(last.len() + 1));
    let end = seen.outline[..room].rfind('\n').unwrap_or(0);
    seen.outline.truncate(end);
    let _ = write!(seen.outline, "\n{last}");
    seen.incomplete.push(left);
    seen
}

/// Names a revision of a target, for the call that reads on.
pub(super) fn snapshot_id(target: &str, revision: u64) -> String {
    format!("{target}-r{revision}")
}

/// Most rows that a search lists.
pub(super) fn queried(params: &Observe) -> usize {
    params.limit.unwrap_or(Observe::QUERIED) as usize
}

/// The rows of a search that come after those listed.
fn rest_of(query: &Queried, snapshot: &str) -> Option<LeftOut> {
    let next = query.offset + query.shown;
    let left = query.matches.saturating_sub(next);
    (left > 0).then(|| LeftOut {
        kind: "matches".to_owned(),
        count: Some(left),
        hint: Some(format!("the same with --offset {next} --snapshot-id {snapshot}")),
        ..LeftOut::default()
    })
}

/// What can be said while a dialog holds the page.
pub(super) fn dialog_only(context: &Context, dialog: DialogSeen) -> Observation {
    let (revision, url, title) = {
        let state = context.pages.state();
        let target = state.target(&context.target);
        target.map_or((1, String::new(), String::new()), |t| {
            (t.revisions.number, t.url.clone(), t.title.clone())
        })
    };
    let page = line(context, revision, &url, &title, "blocked");
    let outline = format!(
        "{}\n{} {} [{}] open: the page stands still until accept-dialog or dismiss-dialog answers it",
        head(&page),
        dialog.kind,
        quoted(&dialog.page_message),
        dialog.dialog_id,
    );
    let left = LeftOut {
        kind: "page".to_owned(),
        reason: Some("a dialog is open".to_owned()),
        hint: Some("accept-dialog or dismiss-dialog, then observe".to_owned()),
        ..LeftOut::default()
    };
    Observation { page, outline, dialog: Some(dialog), incomplete: vec![left], ..Observation::default() }
}

pub(super) fn head(page: &PageLine) -> String {
    let status = page.http_status.map_or(String::new(), |status| format!(" {status}"));
    let error = page.net_error.as_ref().map_or(String::new(), |error| format!(" {}", visible(error, false)));
    format!(
        "r{} {} {}{status}{error} {}",
        page.revision,
        quoted(&page.title),
        visible(&page.url, false),
        page.ready_state
    )
}

fn row(out: &mut String, node: &Node) {
    out.push('\n');
    line_of(out, node);
}

/// One row as text.
pub(super) fn line_of(out: &mut String, node: &Node) {
    for _ in 0..node.depth {
        out.push_str("  ");
    }
    out.push_str(&visible(&node.role, false));
    if !node.name.is_empty() {
        let _ = write!(out, " {}", quoted(&node.name));
    }
    if let Some(length) = node.name_length {
        let _ = write!(out, "({length} characters)");
    }
    let _ = match &node.frame {
        Some(frame) => write!(out, " [{frame}]"),
        None => write!(out, " [{}]", node.reference),
    };
    if let Some(url) = &node.url {
        let _ = write!(out, " {}", visible(&cut(url, 256), false));
    }
    if let Some(value) = node.value.as_ref().filter(|value| !value.is_empty()) {
        let _ = write!(out, " = {}", quoted(value));
    }
    if let Some(level) = node.level {
        let _ = write!(out, " level {level}");
    }
    if let Some(options) = node.options {
        let _ = write!(out, " {options} options");
    }
    if let Some(rows) = node.rows_total {
        let _ = write!(out, " {rows} rows");
    }
    if let Some([x, y, width, height]) = node.rect {
        let _ = write!(out, " @{x},{y} {width}×{height}");
    }
    for state in &node.states {
        let _ = write!(out, " {state}");
    }
}

fn left_out(frame: &Seen, left: &super::stitch::Left) -> LeftOut {
    let reference = left.node.map(|node| frame.reference(node));
    let hint = match (left.hint.as_deref(), &reference) {
        (Some("scope"), Some(reference)) => Some(format!("observe --scope {reference}")),
        (Some("depth"), _) => Some("observe with a larger --depth".to_owned()),
        _ => Some("observe --scope REF reads one part of the page".to_owned()),
    };
    LeftOut { kind: left.kind.clone(), count: left.count, reference, reason: None, hint }
}

fn text_of(frames: &[Seen], room: usize) -> String {
    let joined = frames
        .iter()
        .map(|frame| frame.text.as_str())
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    cut(&joined, room).into_owned()
}

fn running_downloads(context: &Context) -> Vec<DownloadSeen> {
    let state = context.pages.state();
    let running =
        state.downloads.iter().filter(|download| download.state == DownloadState::InProgress).take(8);
    running.map(|d| DownloadSeen { download_id: d.id.clone(), page_file_name: d.name.clone() }).collect()
}
