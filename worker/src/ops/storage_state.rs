//! `storageState`: what the session keeps for sites, out to a file and in from one (contract 7.8).
//!
//! Origins are visited in a page aside whose document the browser makes itself: no site hears of it. What was loaded is
//! counted by what is there afterwards.

use std::sync::Arc;
use std::time::Duration;

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::escape::cut;
use glass_proto::op::{StorageAction, StorageState};
use glass_proto::result::{NotMoved, OriginMoved, StorageMoved};
use glass_proto::storage::{StorageFile, StoredCookie, StoredItem, StoredOrigin};
use serde::Deserialize;
use serde_json::{Value, json};

use super::cookies;
use crate::cdp::types::storage::{self, CookieParam, PartitionKey};
use crate::cdp::types::{dom_storage, page};
use crate::context::{Context, halted};
use crate::page::{Aside, AsideError, EngineError, Halt, State, origin};

/// Functions that read and write what an origin keeps.
const SITE: &str = include_str!("storage_state/site.js");
/// Where a page aside is before it is shown an origin: an address that nobody has.
const NOWHERE: &str = "https://nowhere.invalid/";
/// Between two tries.
const AGAIN: Duration = Duration::from_millis(20);
/// What was not moved and is named; the rest is counted.
const MAX_NAMED: usize = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Saved {
    origin: String,
    local_storage: Vec<StoredItem>,
    #[serde(rename = "indexedDB")]
    indexed_db: Vec<Value>,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    origin: String,
    local_storage: u64,
    records: u64,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    what: String,
    name: String,
    reason: String,
    count: Option<u64>,
}

pub(super) async fn run(context: &Context, params: &StorageState) -> Result<StorageMoved, OpError> {
    match (params.action, &params.state) {
        (StorageAction::Save, _) => save(context).await,
        (StorageAction::Load, Some(file)) => load(context, file).await,
        (StorageAction::Load, None) => Err(OpError::invalid(
            "the state to load did not come with the call",
            "a client reads the file; update it, or put what the file holds into `state`",
        )),
    }
}

/// What was moved so far, and what was not.
struct Moved(StorageMoved);

impl Moved {
    fn new(action: &str) -> Self {
        Self(StorageMoved { action: action.to_owned(), ..StorageMoved::default() })
    }

    fn refuse(&mut self, what: &str, place: &str, name: &str, reason: &str, count: Option<u64>) {
        self.0.refused_total += count.unwrap_or(1);
        if self.0.refused.len() < MAX_NAMED {
            self.0.refused.push(NotMoved {
                what: what.to_owned(),
                place: cut(place, 256).into_owned(),
                name: cut(name, 256).into_owned(),
                reason: reason.to_owned(),
                count,
            });
        }
    }

    fn refuse_all(&mut self, place: &str, refused: &[Refused]) {
        for one in refused {
            self.refuse(&one.what, place, &one.name, &one.reason, one.count);
        }
    }

    fn origin(&mut self, origin: &str) -> &mut OriginMoved {
        let origins = &mut self.0.origins;
        let at = origins.iter().position(|known| known.origin == origin).unwrap_or_else(|| {
            origins.push(OriginMoved { origin: origin.to_owned(), ..OriginMoved::default() });
            origins.len() - 1
        });
        &mut origins[at]
    }
}

async fn save(context: &Context) -> Result<StorageMoved, OpError> {
    let mut moved = Moved::new("save");
    let cookies: Vec<_> = cookies::all(context).await?.into_iter().map(stored).collect();
    moved.0.cookies = cookies.len() as u64;
    let mut file = StorageFile { cookies, origins: Vec::new() };
    let (origins, forgotten) = {
        let state = context.pages.state();
        (state.visited.origins(), state.visited.forgotten)
    };
    if forgotten > 0 {
        moved.refuse("origin", "", "", "too_many", Some(forgotten));
    }
    if !origins.is_empty() {
        let aside = aside(context).await?;
        let mut left = StorageState::MAX_BYTES;
        for origin in &origins {
            let saved: Saved = match visit(context, &aside, origin, "save", &json!(left)).await? {
                Some(saved) => saved,
                None => {
                    moved.refuse("origin", origin, "", "not_reached", None);
                    continue;
                }
            };
            if saved.origin != *origin {
                moved.refuse("origin", origin, "", "not_reached", None);
                continue;
            }
            moved.refuse_all(origin, &saved.refused);
            let kept = StoredOrigin {
                origin: origin.clone(),
                local_storage: saved.local_storage,
                indexed_db: saved.indexed_db,
                session_storage: Vec::new(),
            };
            left = left.saturating_sub(serde_json::to_string(&kept).map_or(0, |text| text.len()));
            if left == 0 {
                return Err(too_large());
            }
            file.origins.push(kept);
        }
    }
    save_session(context, &mut file, &mut moved).await?;
    file.origins.retain(|kept| {
        !(kept.local_storage.is_empty() && kept.session_storage.is_empty() && kept.indexed_db.is_empty())
    });
    for kept in &file.origins {
        let row = moved.origin(&kept.origin);
        row.local_storage = kept.local_storage.len() as u64;
        row.session_storage = kept.session_storage.len() as u64;
        row.indexed_db = kept.indexed_db.iter().map(records).sum();
    }
    let text = serde_json::to_vec_pretty(&file).map_err(|_| too_large())?;
    if text.len() > StorageState::MAX_BYTES {
        return Err(too_large());
    }
    moved.0.bytes = Some(text.len() as u64);
    context.send_file("storage-state.json", "application/json", text).await;
    Ok(moved.0)
}

