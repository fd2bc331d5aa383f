//! Facts about a page that `wait`, `verify` and `expect` ask for: one look at one of them (contract 8.1, 8.2).
//!
//! A look answers a [`Truth`] with three values: what could not be decided is not false, so that `not` cannot turn it
//! into true.

mod element;
mod network;
mod predicate;
mod script;
mod until;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::predicate::CountOf;
use glass_proto::op::wait::{Become, Condition, Match, Milestone};
use glass_proto::op::{Locator, Predicate};
use glass_proto::result::DownloadState;
use serde_json::{Value, json};

use super::evidence::main_info;
use super::find::{find_scope, frames_in};
use crate::context::{Context, halted};
use crate::page::{EngineError, FrameKey, Halt, State, Step, Target};

pub use element::several;
pub use predicate::{Weighed, failed, verify};
pub use script::check as check_script;
pub use until::{Question, Wake, until};

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// Nobody can say: something could not be read, or means more than one element.
    Undecided,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

/// What a look found, and what it saw: page data, bounded.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whether it holds.
    pub truth: Truth,
    /// What was seen.
    pub what: Value,
}

impl Seen {
    fn new(truth: impl Into<Truth>, what: Value) -> Self {
        Self { truth: truth.into(), what }
    }
}

/// How an element is wanted to be.
#[derive(Clone, Copy, Debug)]
pub enum Want<'a> {
    /// As a wait says.
    State(Become),
    /// Checked or pressed.
    Checked,
    /// With this value.
    Value(&'a str),
}

