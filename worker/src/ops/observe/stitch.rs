//! Frames' rows put together: a frame's rows stand below the row of its element.

use std::collections::{HashMap, HashSet};

use glass_proto::result::Node;
use serde::Deserialize;
use serde_json::Value;

use crate::page::{EngineError, FrameKey, Remembered, frame_number, reference, without_fragment};

/// States of frames that show nothing, by label.
pub(super) type Blanks = HashMap<u32, &'static str>;

/// What one frame's engine says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seen {
    #[serde(skip)]
    pub(super) label: u32,
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) ready_state: String,
    /// Media type of its document.
    #[serde(default)]
    pub(super) content_type: String,
    /// Its document has no root element.
    #[serde(default)]
    pub(super) rootless: bool,
    pub(super) rows: Vec<Row>,
    /// Rows that there are, with those that are left out.
    #[serde(default)]
    pub(super) rows_total: u64,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) text_bytes: u64,
    #[serde(default)]
    pub(super) left_out: Vec<Left>,
    /// Labels of the frames that can be seen in it, within the scope.
    #[serde(default)]
    seen: Vec<String>,
    /// Labels of those that cannot.
    #[serde(default)]
    unseen: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    #[serde(rename = "ref")]
    node: u32,
    #[serde(default)]
    depth: u32,
    #[serde(default)]
    role: String,
    #[serde(default)]
    name: String,
    name_length: Option<u64>,
    level: Option<u32>,
    #[serde(default)]
    states: Vec<String>,
    value: Option<String>,
    options: Option<u64>,
    rows_total: Option<u64>,
    frame: Option<String>,
    #[serde(rename = "box")]
    rect: Option<[i64; 4]>,
    /// The rows that it lies in, where it is the only one of its kind there.
    place: Option<String>,
}

/// What a frame's engine left out.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Left {
    pub(super) kind: String,
    #[serde(rename = "ref")]
    pub(super) node: Option<u32>,
    pub(super) count: Option<u64>,
    pub(super) hint: Option<String>,
}

impl Seen {
    pub(super) fn read(key: FrameKey, answer: Value) -> Result<Self, EngineError> {
        let mut seen: Self = serde_json::from_value(answer)?;
        seen.label = key.label;
        Ok(seen)
    }

    /// Frames that can be seen in this one.
    pub(super) fn seen_frames(&self) -> impl Iterator<Item = u32> + '_ {
        self.seen.iter().filter_map(|label| frame_number(label))
    }

    /// Frames that nobody sees.
    pub(super) fn unseen_frames(&self) -> impl Iterator<Item = u32> + '_ {
        self.unseen.iter().filter_map(|label| frame_number(label))
    }

    /// The ref of a node of this frame, as clients see it.
    pub(super) fn reference(&self, node: u32) -> String {
        shown_ref(self.label, node)
    }

    /// What is kept of its rows, with their nodes.
    pub(super) fn remembered<'a>(
        &'a self,
        frame: &'a str,
        revision: u64,
    ) -> impl Iterator<Item = (u32, Remembered)> + 'a {
        self.rows.iter().filter_map(move |row| {
            let remembered = Remembered {
                revision,
                frame: frame.to_owned(),
                url: without_fragment(&self.url).to_owned(),
                role: row.role.clone(),
                name: row.name.clone(),
                place: row.place.clone()?,
            };
            Some((row.node, remembered))
        })
    }

    fn node(&self, row: &Row, depth: u32) -> Node {
        row.node(self.label, depth)
    }
}

impl Row {
    /// As clients see it.
    pub(super) fn node(&self, label: u32, depth: u32) -> Node {
        Node {
            reference: shown_ref(label, self.node),
            depth,
            role: self.role.clone(),
            name: self.name.clone(),
            name_length: self.name_length,
            level: self.level,
            states: self.states.clone(),
            value: self.value.clone(),
            options: self.options,
            rows_total: self.rows_total,
            rect: self.rect,
            frame: self.frame.clone(),
            url: None,
        }
    }

    /// Its indent within its frame.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }
}

/// The ref of a node of a frame, as clients see it.
pub(super) fn shown_ref(label: u32, node: u32) -> String {
    let key = FrameKey { target: String::new(), frame: String::new(), generation: 0, label };
    reference(&key, node)
}

/// All rows in reading order, at most `limit`, and how many did not fit.
///
/// `blank` has the states of frames that show nothing, by label.
pub(super) fn stitch(frames: &[Seen], blank: &Blanks, limit: usize) -> (Vec<Node>, u64) {
    let mut seam = Seam { frames, blank, limit, nodes: Vec::new(), left: 0, used: HashSet::new() };
    if let Some(main) = frames.first() {
        seam.used.insert(main.label);
        seam.append(main, 0);
    }
    (seam.nodes, seam.left)
}

/// The rows of a search, one frame after the other, without the rows that they lie in.
pub(super) fn found(frames: &[Seen], offset: usize, limit: usize) -> Vec<Node> {
    let rows = frames.iter().flat_map(|frame| frame.rows.iter().map(move |row| frame.node(row, 0)));
    rows.skip(offset).take(limit).collect()
}

/// The rows of one frame after the other, each in its own frame's shape.
pub(super) fn news(frames: &[Seen], limit: usize) -> Vec<Node> {
    let rows = frames.iter().flat_map(|frame| frame.rows.iter().map(move |row| frame.node(row, row.depth)));
    rows.take(limit).collect()
}

/// Frames that are being put together.
struct Seam<'a> {
    frames: &'a [Seen],
    blank: &'a Blanks,
    limit: usize,
    nodes: Vec<Node>,
    /// Rows that did not fit.
    left: u64,
    /// Labels of the frames that have their place.
    used: HashSet<u32>,
}

impl<'a> Seam<'a> {
    fn append(&mut self, frame: &'a Seen, indent: u32) {
        for row in &frame.rows {
            if self.nodes.len() >= self.limit {
                self.left += 1;
                continue;
            }
            let depth = indent + row.depth;
            let mut node = frame.node(row, depth);
            let label = row.frame.as_deref().and_then(frame_number);
            let free = label.filter(|label| !self.used.contains(label));
            let child = free.and_then(|label| self.frames.iter().find(|seen| seen.label == label));
            node.url = child.map(|child| child.url.clone());
            let blank = label.and_then(|label| self.blank.get(&label));
            node.states.extend(blank.map(|state| (*state).to_owned()));
            self.nodes.push(node);
            if let Some(child) = child {
                self.used.insert(child.label);
                self.append(child, depth + 1);
            }
        }
    }
}
