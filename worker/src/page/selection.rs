//! What clients selected (contract 7.1): a target, and a frame in it. Nothing is selected implicitly.

use std::collections::HashMap;

use super::state::{FrameKey, State};

/// Clients whose selection is kept. The one that chose longest ago is forgotten first, and has the target that the
/// session started with again.
const MAX_CLIENTS: usize = 1024;

/// One client's selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The target, open or not.
    pub target: String,
    /// The frame's document that locators are confined to, shown or not.
    pub frame: Option<FrameKey>,
}

/// The selections of all clients, by the client's id; the empty id is that of all one-shot commands.
#[derive(Debug, Default)]
pub(super) struct Selections {
    by_client: HashMap<String, (u64, Selection)>,
    chosen: u64,
}

impl State {
    /// What the client selected; the target that the session started with, where it selected nothing. The target may
    /// be closed and the frame's document gone.
    pub fn selection(&self, client: &str) -> Option<Selection> {
        let own = self.selections.by_client.get(client).map(|(_, selection)| selection.clone());
        own.or_else(|| self.first.clone().map(|target| Selection { target, frame: None }))
    }

    /// The client's target, when it is open.
    pub fn selected(&self, client: &str) -> Option<String> {
        self.selection(client).map(|selection| selection.target).filter(|id| self.targets.contains_key(id))
    }

    /// Makes it the client's selection.
    pub fn select(&mut self, client: &str, selection: Selection) {
        let selections = &mut self.selections;
        selections.chosen += 1;
        selections.by_client.insert(client.to_owned(), (selections.chosen, selection));
        if selections.by_client.len() > MAX_CLIENTS {
            let oldest = selections.by_client.iter().min_by_key(|(_, (chosen, _))| *chosen);
            if let Some(oldest) = oldest.map(|(client, _)| client.clone()) {
                selections.by_client.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(target: &str) -> Selection {
        Selection { target: target.to_owned(), frame: None }
    }

    #[test]
    fn each_client_has_its_own_selection_and_those_who_chose_nothing_the_first_target() {
        let mut state = State { first: Some("A".to_owned()), ..State::default() };
        state.select("one", to("B"));
        assert_eq!(state.selection("one"), Some(to("B")));
        assert_eq!(state.selection("two"), Some(to("A")));
        assert_eq!(state.selection(""), Some(to("A")));
        assert_eq!(state.selected("one"), None, "B is not open");
    }

    #[test]
    fn selections_are_bounded_and_the_oldest_goes_first() {
        let mut state = State { first: Some("A".to_owned()), ..State::default() };
        for client in 0..=MAX_CLIENTS {
            state.select(&client.to_string(), to("B"));
        }
        assert_eq!(state.selection("0"), Some(to("A")));
        assert_eq!(state.selection("1"), Some(to("B")));
    }
}
