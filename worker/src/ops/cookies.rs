//! `cookies`: the cookies of the session, which belong to no page (contract 7.8).
//!
//! What was set or deleted is read again: the answer tells what is there now, not what was asked for.

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{CookieAction, Cookies};
use glass_proto::result::{Cookie, CookiesAnswered, Partition};
use glass_proto::storage::SameSite;
use url::Url;

use crate::cdp::types::storage::{self, CookieParam, PartitionKey};
use crate::cdp::{CdpError, Command};
use crate::context::Context;
use crate::page::EngineError;

/// Most cookies of an answer.
const MAX_LISTED: usize = 500;
/// Most bytes of an answer's names and values.
const MAX_BYTES: usize = 1024 * 1024;
/// A moment long ago: a cookie that ends then is deleted.
const PAST: f64 = 1.0;

pub(super) async fn run(context: &Context, params: &Cookies) -> Result<CookiesAnswered, OpError> {
    match params.action {
        CookieAction::Get => Ok(listed(params.action, &matching(context, params).await?, true)),
        CookieAction::Set => set(context, params).await,
        CookieAction::Delete | CookieAction::Clear => delete(context, params).await,
    }
}

async fn set(context: &Context, params: &Cookies) -> Result<CookiesAnswered, OpError> {
    let (Some(name), Some(value)) = (params.name.as_deref(), params.value.as_deref()) else {
        return Err(OpError::invalid("set takes a name and a value", "give both"));
    };
    let url = params.url.as_deref().and_then(|url| Url::parse(url).ok());
    // A domain whose subdomains get it is written with a dot; without --domain it is the URL's host alone.
    let domain = params.domain.as_deref().map(domain_cookie);
    let host = url.as_ref().and_then(Url::host_str).map(str::to_owned);
    let place = domain.or(host).unwrap_or_default();
    let wanted = CookieParam {
        name,
        value,
        domain: &place,
        path: params.path.as_deref().unwrap_or("/"),
        secure: params.secure,
        http_only: params.http_only,
        same_site: params.same_site.map(SameSite::name),
        expires: params.expires,
        source_scheme: url.as_ref().filter(|url| url.scheme() == "https").map(|_| "Secure"),
        source_port: url.as_ref().and_then(Url::port_or_known_default).map(i64::from),
        partition_key: params.partition_key.as_deref().map(|site| partition(site, &place)),
    };
    context.dispatching().await;
    let stored = put(context, &[wanted]).await?.pop().flatten().ok_or_else(refused)?;
    Ok(listed(params.action, &[stored], false))
}

/// Sets each cookie by itself, so that one that is refused keeps none back, and answers each as it is stored now.
pub(super) async fn put(
    context: &Context,
    wanted: &[CookieParam<'_>],
) -> Result<Vec<Option<storage::Cookie>>, OpError> {
    let before = all(context).await?;
    let client = context.pages.client();
    let set = |cookie| client.start_send(None, storage::SetCookies { cookies: std::slice::from_ref(cookie) });
    let answers: Vec<_> = wanted.iter().map(set).collect();
    for answer in answers {
        match answer.await {
            Err(error) if error.is_closed() => return Err(fault(context, error)),
            // What counts is what is there.
            Ok(_) | Err(_) => {}
        }
    }
    let there = all(context).await?;
    let stored = wanted.iter().map(|wanted| there.iter().find(|cookie| is_stored(cookie, wanted)).cloned());
    // Of a domain that may have no cookies, such as a public suffix, the browser makes one of the host alone.
    let strays: Vec<_> = wanted.iter().filter_map(|wanted| stray(wanted, &there, &before)).collect();
    let stored = stored.collect();
    if !strays.is_empty() {
        let ended: Vec<_> = strays.into_iter().map(ended).collect();
        ask(context, storage::SetCookies { cookies: &ended })
            .await?
            .map_err(|error| fault(context, error))?;
    }
    Ok(stored)
}

/// The cookie of the host alone that came in the place of one of a domain.
fn stray<'a>(
    wanted: &CookieParam<'_>,
    there: &'a [storage::Cookie],
    before: &[storage::Cookie],
) -> Option<&'a storage::Cookie> {
    let host = wanted.domain.strip_prefix('.')?;
    let in_place = |cookie: &&storage::Cookie| {
        cookie.domain.eq_ignore_ascii_case(host) && cookie.name == wanted.name && cookie.value == wanted.value
    };
    there.iter().find(in_place).filter(|cookie| !before.iter().any(|known| is_one(known, cookie)))
}

