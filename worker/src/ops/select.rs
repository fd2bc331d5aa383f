//! `select`: options of native lists by trusted keys and presses; of lists that a page made, by pressing the option.
//! What is chosen afterwards is read back (contract 5.3).

use std::time::{Duration, Instant};

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{Button, Chord, KeyName, Locator, Modifier, Ref, Select};
use glass_proto::outcome::{Dispatched, Outcome};
use glass_proto::result::{Acted, Evidence, Hit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::begin;
use super::click::{Gesture, acted, touch};
use super::key::press;
use super::write::{approach, run as call, take};
use crate::act::{Aim, Before, Found, Need, disarm_all, find, guard_revision, measure, ready};
use crate::context::Context;
use crate::input::Contact;
use crate::page::{EngineError, FrameKey, Step};

/// How long a list that the page made may take to open.
const OPENS: Duration = Duration::from_secs(2);
/// How long it may take to show what was chosen.
const SHOWS: Duration = Duration::from_millis(500);
/// Pause between looks at it.
const LOOK: Duration = Duration::from_millis(40);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct List {
    kind: String,
    role: String,
    multiple: bool,
    #[serde(rename = "ref")]
    node: u32,
    wanted: Vec<u32>,
    chosen: Vec<u32>,
    off: Vec<u32>,
    steps: i64,
    total: u64,
    missing: u64,
    options: Vec<String>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            kind: "none".to_owned(),
            role: String::new(),
            multiple: false,
            node: 0,
            wanted: Vec::new(),
            chosen: Vec::new(),
            off: Vec::new(),
            steps: -1,
            total: 0,
            missing: 0,
            options: Vec::new(),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Made {
    expanded: Option<String>,
    refs: Vec<u32>,
    count: u64,
    total: u64,
    options: Vec<String>,
}

/// What a list that the page made shows of an option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct MadeState {
    /// What the option says of itself.
    marked: Option<bool>,
    /// The list shows the label and nothing else.
    whole: bool,
    /// It shows the label, perhaps within other words.
    part: bool,
    /// It shows nothing, and the label stands near it.
    near: bool,
    /// It shows nothing at all.
    blank: bool,
    /// What it shows, cut.
    own: String,
}

#[derive(Debug, Deserialize)]
struct OptionRefs {
    refs: Vec<Option<u32>>,
}

/// Whether the option is chosen; `None` where what is seen does not say so.
///
/// `before` is how it was with the pointer on the option, before the press. What was there already is no effect: words
/// near an empty field, the label within other words, and the mark of a combo box, which many give to the option that the
/// pointer is on.
fn verdict(role: &str, before: Option<&MadeState>, after: &MadeState) -> Option<bool> {
    if role != "combobox" {
        return after.marked;
    }
    let came = |is: fn(&MadeState) -> bool| is(after) && before.is_some_and(|before| !is(before));
    let shows = after.whole || came(|state| state.part) || came(|state| state.near);
    let marks = came(|state| state.marked == Some(true))
        && (after.blank || before.is_some_and(|before| before.own != after.own));
    if shows || marks {
        return Some(true);
    }
    // A field that stays empty, or that showed the label before, says nothing of what was chosen.
    let open = after.marked == Some(true) || after.part || (after.blank && after.marked.is_none());
    (!open).then_some(false)
}

/// What choosing came to, before it is measured.
struct Chosen {
    hit: Option<Hit>,
    already: bool,
    /// The wanted options are chosen; `None` where the page took the list away.
    holds: Option<bool>,
    as_before: bool,
}

pub(super) async fn run(context: &Context, params: &Select) -> Result<Acted, OpError> {
    begin::page(context)?;
    let (found, looked) = find(context, &params.target).await?;
    guard_revision(context, Some(&found.key), &looked.changes, None)?;
    let before = Before::of(context, &looked.changes, Some(&looked.info));
    let carried = found.by_ref.and_then(|by| by.revision).map(|revision| revision != before.revision);
    let need = Need { word: "click", guarded: &["key"], position: None };
    let (aim, _) = ready(context, &params.target, found, need).await?;
    let list = state(context, &aim, params).await?;
    let chosen = match list.kind.as_str() {
        "none" => made(context, params, &aim, &list.role).await?,
        _ => native(context, params, &aim, &list).await?,
    };
    let (measured, revision) = measure(context, &before, None).await?;
    if chosen.holds == Some(false) {
        return Err(did_not_stay(chosen.as_before));
    }
    let evidence = Evidence {
        hit_target: chosen.hit,
        value_matches: chosen.holds,
        already: chosen.already.then_some(true),
        ..measured
    };
    Ok(acted(context, "select", &aim, &before, revision, evidence, carried))
}

fn wish(params: &Select, node: u32) -> Value {
    json!({
        "ref": node,
        "value": params.value,
        "label": params.label,
        "index": params.index,
        "values": params.values,
    })
}

async fn state(context: &Context, aim: &Aim, params: &Select) -> Result<List, OpError> {
    let step = Step("listState", wish(params, aim.found.node));
    let answer = context.pages.run(&aim.found.key, vec![step]).await;
    answer.and_then(|mut call| call.take()).map_err(|error| context.engine(&error, Phase::Preflight))
}

async fn native(context: &Context, params: &Select, aim: &Aim, list: &List) -> Result<Chosen, OpError> {
    let key = &aim.found.key;
    check_wish(params, list)?;
    if same(&list.wanted, &list.chosen) {
        disarm_all(context, key).await;
        return Ok(Chosen { hit: None, already: true, holds: Some(true), as_before: true });
    }
    let hit = match list.kind.as_str() {
        "popup" => {
            by_keys(context, key, list).await?;
            None
        }
        kind => by_presses(context, aim, list, kind == "styled").await?,
    };
    let answer = context.pages.run(
        key,
        vec![Step("settle", json!({ "frames": 2 })), Step("listState", wish(params, aim.found.node))],
    );
    let after = match answer.await {
        Ok(mut call) => {
            take::<Value>(context, &mut call)?;
            match call.take::<List>() {
                Ok(after) => Some(after),
                Err(EngineError::Engine { kind, .. }) if kind == "stale" => None,
                Err(error) => return Err(context.engine(&error, Phase::Verification)),
            }
        }
        Err(EngineError::Gone | EngineError::Halted(_)) => None,
        Err(error) => return Err(context.engine(&error, Phase::Verification)),
    };
    disarm_all(context, key).await;
    Ok(Chosen {
        hit,
        already: false,
        holds: after.as_ref().map(|after| same(&after.wanted, &after.chosen)),
        as_before: after.is_some_and(|after| same(&after.chosen, &list.chosen)),
    })
}

fn same(one: &[u32], other: &[u32]) -> bool {
    one == other
}

fn check_wish(params: &Select, list: &List) -> Result<(), OpError> {
    let several = params.values.as_ref().is_some_and(|values| values.len() != 1);
    if several && !list.multiple {
        return Err(OpError::invalid(
            "this list takes one option",
            "give --value, --label or --index, or one of --values",
        ));
    }
    let nothing = list.wanted.is_empty() && params.values.as_ref().is_none_or(|values| !values.is_empty());
    if nothing || list.missing > 0 {
        return Err(no_option(&list.options, list.total));
    }
    if list.wanted.len() > 1 && params.values.is_none() {
        return Err(OpError::rejected(
            ErrorKind::AmbiguousTarget,
            Phase::TargetResolution,
            format!("{} options of the list fit, and one must; nothing was sent", list.wanted.len()),
            "name it by --index",
        )
        .detail("total", list.wanted.len()));
    }
    if !list.off.is_empty() {
        return Err(OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            "the option is disabled; nothing was sent",
            "choose another one, or do first what enables it",
        )
        .reason("disabled"));
    }
    Ok(())
}

