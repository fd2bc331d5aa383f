//! `dismissConsent`: a known consent dialog is rejected, on its second layer if need be, else accepted (contract 5.3).

use std::time::{Duration, Instant};

use glass_proto::error::{Candidate, ErrorKind, OpError, Phase};
use glass_proto::op::{Button, DismissConsent, Locator};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, ConsentChoice, ConsentSeen, Evidence, Target};
use serde::Deserialize;
use serde_json::json;

use super::begin;
use super::click::{Gesture, perform};
use crate::act::{Before, guard_revision, look, measure};
use crate::context::Context;
use crate::input::Contact;
use crate::page::{FrameKey, Step, reference};

/// How long a dialog may take to go, or to show its second layer.
const ANSWERS: Duration = Duration::from_secs(3);
/// Between two looks.
const AGAIN: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct Read {
    dialogs: Vec<Dialog>,
}

/// A dialog that is shown, with the buttons that can be seen.
#[derive(Clone, Debug, Deserialize)]
struct Dialog {
    vendor: String,
    reject: Option<Choice>,
    settings: Option<Choice>,
    accept: Option<Choice>,
}

#[derive(Clone, Debug, Deserialize)]
struct Choice {
    #[serde(rename = "ref")]
    node: u32,
    role: String,
    label: String,
}

/// A dialog and the document that has it.
#[derive(Clone, Debug)]
struct Shown {
    key: FrameKey,
    dialog: Dialog,
}

impl Dialog {
    fn has_button(&self) -> bool {
        self.reject.is_some() || self.settings.is_some() || self.accept.is_some()
    }
}

