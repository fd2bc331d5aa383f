//! Revisions: numbers for the semantic state of a target (contract 3.4 to 3.6).
//!
//! Each frame's engine counts its own changes (`seq`); a target's revision grows by one whenever any frame's count or
//! document differs from what was last seen.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;
use serde_json::json;

use glass_proto::result::SemanticDiff;

use super::state::FrameKey;
use super::{EngineError, Pages, Step};

/// Revisions of which it is remembered what changed.
const REMEMBERED: usize = 256;

/// Revisions of one target.
#[derive(Debug)]
pub struct Revisions {
    /// The present one. Starts at 1.
    pub number: u64,
    seen: HashMap<String, Seen>,
    log: VecDeque<Entry>,
    totals: SemanticDiff,
}

impl Default for Revisions {
    fn default() -> Self {
        Self { number: 1, seen: HashMap::new(), log: VecDeque::new(), totals: SemanticDiff::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    generation: u64,
    seq: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    /// Frames that changed, with their document and count as they were before.
    changed: Vec<(String, Option<Seen>)>,
}

/// What a look at a target's frames found.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The revision now.
    pub revision: u64,
    /// Rows that came, went and changed since the target began, where the documents stayed. A difference of two looks
    /// says what changed between them, whoever looked in between.
    pub totals: SemanticDiff,
    /// The main frame shows another document than at the last look.
    pub document: bool,
    /// Some changed rows.
    pub sample: Vec<ChangedRow>,
}

/// A row that changed.
#[derive(Clone, Debug)]
pub struct ChangedRow {
    /// Its ref.
    pub reference: String,
    /// Its role.
    pub role: String,
}

/// What the engine says of one frame.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    seq: u64,
    #[serde(default)]
    added: u64,
    #[serde(default)]
    removed: u64,
    #[serde(default)]
    changed_rows: u64,
    #[serde(default)]
    sample: Vec<Sample>,
    #[serde(default)]
    unseen: Vec<String>,
    #[serde(default)]
    internals: bool,
}

impl Check {
    /// Labels of the frames whose element nobody can see in this document.
    pub fn unseen(&self) -> impl Iterator<Item = u32> + '_ {
        self.unseen.iter().filter_map(|label| frame_number(label))
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Sample {
    #[serde(rename = "ref")]
    node: Option<u32>,
    role: String,
}

impl Pages {
    /// Brings the revision up to date. Frames that do not answer are left as they were.
    ///
    /// # Errors
    /// When the main frame cannot be asked.
    pub async fn sync(&self, target: &str) -> Result<Changes, EngineError> {
        let keys = self.state().target(target).map(super::Target::keys).unwrap_or_default();
        let looks = keys.iter().map(|key| async move {
            let mut call = self.look(key, vec![Step("check", json!({}))]).await?;
            call.take::<Check>()
        });
        let looks = futures_util::future::join_all(looks).await;
        let mut reports = Vec::with_capacity(keys.len());
        for (key, look) in keys.iter().zip(looks) {
            match look {
                Ok(check) => reports.push((key.clone(), check)),
                // The main frame's document went while it was asked: the new one is looked at instead.
                Err(EngineError::Gone) => {}
                Err(error) if key.label == 0 => return Err(error),
                Err(error) => tracing::debug!(%error, "a frame did not answer"),
            }
        }
        Ok(self.take_reports(target, &reports))
    }

    /// Enters what frames said into the revision.
    pub fn take_reports(&self, target: &str, reports: &[(FrameKey, Check)]) -> Changes {
        let mut state = self.state();
        let Some(target) = state.targets.get_mut(target) else { return Changes::default() };
        for (key, check) in reports {
            if let Some(frame) = target.frames.get_mut(&key.frame).filter(|f| f.generation == key.generation)
            {
                frame.internals = check.internals;
            }
        }
        let alive: Vec<(String, u64)> =
            target.frames.iter().map(|(id, frame)| (id.clone(), frame.generation)).collect();
        let main = target.main.clone();
        target.revisions.enter(reports, &alive, &main)
    }
}

impl Revisions {
    fn enter(&mut self, reports: &[(FrameKey, Check)], alive: &[(String, u64)], main: &str) -> Changes {
        let mut changes = Changes::default();
        let mut changed = Vec::new();
        for (key, check) in reports {
            let now = Seen { generation: key.generation, seq: check.seq };
            let before = self.seen.insert(key.frame.clone(), now);
            if before == Some(now) {
                continue;
            }
            changed.push((key.frame.clone(), before));
            if before.is_some_and(|seen| seen.generation == key.generation) {
                self.totals.added += check.added;
                self.totals.removed += check.removed;
                self.totals.changed += check.changed_rows;
            } else if key.frame == main {
                changes.document = true;
            }
            changes.sample.extend(check.sample.iter().filter_map(|row| row_of(key, row)));
        }
        let gone: Vec<String> =
            self.seen.keys().filter(|id| !alive.iter().any(|(a, _)| a == *id)).cloned().collect();
        for id in gone {
            let before = self.seen.remove(&id);
            changed.push((id, before));
        }
        if !changed.is_empty() {
            self.number += 1;
            if self.log.len() >= REMEMBERED {
                self.log.pop_front();
            }
            self.log.push_back(Entry { number: self.number, changed });
        }
        changes.sample.truncate(3);
        changes.revision = self.number;
        changes.totals = self.totals;
        changes
    }