/// sessionStorage belongs to one page: what this one keeps for the origin that it shows.
async fn save_session(context: &Context, file: &mut StorageFile, moved: &mut Moved) -> Result<(), OpError> {
    let (session, url, halt) = place(context)?;
    let Some(origin) = origin(&url) else { return Ok(()) };
    if halt.is_some() {
        moved.refuse("sessionStorage", &origin, "", "page_does_not_answer", None);
        return Ok(());
    }
    let Some(items) = session_items(context, &session, &origin).await? else {
        moved.refuse("sessionStorage", &origin, "", "refused_by_browser", None);
        return Ok(());
    };
    let items = items.into_iter().map(|(name, value)| StoredItem { name, value }).collect();
    match file.origins.iter_mut().find(|kept| kept.origin == origin) {
        Some(kept) => kept.session_storage = items,
        None => file.origins.push(StoredOrigin { origin, session_storage: items, ..StoredOrigin::default() }),
    }
    Ok(())
}

async fn load(context: &Context, file: &StorageFile) -> Result<StorageMoved, OpError> {
    let mut moved = Moved::new("load");
    context.dispatching().await;
    load_cookies(context, &file.cookies, &mut moved).await?;
    let mut page_aside = None;
    for kept in &file.origins {
        let Some(origin) = origin(&kept.origin).filter(|origin| *origin == kept.origin) else {
            moved.refuse("origin", &kept.origin, "", "not_an_origin", None);
            continue;
        };
        context.pages.state().visited.note(&origin);
        if kept.local_storage.is_empty() && kept.indexed_db.is_empty() {
            continue;
        }
        let aside = match &page_aside {
            Some(aside) => aside,
            None => page_aside.insert(aside(context).await?),
        };
        let wanted = json!({ "localStorage": kept.local_storage, "indexedDB": kept.indexed_db });
        let loaded: Option<Loaded> = visit(context, aside, &origin, "load", &wanted).await?;
        match loaded.filter(|loaded| loaded.origin == origin) {
            Some(loaded) => {
                moved.refuse_all(&origin, &loaded.refused);
                let row = moved.origin(&origin);
                (row.local_storage, row.indexed_db) = (loaded.local_storage, loaded.records);
            }
            None => moved.refuse("origin", &origin, "", "not_reached", None),
        }
    }
    drop(page_aside);
    load_session(context, file, &mut moved).await?;
    Ok(moved.0)
}

async fn load_cookies(context: &Context, wanted: &[StoredCookie], moved: &mut Moved) -> Result<(), OpError> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0.0, |since| since.as_secs_f64());
    let is_ended = |cookie: &&StoredCookie| cookie.expires > 0.0 && cookie.expires <= now;
    for cookie in wanted.iter().filter(is_ended) {
        moved.refuse("cookie", &cookie.domain, &cookie.name, "expired", None);
    }
    let lasting: Vec<_> = wanted.iter().filter(|cookie| !is_ended(cookie)).collect();
    let params: Vec<_> = lasting.iter().map(|cookie| param(cookie)).collect();
    let stored = cookies::put(context, &params).await?;
    for (cookie, stored) in lasting.into_iter().zip(stored) {
        match stored {
            Some(_) => moved.0.cookies += 1,
            None => moved.refuse("cookie", &cookie.domain, &cookie.name, "refused_by_browser", None),
        }
    }
    Ok(())
}