pub(super) async fn run(context: &Context, params: &DismissConsent) -> Result<Acted, OpError> {
    begin::page(context)?;
    let looked = look(context, None, false, 1).await?;
    guard_revision(context, None, &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let wait = Duration::from_millis(u64::from(params.wait_ms.unwrap_or(DismissConsent::WAIT_MS)));
    let until = Instant::now() + wait.min(context.left() / 2);
    let shown = loop {
        let shown = one(shown(context).await.dialogs)?;
        if shown.is_some() || Instant::now() >= until {
            break shown;
        }
        tokio::time::sleep(AGAIN).await;
    };
    let Some(shown) = shown else {
        let (measured, revision) = measure(context, &before, None).await?;
        return Ok(Acted {
            action: "dismissConsent".to_owned(),
            target: None,
            target_id: context.target.clone(),
            frame_id: None,
            previous_revision: before.revision,
            revision,
            evidence: Evidence { already: Some(true), ..measured },
        });
    };
    answer(context, params, shown).await
}

/// Presses what rejects, or leads to what rejects, or accepts.
async fn answer(context: &Context, params: &DismissConsent, shown: Shown) -> Result<Acted, OpError> {
    let vendor = shown.dialog.vendor.clone();
    let mut pressed = Vec::new();
    let mut first = None;
    let mut at = shown;
    let mut layer = false;
    loop {
        let Shown { key, dialog } = &at;
        let may_accept = !params.reject_only;
        let (button, choice) = match (&dialog.reject, &dialog.settings, &dialog.accept) {
            (Some(reject), ..) => (reject, Some(ConsentChoice::Rejected)),
            (None, Some(settings), _) if !layer => (settings, None),
            (None, _, Some(accept)) if may_accept => (accept, Some(ConsentChoice::Accepted)),
            _ => return Err(no_way(context, &vendor, &pressed)),
        };
        let step = if first.is_some() { context.unguarded() } else { context.of_target(&context.target) };
        let acted = press(&step, key, button).await.map_err(|error| after(&pressed, error))?;
        pressed.push(Target {
            label: glass_proto::escape::cut(&format!("{} \"{}\"", button.role, button.label), 160)
                .into_owned(),
            reference: reference(key, button.node),
            carried: None,
        });
        let previous = first.get_or_insert(acted.previous_revision);
        let previous = *previous;
        let Some(choice) = choice else {
            layer = true;
            if let Some(next) = second_layer(context, &vendor).await {
                at = next;
            }
            continue;
        };
        match goes(context, &vendor).await {
            Some(true) => {}
            Some(false) => return Err(stays(&vendor, &pressed)),
            None => return Err(unseen(&vendor, &pressed)),
        }
        let consent = ConsentSeen { vendor, choice, pressed };
        return Ok(Acted {
            action: "dismissConsent".to_owned(),
            previous_revision: previous,
            evidence: Evidence { consent: Some(consent), ..acted.evidence },
            ..acted
        });
    }
}

async fn press(context: &Context, key: &FrameKey, button: &Choice) -> Result<Acted, OpError> {
    let target: Locator = reference(key, button.node).parse().map_err(|_| {
        OpError::invalid("the button of the consent dialog has no ref", "observe the page and click it")
    })?;
    let contact = Contact::Press(Button::Left, 1);
    let gesture =
        Gesture { action: "dismissConsent", target: &target, position: None, modifiers: &[], contact };
    perform(context, &gesture).await
}

/// What is shown in all frames.
struct Look {
    dialogs: Vec<Shown>,
    /// A frame that is there did not answer: nobody knows what it shows.
    silent: bool,
}

/// The dialogs that are shown, in all frames.
async fn shown(context: &Context) -> Look {
    let keys = context.pages.state().target(&context.target).map(crate::page::Target::keys);
    let keys = keys.unwrap_or_default();
    let asked = keys.iter().map(|key| async move {
        let call = context.pages.look(key, vec![Step("consent", json!({}))]).await;
        let read = call.and_then(|mut call| call.take::<Read>());
        let dialogs = read.map(|read| read.dialogs).map_err(|_| context.pages.is_silent(key));
        dialogs.map(|dialogs| dialogs.into_iter().map(|dialog| Shown { key: key.clone(), dialog }))
    });
    let mut look = Look { dialogs: Vec::new(), silent: false };
    for answer in futures_util::future::join_all(asked).await {
        match answer {
            Ok(dialogs) => look.dialogs.extend(dialogs),
            Err(silent) => look.silent |= silent,
        }
    }
    look
}

/// The one dialog that can be answered. That of a frame belongs to the same vendor's container around it.
fn one(mut shown: Vec<Shown>) -> Result<Option<Shown>, OpError> {
    shown.retain(|shown| shown.dialog.has_button());
    if shown.len() <= 1 {
        return Ok(shown.pop());
    }
    let candidates = shown.iter().filter_map(|shown| {
        let dialog = &shown.dialog;
        let button = dialog.reject.as_ref().or(dialog.settings.as_ref()).or(dialog.accept.as_ref())?;
        Some(Candidate {
            reference: reference(&shown.key, button.node),
            role: button.role.clone(),
            label: button.label.clone(),
            frame: (shown.key.label != 0).then(|| format!("f{}", shown.key.label)),
            reason: None,
        })
    });
    let candidates = candidates.collect();
    Err(OpError::rejected(
        ErrorKind::AmbiguousTarget,
        Phase::TargetResolution,
        format!("{} consent dialogs are shown, and nothing was pressed", shown.len()),
        "click the button of the one that is meant",
    )
    .with_candidates(candidates))
}

/// The dialog's second layer, once it shows a way to reject, or nothing more comes.
async fn second_layer(context: &Context, vendor: &str) -> Option<Shown> {
    let until = Instant::now() + ANSWERS.min(context.left() / 2);
    let mut last = None;
    loop {
        for one in shown(context).await.dialogs.into_iter().filter(|one| one.dialog.vendor == vendor) {
            if one.dialog.reject.is_some() {
                return Some(one);
            }
            last = Some(one);
        }
        if Instant::now() >= until {
            return last;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Waits until the vendor's dialog is not shown any more. `None` where not all frames tell what they show.
async fn goes(context: &Context, vendor: &str) -> Option<bool> {
    let until = Instant::now() + ANSWERS.min(context.left() / 2);
    loop {
        let look = shown(context).await;
        let stays = look.dialogs.iter().any(|one| one.dialog.vendor == vendor);
        if !stays && !look.silent {
            return Some(true);
        }
        if Instant::now() >= until {
            return stays.then_some(false);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// An error after something was pressed is of an operation that was sent.
fn after(pressed: &[Target], error: OpError) -> OpError {
    if !pressed.is_empty() && error.outcome == Outcome::Rejected {
        return error.ended(Outcome::Completed, Dispatched::Yes);
    }
    error
}

fn no_way(context: &Context, vendor: &str, pressed: &[Target]) -> OpError {
    let error = OpError::rejected(
        ErrorKind::NotActionable,
        Phase::Preflight,
        format!("the consent dialog of {vendor} shows no button that would do"),
        "observe the page and click what is meant; without --reject-only it is accepted where it cannot be rejected",
    )
    .reason("no_reject");
    if !context.is_dispatched() {
        return error;
    }
    let refs: Vec<_> = pressed.iter().map(|target| target.reference.clone()).collect();
    error.detail("pressed", refs).ended(Outcome::Completed, Dispatched::Yes)
}

fn unseen(vendor: &str, pressed: &[Target]) -> OpError {
    let refs: Vec<_> = pressed.iter().map(|target| target.reference.clone()).collect();
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        format!(
            "the button of {vendor}'s consent dialog was pressed, and a frame does not answer whether it is still shown"
        ),
        "observe the page",
    )
    .reason("frame_silent")
    .detail("pressed", refs)
    .ended(Outcome::Completed, Dispatched::Yes)
}

fn stays(vendor: &str, pressed: &[Target]) -> OpError {
    let refs: Vec<_> = pressed.iter().map(|target| target.reference.clone()).collect();
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        format!("the button of {vendor}'s consent dialog was pressed, and the dialog is still shown"),
        "observe the page: it may ask something more",
    )
    .reason("still_shown")
    .detail("pressed", refs)
    .ended(Outcome::Completed, Dispatched::Yes)
}