    /// Whether any of `frames` (all, where none are named) changed after `revision`. True where nobody knows.
    pub fn changed_since(&self, revision: u64, frames: Option<&[String]>) -> bool {
        if revision > self.number {
            return true;
        }
        let oldest = self.log.front().map_or(self.number, |entry| entry.number - 1);
        if revision < oldest && revision != self.number {
            return true;
        }
        self.log.iter().filter(|entry| entry.number > revision).any(|entry| match frames {
            None => true,
            Some(frames) => entry.changed.iter().any(|(id, _)| frames.contains(id)),
        })
    }

    /// Whether what was shown at `revision` is still known: which documents, at which count.
    pub fn knows(&self, revision: u64) -> bool {
        revision == self.number
            || (revision < self.number && self.log.front().is_some_and(|entry| entry.number <= revision + 1))
    }

    /// A frame's own count at `revision`, when the present document was already shown then.
    pub fn seq_at(&self, revision: u64, key: &FrameKey) -> Option<u64> {
        let first_after = self.log.iter().filter(|entry| entry.number > revision).find_map(|entry| {
            entry.changed.iter().find(|(id, _)| *id == key.frame).map(|(_, before)| *before)
        });
        let seen = match first_after {
            Some(before) => before?,
            None => *self.seen.get(&key.frame)?,
        };
        (self.knows(revision) && seen.generation == key.generation).then_some(seen.seq)
    }
}

fn row_of(key: &FrameKey, sample: &Sample) -> Option<ChangedRow> {
    Some(ChangedRow { reference: reference(key, sample.node?), role: sample.role.clone() })
}

/// The number in a frame's label as the page engine has it.
pub fn frame_number(label: &str) -> Option<u32> {
    label.strip_prefix('f')?.parse().ok()
}

/// A node's ref as clients see it.
pub fn reference(key: &FrameKey, node: u32) -> String {
    glass_proto::op::Ref { revision: None, frame: key.label, node }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(frame: &str, generation: u64) -> FrameKey {
        FrameKey { target: "t".into(), frame: frame.into(), generation, label: u32::from(frame != "main") }
    }

    fn check(seq: u64) -> Check {
        Check {
            seq,
            added: 1,
            removed: 0,
            changed_rows: 0,
            sample: Vec::new(),
            unseen: Vec::new(),
            internals: false,
        }
    }

    fn enter(revisions: &mut Revisions, reports: &[(&str, u64, u64)]) -> Changes {
        let alive: Vec<_> =
            reports.iter().map(|(id, generation, _)| ((*id).to_owned(), *generation)).collect();
        let reports: Vec<_> =
            reports.iter().map(|(id, generation, seq)| (key(id, *generation), check(*seq))).collect();
        revisions.enter(&reports, &alive, "main")
    }

    #[test]
    fn it_grows_with_every_change_and_only_then() {
        let mut revisions = Revisions::default();
        assert_eq!(enter(&mut revisions, &[("main", 1, 1)]).revision, 2);
        assert_eq!(enter(&mut revisions, &[("main", 1, 1)]).revision, 2);
        let changes = enter(&mut revisions, &[("main", 1, 2)]);
        assert_eq!((changes.revision, changes.totals.added, changes.document), (3, 1, false));
        let changes = enter(&mut revisions, &[("main", 2, 1)]);
        assert_eq!((changes.revision, changes.totals.added, changes.document), (4, 1, true));
    }

    #[test]
    fn a_guard_looks_at_its_own_frames_only() {
        let mut revisions = Revisions::default();
        enter(&mut revisions, &[("main", 1, 1), ("ad", 2, 1)]);
        enter(&mut revisions, &[("main", 1, 1), ("ad", 2, 2)]);
        assert!(revisions.changed_since(2, None));
        assert!(!revisions.changed_since(2, Some(&["main".to_owned()])));
        assert!(revisions.changed_since(2, Some(&["ad".to_owned()])));
        assert!(revisions.changed_since(9, Some(&["main".to_owned()])), "a revision that never was");
        assert!(!revisions.changed_since(3, None));
        // A frame that went counts as changed.
        enter(&mut revisions, &[("main", 1, 1)]);
        assert!(revisions.changed_since(3, Some(&["ad".to_owned()])));
    }

    #[test]
    fn a_count_at_an_earlier_revision_is_known_while_the_document_is_the_same() {
        let mut revisions = Revisions::default();
        enter(&mut revisions, &[("main", 1, 1)]);
        enter(&mut revisions, &[("main", 1, 2)]);
        enter(&mut revisions, &[("main", 1, 5)]);
        assert_eq!(revisions.seq_at(2, &key("main", 1)), Some(1));
        assert_eq!(revisions.seq_at(3, &key("main", 1)), Some(2));
        assert_eq!(revisions.seq_at(4, &key("main", 1)), Some(5));
        enter(&mut revisions, &[("main", 7, 1)]);
        assert_eq!(revisions.seq_at(3, &key("main", 7)), None);
    }
}