async fn delete(context: &Context, params: &Cookies) -> Result<CookiesAnswered, OpError> {
    let meant = matching(context, params).await?;
    if meant.is_empty() && params.action == CookieAction::Delete {
        return Err(OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "the session has no such cookie",
            "`glassctl cookies get` lists those that there are",
        )
        .reason("no_such_cookie"));
    }
    if meant.is_empty() {
        return Ok(listed(params.action, &[], false));
    }
    context.dispatching().await;
    if params.action == CookieAction::Clear && params.url.is_none() && params.domain.is_none() {
        ask(context, storage::ClearCookies {}).await?.map_err(|error| fault(context, error))?;
    } else {
        let ended: Vec<_> = meant.iter().map(ended).collect();
        ask(context, storage::SetCookies { cookies: &ended })
            .await?
            .map_err(|error| fault(context, error))?;
    }
    let left = all(context).await?;
    let still = |gone: &&storage::Cookie| left.iter().any(|cookie| is_one(cookie, gone));
    if meant.iter().any(|cookie| still(&cookie)) {
        return Err(OpError::failed(
            ErrorKind::VerificationFailed,
            Phase::Verification,
            "the browser was told to delete the cookies, and not all of them are gone",
            "`glassctl cookies get` shows those that are left; a page may have set them again",
        )
        .reason("still_there"));
    }
    Ok(listed(params.action, &meant, false))
}

/// Those that the call names, in a stable order.
async fn matching(context: &Context, params: &Cookies) -> Result<Vec<storage::Cookie>, OpError> {
    let url = params.url.as_deref().and_then(|url| Url::parse(url).ok());
    let mut found = all(context).await?;
    found.retain(|cookie| {
        params.name.as_ref().is_none_or(|name| *name == cookie.name)
            && params.domain.as_deref().is_none_or(|domain| below(&cookie.domain, domain))
            && url.as_ref().is_none_or(|url| carries(url, cookie))
    });
    found.sort_by(|a, b| (&a.domain, &a.path, &a.name).cmp(&(&b.domain, &b.path, &b.name)));
    Ok(found)
}

pub(super) async fn all(context: &Context) -> Result<Vec<storage::Cookie>, OpError> {
    let answer = ask(context, storage::GetCookies {}).await?;
    Ok(answer.map_err(|error| fault(context, error))?.cookies)
}

/// Asks the browser itself. The inner error is its refusal.
async fn ask<C: Command>(context: &Context, command: C) -> Result<Result<C::Reply, CdpError>, OpError> {
    match context.pages.client().send(None, command).await {
        Err(error) if error.is_closed() => Err(fault(context, error)),
        answer => Ok(answer),
    }
}

fn fault(context: &Context, error: CdpError) -> OpError {
    context.engine(&EngineError::Cdp(error), Phase::BrowserEffect)
}

fn refused() -> OpError {
    OpError::failed(
        ErrorKind::InvalidArgument,
        Phase::BrowserEffect,
        "the browser did not take the cookie: its attributes do not fit each other or the place, or it has ended",
        "a domain must not be a public suffix; __Host- and __Secure- names need --secure; --expires lies in the future",
    )
    .reason("refused_by_browser")
}

fn listed(action: CookieAction, cookies: &[storage::Cookie], values: bool) -> CookiesAnswered {
    let mut answered = CookiesAnswered { action: action.name().to_owned(), ..CookiesAnswered::default() };
    let mut bytes = 0;
    for cookie in cookies {
        bytes += cookie.name.len() + cookie.domain.len() + cookie.path.len();
        bytes += if values { cookie.value.len() } else { 0 };
        if answered.cookies.len() >= MAX_LISTED || bytes > MAX_BYTES {
            answered.left_out += 1;
        } else {
            answered.cookies.push(shown(cookie, values));
        }
    }
    answered
}

fn shown(cookie: &storage::Cookie, value: bool) -> Cookie {
    Cookie {
        name: cookie.name.clone(),
        value: value.then(|| cookie.value.clone()),
        domain: cookie.domain.clone(),
        path: cookie.path.clone(),
        expires: (cookie.expires > 0.0).then_some(cookie.expires),
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: cookie.same_site.as_deref().and_then(same_site),
        partition: cookie.partition_key.as_ref().map(|key| Partition {
            top_level_site: key.top_level_site.clone(),
            has_cross_site_ancestor: key.has_cross_site_ancestor,
            opaque: cookie.partition_key_opaque,
        }),
    }
}

pub(super) fn same_site(word: &str) -> Option<SameSite> {
    [SameSite::Strict, SameSite::Lax, SameSite::None].into_iter().find(|known| known.name() == word)
}

/// The same cookie, ended.
fn ended(cookie: &storage::Cookie) -> CookieParam<'_> {
    CookieParam {
        name: &cookie.name,
        value: "",
        domain: &cookie.domain,
        path: &cookie.path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        same_site: cookie.same_site.as_deref(),
        expires: Some(PAST),
        source_scheme: cookie.source_scheme.as_deref(),
        source_port: cookie.source_port,
        partition_key: cookie.partition_key.clone(),
    }
}

/// Whether they are one cookie to the browser.
fn is_one(a: &storage::Cookie, b: &storage::Cookie) -> bool {
    (&a.name, &a.domain, &a.path, &a.partition_key) == (&b.name, &b.domain, &b.path, &b.partition_key)
}