fn no_option(options: &[String], total: u64) -> OpError {
    OpError::rejected(
        ErrorKind::TargetNotFound,
        Phase::TargetResolution,
        format!("none of the {total} options of the list fits; nothing was chosen"),
        "take one of pageOptions (see --json), as it is written there",
    )
    .reason("no_such_option")
    .detail("pageOptions", options)
    .detail("total", total)
}

/// A list that opens outside the page: it opens by Space, and takes the keys until Enter chooses. The page sees one
/// `input` and one `change`.
async fn by_keys(context: &Context, key: &FrameKey, list: &List) -> Result<(), OpError> {
    let session =
        context.pages.session_of(key).ok_or_else(|| context.engine(&EngineError::Gone, Phase::Dispatch))?;
    context.dispatching().await;
    let mut answer = approach(context, key, vec![Step("focus", json!({ "ref": list.node }))]).await?;
    let field: super::write::Field = take(context, &mut answer)?;
    if !field.focused {
        return Err(OpError::failed(
            ErrorKind::NotActionable,
            Phase::Dispatch,
            "the list did not keep the focus; nothing was chosen",
            "observe the page: something else takes the focus",
        )
        .reason("not_editable"));
    }
    let named = |name| Chord { modifiers: Vec::new(), key: KeyName::Named(name) };
    let mut keys = vec![Chord { modifiers: Vec::new(), key: KeyName::Character(' ') }, named("Home")];
    keys.extend((0..list.steps.max(0)).map(|_| named("ArrowDown")));
    keys.push(named("Enter"));
    for chord in &keys {
        if !press(context, &session, chord).await? {
            break;
        }
    }
    Ok(())
}

