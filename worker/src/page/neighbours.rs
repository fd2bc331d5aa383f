//! Pages that share a renderer: a dialog of one holds the scripts of the others (contract 5.5).
//!
//! The browser does not tell which pages share one. Those that opened each other and are of one site do, as a rule; whether
//! a page really waits is found by asking it for nothing.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use glass_proto::result::DialogSeen;
use serde::de::IgnoredAny;
use serde_json::json;
use url::{Host, Url};

use super::{Pages, State, Target};

/// How long a page may keep silent before it is held to wait.
const SILENT: Duration = Duration::from_millis(400);
/// Between two questions.
const AGAIN: Duration = Duration::from_millis(500);

/// The dialog of another page that this one was found to wait for, as long as it is open.
pub(super) fn blocking(state: &State, target: &Target) -> Option<DialogSeen> {
    let waits_for = target.waits_for.as_ref()?;
    let shown =
        |other: &Target| other.dialog.as_ref().is_some_and(|dialog| dialog.seen.dialog_id == *waits_for);
    let other = state.targets.values().find(|other| shown(other))?;
    let dialog = other.dialog.as_ref()?;
    Some(DialogSeen { target_id: Some(other.id.clone()), ..dialog.seen.clone() })
}

/// The open dialog of a page that may hold this one.
fn suspect(state: &State, id: &str) -> Option<String> {
    if state.targets.values().all(|target| target.dialog.is_none()) {
        return None;
    }
    let page = state.target(id)?;
    let related = related(state, id);
    let holds = |other: &&Target| related.contains(other.id.as_str()) && of_one_site(&page.url, &other.url);
    let mut others = state.targets.values().filter(|other| other.id != id && other.dialog.is_some());
    others.find(holds).and_then(|other| Some(other.dialog.as_ref()?.seen.dialog_id.clone()))
}

/// Pages that opened each other, directly or by others.
fn related<'a>(state: &'a State, id: &'a str) -> HashSet<&'a str> {
    let mut found = HashSet::from([id]);
    loop {
        let before = found.len();
        for target in state.targets.values() {
            let Some(opener) = target.opener.as_deref() else { continue };
            if found.contains(opener) {
                found.insert(&target.id);
            } else if found.contains(target.id.as_str()) {
                found.insert(opener);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether two pages are of one site, as far as their addresses tell: one that has none yet is of its opener's.
fn of_one_site(one: &str, other: &str) -> bool {
    let site = |url: &str| {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        Some(match url.host()? {
            Host::Domain(name) => {
                let labels: Vec<&str> = name.rsplit('.').take(2).collect();
                labels.join(".")
            }
            address => address.to_string(),
        })
    };
    match (site(one), site(other)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

impl Pages {
    /// Ends once the target is found to wait for a dialog of another page; from then on that is what halts it.
    pub(super) async fn blocked_by_a_neighbour(&self, target: &str) {
        let mut moved = self.inner.moved.subscribe();
        loop {
            let (dialog, session) = {
                let state = self.state();
                (suspect(&state, target), state.target(target).map(|target| target.session.clone()))
            };
            let (Some(dialog), Some(session)) = (dialog, session) else {
                if moved.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                continue;
            };
            let asked = Instant::now();
            let nothing = json!({ "expression": "0", "silent": true });
            let answer =
                self.client().start_call::<_, IgnoredAny>(Some(&session), "Runtime.evaluate", nothing);
            if tokio::time::timeout(SILENT, answer).await.is_err() {
                let mut state = self.state();
                if suspect(&state, target).as_ref() == Some(&dialog)
                    && let Some(target) = state.targets.get_mut(target)
                {
                    target.waits_for = Some(dialog);
                    return;
                }
                continue;
            }
            tokio::time::sleep_until((asked + AGAIN).into()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_site_are_told_by_their_addresses() {
        for (one, other) in [
            ("http://a.test/", "http://b.a.test:8080/x"),
            ("http://127.0.0.1:1/", "https://127.0.0.1/"),
            ("http://a.test/", ""),
            ("http://a.test/", "about:blank"),
        ] {
            assert!(of_one_site(one, other), "{one} {other}");
        }
        for (one, other) in
            [("http://a.test/", "http://b.test/"), ("http://a.localhost/", "http://b.localhost/")]
        {
            assert!(!of_one_site(one, other), "{one} {other}");
        }
    }
}