/// How a URL or title is compared.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// All of it.
    Is(&'a str),
    /// Its beginning.
    Begins(&'a str),
    /// By a glob.
    Fits(&'a str),
    /// Some of it.
    Has(&'a str),
}

/// One fact about a page or its session.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// The URL of the page.
    Url(Text<'a>),
    /// Its title.
    Title(Text<'a>),
    /// Visible text holds this; or does not.
    Words(&'a str, bool),
    /// Elements are so.
    Element(Want<'a>, &'a Locator, Match),
    /// So many elements fit.
    Count(&'a CountOf),
    /// The document is that far.
    Lifecycle(Milestone),
    /// No request was under way for so many milliseconds.
    Quiet(u32),
    /// A dialog is open; or none is.
    Dialog(bool),
    /// A page that this one opened is open; or none is.
    Popup(bool),
    /// A download was completed; or none was.
    Download(bool),
    /// So many targets are open.
    Targets(u32),
    /// The target with that id is open.
    Target(&'a str),
    /// The page has a frame with that id.
    Frame(&'a str),
    /// The revision is this one.
    Revision(u64),
    /// The revision is greater than this one.
    RevisionAfter(u64),
    /// The expression is true.
    Script(&'a str),
}

impl<'a> Fact<'a> {
    /// What a condition asks.
    pub fn of_condition(condition: &'a Condition, matching: Match) -> Self {
        match condition {
            Condition::Lifecycle(milestone) => Self::Lifecycle(*milestone),
            Condition::Url(url) => Self::Url(Text::Is(url)),
            Condition::UrlPrefix(url) => Self::Url(Text::Begins(url)),
            Condition::UrlGlob(url) => Self::Url(Text::Fits(url)),
            Condition::Title(title) => Self::Title(Text::Is(title)),
            Condition::Text(text) => Self::Words(text, true),
            Condition::GoneText(text) => Self::Words(text, false),
            Condition::Element(state, locator) => Self::Element(Want::State(*state), locator, matching),
            Condition::Count(count) => Self::Count(count),
            Condition::NetworkQuiet(ms) => Self::Quiet(*ms),
            Condition::Dialog => Self::Dialog(true),
            Condition::Popup => Self::Popup(true),
            Condition::Download => Self::Download(true),
            Condition::RevisionAfter(revision) => Self::RevisionAfter(*revision),
            Condition::Js(expression) => Self::Script(expression),
        }
    }

    /// What a predicate asks that is made of no others.
    fn of_predicate(predicate: &'a Predicate) -> Option<Self> {
        let element = |state, locator| Self::Element(Want::State(state), locator, Match::Unique);
        Some(match predicate {
            Predicate::UrlEquals(url) => Self::Url(Text::Is(url)),
            Predicate::UrlMatches(url) => Self::Url(Text::Fits(url)),
            Predicate::TitleContains(title) => Self::Title(Text::Has(title)),
            Predicate::Visible(locator) => element(Become::Visible, locator),
            Predicate::Hidden(locator) => element(Become::Hidden, locator),
            Predicate::TextContains(text) => Self::Words(text, true),
            Predicate::ValueEquals(wanted) => {
                Self::Element(Want::Value(&wanted.value), &wanted.target, Match::Unique)
            }
            Predicate::Checked(locator) => Self::Element(Want::Checked, locator, Match::Unique),
            Predicate::Count(count) => Self::Count(count),
            Predicate::PopupOpened(open) => Self::Popup(*open),
            Predicate::DialogOpen(open) => Self::Dialog(*open),
            Predicate::DownloadCompleted(done) => Self::Download(*done),
            Predicate::TargetCount(count) => Self::Targets(*count),
            Predicate::TargetExists(id) => Self::Target(id),
            Predicate::FrameExists(id) => Self::Frame(id),
            Predicate::RevisionEquals(revision) => Self::Revision(*revision),
            Predicate::All(_) | Predicate::Any(_) | Predicate::Not(_) => return None,
        })
    }

    /// Whether what the page itself shows decides it: then changes of the page are waited for.
    pub fn is_of_page(&self) -> bool {
        !matches!(
            self,
            Self::Lifecycle(_)
                | Self::Quiet(_)
                | Self::Dialog(_)
                | Self::Popup(_)
                | Self::Download(_)
                | Self::Targets(_)
                | Self::Target(_)
                | Self::Frame(_)
        )
    }
}

/// From when on popups and downloads count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Since {
    /// See `State::mark`.
    pub targets: u64,
    /// Downloads before this number do not count.
    pub downloads: u64,
}

/// Looks once.
///
/// # Errors
/// When the question itself cannot be asked: a stale ref, an ambiguous container, a bad selector, a dead page.
async fn look_at(context: &Context, fact: Fact<'_>, since: Since) -> Result<Seen, OpError> {
    match fact {
        Fact::Url(text) => {
            let info = main_info(context).await?;
            Ok(Seen::new(text.fits(&info.url), json!({ "url": cut(&info.url, 512) })))
        }
        Fact::Title(text) => {
            let info = main_info(context).await?;
            // Titles compare as names do, as far as white space goes.
            let title = info.title.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(Seen::new(text.fits(&title), json!({ "title": cut(&info.title, 256) })))
        }
        Fact::Words(text, wanted) => words(context, text, wanted).await,
        Fact::Element(want, locator, matching) => element::look(context, want, locator, matching).await,
        Fact::Count(count) => element::count(context, count).await,
        Fact::Lifecycle(milestone) => network::lifecycle(context, milestone),
        Fact::Quiet(ms) => network::quiet(context, std::time::Duration::from_millis(ms.into())),
        Fact::Revision(wanted) => {
            let now = revision(context).await?;
            Ok(Seen::new(now == wanted, json!({ "revision": now })))
        }
        Fact::RevisionAfter(before) => {
            let now = revision(context).await?;
            Ok(Seen::new(now > before, json!({ "revision": now })))
        }
        Fact::Script(expression) => script::look(context, expression).await,
        Fact::Download(_)
        | Fact::Dialog(_)
        | Fact::Popup(_)
        | Fact::Targets(_)
        | Fact::Target(_)
        | Fact::Frame(_) => known(context, fact, since),
    }
}

/// What the browser's events have told already.
fn known(context: &Context, fact: Fact<'_>, since: Since) -> Result<Seen, OpError> {
    let state = context.pages.state();
    // What is known of the session outlives the page that asks.
    let target = || state.target(&context.target).ok_or_else(|| halted(&Halt::Closed));
    Ok(match fact {
        Fact::Dialog(wanted) => {
            let target = target()?;
            let seen = target.dialog.as_ref().map(|dialog| &dialog.seen);
            Seen::new(seen.is_some() == wanted, json!({ "dialog": seen }))
        }
        Fact::Popup(wanted) => {
            let popups = state.popups_since(&context.target, since.targets);
            let ours = popups.iter().filter(|popup| descends(&state, popup, &context.target));
            let ids: Vec<&str> = ours.take(8).map(|popup| popup.id.as_str()).collect();
            Seen::new(ids.is_empty() != wanted, json!({ "popups": ids }))
        }
        Fact::Download(wanted) => {
            let done = state.downloads.iter().filter(|download| {
                download.target.as_deref() == Some(&context.target)
                    && download.number >= since.downloads
                    && download.state == DownloadState::Completed
            });
            let ids: Vec<&str> = done.take(8).map(|download| download.id.as_str()).collect();
            Seen::new(ids.is_empty() != wanted, json!({ "downloads": ids }))
        }
        Fact::Targets(wanted) => {
            let open = state.order.len();
            Seen::new(u32::try_from(open).is_ok_and(|open| open == wanted), json!({ "targets": open }))
        }
        Fact::Target(id) => Seen::new(state.target(id).is_some(), json!({ "targets": state.order.len() })),
        Fact::Frame(id) => {
            let keys = target()?.keys();
            let labels: Vec<String> = keys.iter().take(32).map(|key| format!("f{}", key.label)).collect();
            let there = keys.iter().any(|key| format!("f{}", key.label) == id);
            // The main frame has no number in refs.
            Seen::new(there || id == "main", json!({ "frames": &labels[1.min(labels.len())..] }))
        }
        _ => Seen::new(Truth::Undecided, Value::Null),
    })
}

/// Whether a target was opened by this page, or by one that it opened. What has no opener was opened by nobody known.
fn descends(state: &State, popup: &Target, page: &str) -> bool {
    let mut by = popup.opener.as_deref();
    while let Some(id) = by {
        if id == page {
            return true;
        }
        by = state.target(id).and_then(|target| target.opener.as_deref());
    }
    false
}

async fn revision(context: &Context) -> Result<u64, OpError> {
    let changes = context.pages.sync(&context.target).await;
    Ok(changes.map_err(|error| context.engine(&error, Phase::Verification))?.revision)
}

impl Text<'_> {
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text == wanted,
            Self::Begins(wanted) => text.starts_with(wanted),
            Self::Fits(glob) => crate::glob::fits(glob, text),
            Self::Has(wanted) => text.contains(wanted),
        }
    }
}

#[derive(serde::Deserialize)]
struct HasText {
    found: bool,
}

/// Whether visible text holds `text`, in any frame, or in the scope and the frames in it.
async fn words(context: &Context, text: &str, wanted: bool) -> Result<Seen, OpError> {
    let scope = match find_scope(context).await {
        Ok(scope) => scope.map(|(found, _)| found),
        // A scope that is not there yet has no text.
        Err(error) if error.kind == ErrorKind::TargetNotFound && !element::is_unread(&error) => {
            return Ok(Seen::new(!wanted, json!({ "found": false, "scope": "missing" })));
        }
        Err(error) if error.reason.as_deref() == Some("frame_unavailable") => {
            return Ok(Seen::new(Truth::Undecided, json!({ "found": false, "scope": "unread" })));
        }
        Err(error) => return Err(error),
    };
    let keys: Vec<FrameKey> = match &scope {
        Some(found) => {
            let inner = frames_in(context, found).await?;
            std::iter::once(found.key.clone()).chain(inner).collect()
        }
        None => context.readable(),
    };
    if keys.is_empty() {
        return Err(halted(&Halt::Closed));
    }
    let reads = keys.iter().enumerate().map(|(at, key)| {
        let mut args = json!({ "value": text });
        if let (0, Some(found)) = (at, &scope) {
            args["scopeRef"] = found.node.into();
        }
        async move { context.pages.look(key, vec![Step("hasText", args)]).await?.take::<HasText>() }
    });
    let mut unread = 0;
    for (at, read) in futures_util::future::join_all(reads).await.into_iter().enumerate() {
        match read {
            Ok(HasText { found: true }) => return Ok(Seen::new(wanted, json!({ "found": true }))),
            Ok(_) => {}
            Err(EngineError::Silent) => unread += 1,
            Err(error) if at == 0 => return Err(context.engine(&error, Phase::Verification)),
            Err(_) => unread += usize::from(context.pages.may_hold(&keys[at])),
        }
    }
    if unread > 0 {
        return Ok(Seen::new(Truth::Undecided, json!({ "found": false, "framesUnread": unread })));
    }
    Ok(Seen::new(!wanted, json!({ "found": false })))
}