/// A list whose options lie in the page: each that must change is pressed, with Control where there may be several.
async fn by_presses(context: &Context, aim: &Aim, list: &List, closed: bool) -> Result<Option<Hit>, OpError> {
    let key = &aim.found.key;
    disarm_all(context, key).await;
    let change: Vec<u32> = if list.multiple {
        let differ = |at: &u32| list.wanted.contains(at) != list.chosen.contains(at);
        let mut all: Vec<u32> = list.wanted.iter().chain(&list.chosen).copied().filter(differ).collect();
        all.sort_unstable();
        all.dedup();
        all
    } else {
        list.wanted.clone()
    };
    if closed {
        tap(context, key, list.node, &[]).await?;
    }
    let mut answer =
        call(context, key, vec![Step("optionRefs", json!({ "ref": list.node, "at": change }))]).await?;
    let options: OptionRefs = take(context, &mut answer)?;
    let modifiers: &[Modifier] = if list.multiple { &[Modifier::ControlOrMeta] } else { &[] };
    let mut hit = None;
    for option in options.refs.into_iter().flatten() {
        hit = tap(context, key, option, modifiers).await?;
    }
    Ok(hit)
}

/// Presses the node of this number.
async fn tap(
    context: &Context,
    key: &FrameKey,
    node: u32,
    modifiers: &[Modifier],
) -> Result<Option<Hit>, OpError> {
    reach(context, key, node, Contact::Press(Button::Left, 1), modifiers).await
}

async fn reach(
    context: &Context,
    key: &FrameKey,
    node: u32,
    contact: Contact,
    modifiers: &[Modifier],
) -> Result<Option<Hit>, OpError> {
    let by = Ref { revision: None, frame: key.label, node };
    let locator: Locator = by.to_string().parse().map_err(|_| no_option(&[], 0))?;
    let gesture = Gesture { action: "select", target: &locator, position: None, modifiers, contact };
    let found = Found { key: key.clone(), node, by_ref: Some(by), as_of: None };
    let touched = touch(context, &gesture, found, |_| Ok(true)).await;
    // Where the list was opened before, an option that cannot be pressed is a failure and no refusal.
    let refused =
        |error: OpError| if error.outcome == Outcome::Rejected { context.sent(error) } else { error };
    let touched = touched.map_err(refused)?;
    Ok(touched.landed.and_then(|landed| landed.hit))
}

