//! What pages ask a person for and nobody would see (contract 5.5): answered at once, and never shown.
//!
//! Location, notifications, camera and the like are denied by a headless browser itself; screens by a flag
//! (`chromium/flags.rs`), devices by the profile (`chromium/profile.rs`). Here are passkeys and federated logins.

use std::sync::Arc;

use glass_proto::result::{EventKind, EventOf};
use serde::de::IgnoredAny;
use serde_json::json;

use super::Pages;
use crate::cdp::types::{browser, page};
use crate::cdp::{CdpError, Event};
use glass_proto::redact::address;

/// What a page can go to that no other program is needed for.
const WEB: [&str; 9] =
    ["http", "https", "about", "data", "blob", "file", "javascript", "filesystem", "view-source"];

impl Pages {
    /// Lets pages do what the session's options grant them. What they do not is denied.
    ///
    /// # Errors
    /// The browser's own, when it does not know one of them.
    pub(super) async fn grant(&self) -> Result<(), CdpError> {
        for grant in &self.inner.grants {
            let origin = grant.origin();
            for permission in &grant.permissions {
                let permission = browser::PermissionDescriptor { name: permission.name() };
                let set = browser::SetPermission {
                    permission,
                    setting: browser::PermissionSetting::Granted,
                    origin: origin.as_deref(),
                    browser_context_id: None,
                };
                self.client().send(None, set).await?;
            }
        }
        Ok(())
    }

    /// Sees to it that nothing that the session asks for waits for a person.
    pub(super) fn deny_prompts(&self, session: &str) {
        let Some(browser) = self.browser() else { return };
        let tell = |method, params| {
            drop(browser.client().start_call::<_, IgnoredAny>(Some(session), method, params))
        };
        // A device that never knows its user says no at once. Without one a passkey is asked for in a window that
        // takes the page's input, and with none at all the page would wait for minutes.
        tell("WebAuthn.enable", json!({ "enableUI": false }));
        let device = json!({
            "protocol": "ctap2", "transport": "usb", "hasUserVerification": true, "isUserVerified": false,
            "automaticPresenceSimulation": true,
        });
        tell("WebAuthn.addVirtualAuthenticator", json!({ "options": device }));
        tell("FedCm.enable", json!({ "disableRejectionDelay": true }));
    }

    /// A federated login asks which account is meant.
    pub(super) fn federated_login(
        &self,
        session: Option<&Arc<str>>,
        event: &Event,
    ) -> serde_json::Result<()> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Shown {
            dialog_id: String,
        }
        let shown: Shown = event.params()?;
        let (Some(session), Some(browser)) = (session, self.browser()) else { return Ok(()) };
        let dismiss = json!({ "dialogId": shown.dialog_id, "triggerCooldown": false });
        drop(browser.client().start_call::<_, IgnoredAny>(Some(session), "FedCm.dismissDialog", dismiss));
        let of = EventOf { name: Some("federated_login".to_owned()), ..EventOf::default() };
        self.state().tell(Some(session), EventKind::Permission, "denied", of);
        Ok(())
    }
}

impl super::State {
    /// A page goes to what another program would have to open.
    pub(super) fn leaves_the_web(
        &mut self,
        session: Option<&Arc<str>>,
        asked: &page::FrameRequestedNavigation,
    ) {
        let scheme = asked.url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if scheme.is_empty() || WEB.contains(&scheme.as_str()) || scheme.starts_with("chrome") {
            return;
        }
        let of = EventOf {
            name: Some("external_program".to_owned()),
            page_url: Some(address(&asked.url)),
            ..EventOf::default()
        };
        self.tell(session, EventKind::Permission, "asked", of);
    }
}
