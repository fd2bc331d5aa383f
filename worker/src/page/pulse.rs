//! Whether pages answer at all. The question runs no script, so that no page can see it.

use std::time::Instant;

use serde_json::json;

use super::Pages;
use crate::cdp::CdpError;

impl Pages {
    /// Asks every page that can answer whether it does, and waits for the answers, at most until `until`. A page that
    /// owes an answer already is not asked again; `Target::asked` has since when.
    ///
    /// # Errors
    /// When the browser goes.
    pub async fn pulse(&self, until: Instant) -> Result<(), CdpError> {
        let now = Instant::now();
        let asked: Vec<_> = {
            let mut state = self.state();
            let open = state.targets.values_mut().filter(|target| target.answers() && target.asked.is_none());
            open.map(|target| {
                target.asked = Some(now);
                (target.id.clone(), target.session.clone())
            })
            .collect()
        };
        for (id, session) in asked {
            let pages = self.clone();
            let answer = self.client().start_call::<_, serde::de::IgnoredAny>(
                Some(&session),
                "Runtime.getIsolateId",
                json!({}),
            );
            tokio::spawn(async move {
                // A refusal is an answer as well.
                let _ = answer.await;
                if let Some(target) = pages.state().targets.get_mut(&id) {
                    target.asked = None;
                }
                pages.inner.moved.send_modify(|count| *count += 1);
            });
        }
        let all = |state: &super::State| {
            let owes = state.targets.values().any(|target| target.answers() && target.asked.is_some());
            (!owes).then_some(())
        };
        self.until(until, all).await.map(|_| ())
    }
}

impl super::Target {
    /// Whether it can answer a question: a page behind a dialog and a dead one do not.
    pub(crate) fn answers(&self) -> bool {
        self.dialog.is_none() && !self.crashed
    }
}