async fn load_session(context: &Context, file: &StorageFile, moved: &mut Moved) -> Result<(), OpError> {
    let wanted: Vec<&StoredOrigin> =
        file.origins.iter().filter(|kept| !kept.session_storage.is_empty()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let (session, url, halt) = place(context)?;
    let shown = origin(&url).filter(|_| halt.is_none());
    let blank = halt.is_none() && url == "about:blank" && is_unused(context, &session).await?;
    for kept in &wanted {
        if shown.as_ref() == Some(&kept.origin) {
            put_session(context, &session, kept, moved).await?;
        } else if blank && origin(&kept.origin).as_ref() == Some(&kept.origin) {
            // The page itself shows an empty document of the origin for a moment: its sessionStorage is its alone.
            let url = format!("{}/", kept.origin);
            let _only = context.pages.empty_at(&session, &url);
            if go(context, &session, &url).await? {
                put_session(context, &session, kept, moved).await?;
            } else {
                moved.refuse("sessionStorage", &kept.origin, "", "not_reached", None);
            }
        } else {
            let count = Some(kept.session_storage.len() as u64);
            moved.refuse("sessionStorage", &kept.origin, "", "other_page", count);
        }
    }
    if blank {
        go(context, &session, "about:blank").await?;
        forget_history(context, &session).await?;
    }
    Ok(())
}

/// Nobody went to where the page has been: back leads nowhere.
async fn forget_history(context: &Context, session: &Arc<str>) -> Result<(), OpError> {
    // Right after a document has come the browser says for a moment that the page is not there.
    while !context.left().is_zero() {
        let forgotten = context.pages.client().start_send(Some(session), page::ResetNavigationHistory {});
        within(context, forgotten).await?;
        if is_unused(context, session).await? {
            break;
        }
        tokio::time::sleep(AGAIN).await;
    }
    Ok(())
}

async fn put_session(
    context: &Context,
    session: &Arc<str>,
    kept: &StoredOrigin,
    moved: &mut Moved,
) -> Result<(), OpError> {
    let key = format!("{}/", kept.origin);
    let id = dom_storage::StorageId { storage_key: &key, is_local_storage: false };
    for item in &kept.session_storage {
        let set = dom_storage::SetDOMStorageItem { storage_id: id, key: &item.name, value: &item.value };
        let set = context.pages.client().start_send(Some(session), set);
        // What counts is what is there afterwards.
        let _ = within(context, set).await?;
    }
    let there = session_items(context, session, &kept.origin).await?.unwrap_or_default();
    for item in &kept.session_storage {
        if there.iter().any(|(name, value)| (name, value) == (&item.name, &item.value)) {
            moved.origin(&kept.origin).session_storage += 1;
        } else {
            moved.refuse("sessionStorage", &kept.origin, &item.name, "refused_by_browser", None);
        }
    }
    Ok(())
}

async fn session_items(
    context: &Context,
    session: &Arc<str>,
    origin: &str,
) -> Result<Option<Vec<(String, String)>>, OpError> {
    let key = format!("{origin}/");
    let storage_id = dom_storage::StorageId { storage_key: &key, is_local_storage: false };
    let items =
        context.pages.client().start_send(Some(session), dom_storage::GetDOMStorageItems { storage_id });
    Ok(within(context, items).await?.map(|items| items.entries))
}

/// The target's CDP session, what it shows, and what halts it.
fn place(context: &Context) -> Result<(Arc<str>, String, Option<Halt>), OpError> {
    let state = context.pages.state();
    let halt = Halt::of(&state, &context.target);
    let target = state.target(&context.target).ok_or_else(|| halted(&Halt::Closed))?;
    Ok((target.session.clone(), target.url.clone(), halt))
}

/// Whether the page has shown nothing yet.
async fn is_unused(context: &Context, session: &Arc<str>) -> Result<bool, OpError> {
    let history = context.pages.client().start_send(Some(session), page::GetNavigationHistory {});
    Ok(within(context, history).await?.is_some_and(|history| history.entries.len() == 1))
}

async fn go(context: &Context, session: &Arc<str>, url: &str) -> Result<bool, OpError> {
    let command = page::Navigate { url, ..page::Navigate::default() };
    let went = context.pages.client().start_send(Some(session), command);
    let Some(went) = within(context, went).await? else { return Ok(false) };
    let (None | Some(""), Some(loader)) = (went.error_text.as_deref(), went.loader_id) else {
        return Ok(false);
    };
    let stands = |state: &State| {
        state.target(&context.target).is_none_or(|target| target.document.loader == loader).then_some(())
    };
    let stands = context.pages.until(context.soft, stands).await;
    let stands = stands.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))?;
    Ok(stands.is_some())
}

