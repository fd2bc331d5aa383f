//! `clipboard`: the clipboard of the session's browser, which has no other (contract 7.8).
//!
//! Asked in a page aside, at an address that nobody has and that alone may read it: no page of the session is touched, and
//! none gets a permission.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{Clipboard, ClipboardAction};
use glass_proto::result::ClipboardAnswered;
use serde::Deserialize;

use crate::cdp::types::browser::{PermissionDescriptor, PermissionSetting, SetPermission};
use crate::context::Context;
use crate::page::{Aside, AsideError, EngineError};

/// Where it is asked.
const PLACE: &str = "https://clipboard.invalid/";
const ORIGIN: &str = "https://clipboard.invalid";

/// Longest name of a form, in bytes: pages make up their own, of which the browser keeps at most 100.
const MAX_TYPE: usize = 128;

/// Forms and text of what it holds, at most so many characters.
const READ: &str = "async most => {
  const items = await navigator.clipboard.read();
  const types = items.flatMap(item => item.types);
  const item = items.find(item => item.types.includes('text/plain'));
  if (!item) return { types, characters: 0, truncated: false };
  const letters = Array.from(await (await item.getType('text/plain')).text());
  return { types, text: letters.slice(0, most).join(''), characters: letters.length, truncated: letters.length > most };
}";

/// Writes a text, and reads what is there then.
const WRITE: &str = "async text => {
  await navigator.clipboard.writeText(text);
  const there = await navigator.clipboard.readText();
  return { same: there === text, characters: Array.from(there).length };
}";

#[derive(Deserialize)]
struct Held {
    types: Vec<String>,
    text: Option<String>,
    characters: u64,
    truncated: bool,
}

#[derive(Deserialize)]
struct Written {
    same: bool,
    characters: u64,
}

pub(super) async fn run(context: &Context, params: &Clipboard) -> Result<ClipboardAnswered, OpError> {
    let aside = open(context).await?;
    match (params.action, &params.text) {
        (ClipboardAction::Read, _) => {
            let held = aside.call::<Held>(READ, &Clipboard::MAX_CHARS, context.soft).await;
            let held = held.map_err(|error| fault(context, error))?;
            Ok(ClipboardAnswered {
                action: "read".to_owned(),
                page_text: held.text.filter(|text| !text.is_empty()),
                characters: held.characters,
                truncated: held.truncated,
                types: held.types.iter().map(|name| cut(name, MAX_TYPE).into_owned()).collect(),
            })
        }
        (ClipboardAction::Write, text) => {
            let text = text.as_deref().unwrap_or_default();
            context.dispatching().await;
            let written = aside.call::<Written>(WRITE, &text, context.soft).await;
            let written = written.map_err(|error| fault(context, error))?;
            if !written.same {
                return Err(OpError::failed(
                    ErrorKind::VerificationFailed,
                    Phase::Verification,
                    "the clipboard does not hold what was written to it",
                    "`glassctl clipboard read` tells what it holds; a page may have written meanwhile",
                ));
            }
            Ok(ClipboardAnswered {
                action: "write".to_owned(),
                characters: written.characters,
                ..ClipboardAnswered::default()
            })
        }
    }
}

/// A page aside that may read and write the clipboard.
async fn open(context: &Context) -> Result<Aside, OpError> {
    for name in ["clipboard-read", "clipboard-write"] {
        let allow = SetPermission {
            permission: PermissionDescriptor { name },
            setting: PermissionSetting::Granted,
            origin: Some(ORIGIN),
            browser_context_id: None,
        };
        let allowed = context.pages.client().send(None, allow).await;
        allowed.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::Preflight))?;
    }
    context.pages.aside(PLACE, context.soft).await.map_err(|error| fault(context, error))
}

fn fault(context: &Context, error: AsideError) -> OpError {
    match error {
        AsideError::Engine(error) => context.engine(&error, Phase::BrowserEffect),
        AsideError::NotShown(_) | AsideError::Threw => {
            tracing::debug!(%error, "the clipboard cannot be had");
            let error = OpError::rejected(
                ErrorKind::Transport,
                Phase::BrowserEffect,
                "the browser did not let its clipboard be read or written",
                "try again",
            );
            context.sent(error.reason("clipboard_denied"))
        }
    }
}
