//! File choosers that pages opened (contract 7.4): told, never shown; good until used or their document goes.

use std::sync::Arc;

use glass_proto::result::{ChooserSeen, EventKind, EventOf};

use super::state::{FrameKey, State};
use crate::cdp::types::page;

/// Choosers of a target that are remembered.
const MOST: usize = 16;

/// An open chooser.
#[derive(Clone, Debug)]
pub struct Chooser {
    /// What clients see.
    pub id: String,
    /// The document that opened it.
    pub key: FrameKey,
    /// CDP's number of its input.
    pub node: i64,
    /// Whether it takes more than one file.
    pub multiple: bool,
    /// Order among all choosers.
    number: u64,
}

impl State {
    pub(super) fn chooser_opened(&mut self, session: Option<&Arc<str>>, opened: &page::FileChooserOpened) {
        // Without an input there is nothing to give files to; the browser has refused it already.
        let Some(node) = opened.backend_node_id else { return };
        let number = self.choosers_begun;
        let Some(target) = self.target_of_session(session) else { return };
        let Some(key) = target.key(&opened.frame_id) else { return };
        // Asked once more by the same input: the older question is answered with this one.
        target.choosers.retain(|other| other.key != key || other.node != node);
        if target.choosers.len() >= MOST {
            target.choosers.remove(0);
        }
        let multiple = opened.mode == "selectMultiple";
        target.choosers.push(Chooser { id: format!("c{}", number + 1), key, node, multiple, number });
        self.choosers_begun += 1;
        let of = EventOf { chooser_id: Some(format!("c{}", number + 1)), ..EventOf::default() };
        self.tell(session, EventKind::Chooser, "opened", of);
    }

    /// The open chooser of that id.
    pub fn chooser(&self, target: &str, id: &str) -> Option<Chooser> {
        let target = self.target(target)?;
        let found = target.choosers.iter().find(|chooser| chooser.id == id)?;
        (target.key(&found.key.frame).as_ref() == Some(&found.key)).then(|| found.clone())
    }

    /// Notes that it was answered.
    pub fn take_chooser(&mut self, target: &str, id: &str) {
        if let Some(target) = self.targets.get_mut(target) {
            target.choosers.retain(|chooser| chooser.id != id);
        }
    }

    /// The open choosers of a target that were opened since `mark`.
    pub fn choosers_since(&self, target: &str, mark: u64) -> Vec<ChooserSeen> {
        let Some(target) = self.target(target) else { return Vec::new() };
        let shown = |chooser: &&Chooser| target.key(&chooser.key.frame).as_ref() == Some(&chooser.key);
        let open = target.choosers.iter().filter(|chooser| chooser.number >= mark).filter(shown);
        open.map(|chooser| ChooserSeen {
            chooser_id: chooser.id.clone(),
            multiple: chooser.multiple,
            frame_id: (chooser.key.label != 0).then(|| format!("f{}", chooser.key.label)),
        })
        .collect()
    }
}