/// The reply within the deadline; `None` where the browser refuses.
async fn within<R>(
    context: &Context,
    pending: impl Future<Output = Result<R, crate::cdp::CdpError>>,
) -> Result<Option<R>, OpError> {
    match tokio::time::timeout(context.left(), pending).await {
        Err(_) => Err(context.engine(&EngineError::Silent, Phase::BrowserEffect)),
        Ok(Err(error)) if error.is_closed() => {
            Err(context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))
        }
        Ok(answer) => Ok(answer.ok()),
    }
}

async fn aside(context: &Context) -> Result<Aside, OpError> {
    context.pages.aside(NOWHERE, context.soft).await.map_err(|error| fault(context, error))
}

/// Calls a function for an origin in an empty document of it; `None` where that is not to be had.
async fn visit<T: serde::de::DeserializeOwned>(
    context: &Context,
    aside: &Aside,
    origin: &str,
    function: &str,
    argument: &Value,
) -> Result<Option<T>, OpError> {
    let result = async {
        aside.show(&format!("{origin}/"), context.soft).await?;
        aside.call(&format!("{SITE}.{function}"), argument, context.soft).await
    };
    match result.await {
        Ok(answer) => Ok(Some(answer)),
        Err(AsideError::NotShown(error)) => {
            tracing::debug!(%error, "an origin cannot be shown aside");
            Ok(None)
        }
        Err(AsideError::Threw) => Ok(None),
        Err(error) => Err(fault(context, error)),
    }
}

fn fault(context: &Context, error: AsideError) -> OpError {
    match error {
        AsideError::Engine(error) => context.engine(&error, Phase::BrowserEffect),
        AsideError::NotShown(_) | AsideError::Threw => {
            context.engine(&EngineError::Silent, Phase::BrowserEffect)
        }
    }
}

fn too_large() -> OpError {
    OpError::rejected(
        ErrorKind::ResultTooLarge,
        Phase::Verification,
        format!("the session keeps more than {} MiB for sites", StorageState::MAX_BYTES / 1024 / 1024),
        "save a session that has visited fewer sites",
    )
}

fn records(database: &Value) -> u64 {
    let stores = database.get("stores").and_then(Value::as_array).into_iter().flatten();
    stores.filter_map(|store| store.get("records")?.as_array()).map(|records| records.len() as u64).sum()
}

fn stored(cookie: storage::Cookie) -> StoredCookie {
    StoredCookie {
        same_site: cookie.same_site.as_deref().and_then(cookies::same_site),
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain,
        path: cookie.path,
        expires: if cookie.expires > 0.0 { cookie.expires } else { -1.0 },
        http_only: cookie.http_only,
        secure: cookie.secure,
        cross_site_ancestor: cookie.partition_key.as_ref().map(|key| key.has_cross_site_ancestor),
        partition_key: cookie.partition_key.map(|key| key.top_level_site),
    }
}

fn param(cookie: &StoredCookie) -> CookieParam<'_> {
    CookieParam {
        name: &cookie.name,
        value: &cookie.value,
        domain: &cookie.domain,
        path: &cookie.path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        same_site: cookie.same_site.map(|same_site| same_site.name()),
        expires: (cookie.expires > 0.0).then_some(cookie.expires),
        source_scheme: None,
        source_port: None,
        partition_key: cookie.partition_key.as_ref().map(|site| PartitionKey {
            top_level_site: site.clone(),
            has_cross_site_ancestor: cookie.cross_site_ancestor.unwrap_or(true),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_moved_is_named_up_to_a_bound_and_counted() {
        let mut moved = Moved::new("load");
        for _ in 0..60 {
            moved.refuse("cookie", "a.example", "x", "expired", None);
        }
        moved.refuse("sessionStorage", "https://a.example", "", "other_page", Some(3));
        assert_eq!((moved.0.refused.len(), moved.0.refused_total), (MAX_NAMED, 63));
    }

    #[test]
    fn records_of_all_stores_count() {
        let database = json!({ "name": "d", "stores": [{ "records": [1, 2] }, { "records": [3] }, {}] });
        assert_eq!(records(&database), 3);
    }
}