/// Whether it is what was wanted.
fn is_stored(cookie: &storage::Cookie, wanted: &CookieParam<'_>) -> bool {
    cookie.domain.eq_ignore_ascii_case(wanted.domain)
        && (cookie.name.as_str(), cookie.value.as_str()) == (wanted.name, wanted.value)
        && wanted.path == cookie.path
        && (cookie.secure, cookie.http_only) == (wanted.secure, wanted.http_only)
        && cookie.partition_key.is_some() == wanted.partition_key.is_some()
}

/// A domain as cookies write it, when subdomains count. An address has none.
fn domain_cookie(domain: &str) -> String {
    let bare = domain.trim_start_matches('.');
    let is_address = bare.parse::<std::net::IpAddr>().is_ok() || bare.starts_with('[');
    if is_address || !bare.contains('.') { bare.to_owned() } else { format!(".{bare}") }
}

/// Where a partitioned cookie of `domain` is, below pages of `site`.
fn partition(site: &str, domain: &str) -> PartitionKey {
    let host = Url::parse(site).ok().and_then(|url| url.host_str().map(str::to_owned));
    let own = host.is_some_and(|host| below(domain, &host));
    PartitionKey { top_level_site: site.trim_end_matches('/').to_owned(), has_cross_site_ancestor: !own }
}

/// Whether a cookie's domain is `domain` or lies below it.
fn below(cookie: &str, domain: &str) -> bool {
    let (cookie, domain) = (cookie.trim_start_matches('.'), domain.trim_start_matches('.'));
    let (cookie, domain) = (cookie.to_ascii_lowercase(), domain.to_ascii_lowercase());
    cookie == domain || cookie.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether a request to `url` from a page of its own site carries the cookie (RFC 6265, 5.4).
fn carries(url: &Url, cookie: &storage::Cookie) -> bool {
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let domain = cookie.domain.to_ascii_lowercase();
    let of_host = match domain.strip_prefix('.') {
        Some(domain) => below(&host, domain),
        None => host == domain,
    };
    let path = url.path();
    let of_path = path == cookie.path
        || path
            .strip_prefix(cookie.path.as_str())
            .is_some_and(|rest| cookie.path.ends_with('/') || rest.starts_with('/'));
    let own_machine = host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.");
    of_host && of_path && (!cookie.secure || url.scheme() == "https" || own_machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(domain: &str, path: &str, secure: bool) -> storage::Cookie {
        storage::Cookie {
            name: "a".to_owned(),
            value: "b".to_owned(),
            domain: domain.to_owned(),
            path: path.to_owned(),
            expires: -1.0,
            http_only: false,
            secure,
            same_site: None,
            source_scheme: None,
            source_port: None,
            partition_key: None,
            partition_key_opaque: false,
        }
    }

    #[test]
    fn a_url_carries_what_its_host_path_and_scheme_allow() {
        let carried = |url: &str, cookie: &storage::Cookie| carries(&Url::parse(url).unwrap(), cookie);
        for (url, domain, path, secure, want) in [
            ("https://www.x.example/a/b", ".x.example", "/", true, true),
            ("https://www.x.example/a/b", "x.example", "/", false, false),
            ("https://x.example/a/b", "x.example", "/a", false, true),
            ("https://x.example/ab", "x.example", "/a", false, false),
            ("https://x.example/a", "x.example", "/a/", false, false),
            ("http://x.example/", "x.example", "/", true, false),
            ("http://b.localhost:1/", "b.localhost", "/", true, true),
            ("https://badx.example/", ".x.example", "/", false, false),
        ] {
            assert_eq!(carried(url, &cookie(domain, path, secure)), want, "{url} {domain} {path}");
        }
    }

    #[test]
    fn domains_get_a_dot_and_addresses_and_single_names_do_not() {
        assert_eq!(domain_cookie("x.example"), ".x.example");
        assert_eq!(domain_cookie(".x.example"), ".x.example");
        assert_eq!(domain_cookie("127.0.0.1"), "127.0.0.1");
        assert_eq!(domain_cookie("localhost"), "localhost");
    }

    #[test]
    fn a_partition_knows_whether_the_cookie_is_of_the_top_site_itself() {
        let key = partition("https://top.example/", ".api.top.example");
        assert_eq!(
            (key.top_level_site.as_str(), key.has_cross_site_ancestor),
            ("https://top.example", false)
        );
        assert!(partition("https://top.example", ".other.example").has_cross_site_ancestor);
    }

    #[test]
    fn answers_are_bounded_and_say_what_is_left_out() {
        let many = vec![cookie("x.example", "/", false); MAX_LISTED + 7];
        let answered = listed(CookieAction::Get, &many, true);
        assert_eq!((answered.cookies.len(), answered.left_out), (MAX_LISTED, 7));
        assert_eq!(listed(CookieAction::Clear, &many[..1], false).cookies[0].value, None);
    }
}