/// A list box or combo box that the page made: opened by a press where it is closed, then the option is pressed.
async fn made(context: &Context, params: &Select, aim: &Aim, role: &str) -> Result<Chosen, OpError> {
    let key = &aim.found.key;
    disarm_all(context, key).await;
    if !matches!(role, "combobox" | "listbox") {
        return Err(OpError::rejected(
            ErrorKind::NotActionable,
            Phase::Preflight,
            "it is no list; nothing was sent",
            "click it, then click what it opens",
        )
        .reason("not_editable"));
    }
    let Some(label) = &params.label else {
        return Err(OpError::invalid(
            "a list that the page made itself has no values or places that can be trusted",
            "give --label with the option's name",
        ));
    };
    let node = aim.found.node;
    let mut offered = options(context, key, node, label).await?;
    if role == "combobox" && offered.count == 0 && offered.expanded.as_deref() != Some("true") {
        tap(context, key, node, &[]).await?;
        let until = Instant::now() + OPENS.min(context.left() / 2);
        loop {
            offered = options(context, key, node, label).await?;
            if offered.count > 0 || Instant::now() >= until {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    let option = match offered.refs.as_slice() {
        [one] if offered.count == 1 => *one,
        [] => return Err(context.sent(no_option(&offered.options, offered.total))),
        several => {
            let several = OpError::rejected(
                ErrorKind::AmbiguousTarget,
                Phase::TargetResolution,
                format!("{} options are called so, and one must", several.len()),
                "observe the list and click the option by its ref",
            );
            return Err(context.sent(several));
        }
    };
    // Lists mark the option that the pointer is on: that is no effect of the press.
    reach(context, key, option, Contact::Hover, &[]).await?;
    let before = made_state(context, key, node, option, label).await?;
    let hit = tap(context, key, option, &[]).await?;
    let until = Instant::now() + SHOWS.min(context.left() / 4);
    let (after, holds) = loop {
        let after = made_state(context, key, node, option, label).await?;
        let holds = after.as_ref().and_then(|after| verdict(role, before.as_ref(), after));
        if holds == Some(true) || after.is_none() || Instant::now() >= until {
            break (after, holds);
        }
        tokio::time::sleep(LOOK).await;
    };
    let as_before = before.is_some() && before == after;
    Ok(Chosen { hit, already: false, holds, as_before })
}

async fn options(context: &Context, key: &FrameKey, node: u32, label: &str) -> Result<Made, OpError> {
    let step = Step("madeOptions", json!({ "ref": node, "label": label }));
    let answer = context.pages.run(key, vec![step]).await;
    answer.and_then(|mut call| call.take()).map_err(|error| context.engine(&error, Phase::TargetResolution))
}

async fn made_state(
    context: &Context,
    key: &FrameKey,
    node: u32,
    option: u32,
    label: &str,
) -> Result<Option<MadeState>, OpError> {
    let step = Step("madeState", json!({ "ref": node, "option": option, "label": label }));
    match context.pages.run(key, vec![step]).await.and_then(|mut call| call.take()) {
        Ok(state) => Ok(Some(state)),
        Err(EngineError::Gone | EngineError::Halted(_)) => Ok(None),
        Err(EngineError::Engine { kind, .. }) if kind == "stale" => Ok(None),
        Err(error) => Err(context.engine(&error, Phase::Verification)),
    }
}

fn did_not_stay(as_before: bool) -> OpError {
    let (how, outcome) = if as_before {
        ("the list is as it was before", Outcome::Failed)
    } else {
        ("the list holds something else", Outcome::Completed)
    };
    OpError::failed(
        ErrorKind::VerificationFailed,
        Phase::Verification,
        format!("the option was chosen and did not stay: {how}"),
        "observe the list; the page may refuse this choice",
    )
    .reason("reverted")
    .ended(outcome, Dispatched::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_before_the_press_says_nothing_of_it() {
        let state = |marked, own: &str| {
            let (whole, part) = (own == "Red", own.contains("Red"));
            MadeState { marked, whole, part, near: false, blank: own.is_empty(), own: own.to_owned() }
        };
        let near = |near| MadeState { near, ..state(None, "") };
        for (role, before, after, holds) in [
            ("combobox", Some(near(false)), near(true), Some(true)),
            ("combobox", Some(near(true)), near(true), None),
            ("combobox", None, near(true), None),
            ("combobox", Some(state(None, "Choose")), state(None, "Red"), Some(true)),
            ("combobox", Some(state(None, "Red")), state(None, "Red"), Some(true)),
            ("combobox", Some(state(None, "Infrared Red")), state(None, "Infrared Red"), None),
            ("combobox", Some(state(None, "Colour")), state(None, "Colour: Red"), Some(true)),
            ("combobox", Some(state(None, "Choose")), state(None, "Choose"), Some(false)),
            ("combobox", Some(state(Some(true), "")), state(Some(true), ""), None),
            ("combobox", Some(state(Some(false), "")), state(Some(true), ""), Some(true)),
            ("combobox", Some(state(Some(false), "1 chosen")), state(Some(true), "2 chosen"), Some(true)),
            ("combobox", Some(state(Some(false), "Choose")), state(Some(true), "Choose"), None),
            ("combobox", Some(state(Some(false), "Choose")), state(Some(false), "Choose"), Some(false)),
            ("listbox", Some(state(Some(false), "")), state(Some(true), ""), Some(true)),
            ("listbox", None, state(Some(false), ""), Some(false)),
            ("listbox", None, state(None, "Red"), None),
        ] {
            assert_eq!(verdict(role, before.as_ref(), &after), holds, "{role} {before:?} {after:?}");
        }
    }
}
