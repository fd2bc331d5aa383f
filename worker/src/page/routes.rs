//! Rules for requests (`route`): which there are, which one fits a request, and what CDP is told of them. No rule is
//! looked for unless the browser stopped the request, and it stops only what may fit one.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::op::{RequestType, Route, RouteAction};
use glass_proto::result::RouteRow;

use super::Pages;
use crate::cdp::types::{empty, fetch};
use crate::cdp::{CdpError, Pending};
use crate::glob;

/// Bodies of all rules, in bytes.
const MAX_BODIES: usize = 4 * 1024 * 1024;
/// Patterns that the browser is told; with more of them it stops every request.
const MAX_PATTERNS: usize = 128;
/// A longer URL is not compared, which takes time: it fits every rule that aborts, and no other.
const MAX_URL: usize = 32 * 1024;

/// The rules of the session.
#[derive(Debug, Default)]
pub struct Routes {
    /// The one made last is the last.
    rules: Vec<Rule>,
    made: u64,
}

#[derive(Debug)]
struct Rule {
    id: String,
    /// Without the body.
    route: Route,
    /// The body as CDP wants it.
    body: Arc<str>,
    /// Bytes of the body itself.
    size: usize,
    used: u64,
}

/// There are as many rules as may be, or their bodies are too large together.
#[derive(Debug)]
pub struct Full {
    /// What is bounded.
    pub quota: &'static str,
    /// In use.
    pub used: usize,
    /// The most.
    pub limit: usize,
}

/// What is done with a request.
#[derive(Debug)]
enum Verdict {
    Go,
    Abort,
    Fulfill { status: u16, headers: Vec<(String, String)>, body: Arc<str> },
    Modify { set: Vec<(String, String)>, remove: Vec<String> },
}

impl Routes {
    /// Adds a rule.
    ///
    /// # Errors
    /// When there are too many.
    pub fn add(&mut self, route: &Route) -> Result<RouteRow, Full> {
        if self.rules.len() >= Route::MOST {
            return Err(Full { quota: "routes", used: self.rules.len(), limit: Route::MOST });
        }
        let used: usize = self.rules.iter().map(|rule| rule.size).sum();
        if used + route.body.len() > MAX_BODIES {
            return Err(Full { quota: "route_bodies", used, limit: MAX_BODIES });
        }
        self.made += 1;
        let rule = Rule {
            id: format!("route{}", self.made),
            body: STANDARD.encode(&route.body).into(),
            size: route.body.len(),
            route: Route { body: String::new(), ..route.clone() },
            used: 0,
        };
        let row = rule.row();
        self.rules.push(rule);
        Ok(row)
    }

    /// Removes the rule of that id, or all. Answers how many there were.
    pub fn remove(&mut self, id: Option<&str>) -> usize {
        let before = self.rules.len();
        self.rules.retain(|rule| id.is_some_and(|id| rule.id != id));
        before - self.rules.len()
    }

    /// The rules, the one made last first.
    pub fn rows(&self) -> Vec<RouteRow> {
        self.rules.iter().rev().map(Rule::row).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What the browser is to stop, as URL pattern and type; none where that is everything.
    fn patterns(&self) -> Option<Vec<(String, Option<&'static str>)>> {
        let mut patterns = Vec::new();
        for rule in &self.rules {
            for glob in glob::alternatives(&rule.route.glob) {
                let pattern = cdp_pattern(&glob);
                if rule.route.types.is_empty() {
                    patterns.push((pattern, None));
                } else {
                    let types = rule.route.types.iter().flat_map(|kind| cdp_types(*kind));
                    patterns.extend(types.map(|kind| (pattern.clone(), Some(*kind))));
                }
            }
        }
        (patterns.len() <= MAX_PATTERNS).then_some(patterns)
    }

    /// What is done with a request, and whether that was the last one that its rule is for: the rule is gone then.
    fn judge(&mut self, url: &str, kind: &str) -> (Verdict, bool) {
        let long = url.len() > MAX_URL;
        let fits = |rule: &Rule| {
            let route = &rule.route;
            (route.types.is_empty() || route.types.iter().any(|one| cdp_types(*one).contains(&kind)))
                && if long { route.action == RouteAction::Abort } else { glob::fits(&route.glob, url) }
        };
        let Some(at) = self.rules.iter().rposition(fits) else { return (Verdict::Go, false) };
        let rule = &mut self.rules[at];
        rule.used += 1;
        let (verdict, spent) = (rule.verdict(), rule.is_spent());
        if spent {
            self.rules.remove(at);
        }
        (verdict, spent)
    }
}

impl Rule {
    fn verdict(&self) -> Verdict {
        let route = &self.route;
        let headers = || route.headers.iter().map(|header| (header.name.clone(), header.value.clone()));
        match route.action {
            RouteAction::Abort => Verdict::Abort,
            RouteAction::Fulfill => {
                let kind = route.content_type.as_deref().unwrap_or("text/plain; charset=utf-8");
                let named =
                    route.headers.iter().any(|header| header.name.eq_ignore_ascii_case("content-type"));
                let own = (!named).then(|| ("Content-Type".to_owned(), kind.to_owned()));
                Verdict::Fulfill {
                    status: route.status.unwrap_or(200),
                    headers: own.into_iter().chain(headers()).collect(),
                    body: self.body.clone(),
                }
            }
            RouteAction::Modify => {
                Verdict::Modify { set: headers().collect(), remove: route.remove_headers.clone() }
            }
        }
    }

    /// It was for so many requests, and they have come.
    fn is_spent(&self) -> bool {
        self.route.times.is_some_and(|times| self.used >= times.into())
    }

    fn row(&self) -> RouteRow {
        RouteRow {
            route_id: self.id.clone(),
            glob: self.route.glob.clone(),
            action: self.route.action.name().to_owned(),
            types: self.route.types.clone(),
            status: (self.route.action == RouteAction::Fulfill).then(|| self.route.status.unwrap_or(200)),
            used: self.used,
            left: self.route.times.map(|times| u64::from(times).saturating_sub(self.used)),
        }
    }
}

/// A pattern that lets through no request that the glob fits: its stars pass over more.
fn cdp_pattern(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len());
    for letter in glob.chars() {
        match letter {
            '*' if out.ends_with('*') && !out.ends_with("\\*") => {}
            '?' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Chromium's words for it. What scripts ask for is one thing to it here, and is told by either word.
fn cdp_types(kind: RequestType) -> &'static [&'static str] {
    match kind {
        RequestType::Document => &["Document"],
        RequestType::Stylesheet => &["Stylesheet"],
        RequestType::Image => &["Image"],
        RequestType::Media => &["Media"],
        RequestType::Font => &["Font"],
        RequestType::Script => &["Script"],
        RequestType::Xhr | RequestType::Fetch => &["XHR", "Fetch"],
        RequestType::Ping => &["Ping"],
        RequestType::Other => &["Other"],
    }
}

impl Pages {
    /// Tells every place where requests come from what it stops now, and waits until each has taken it. Answers how many
    /// did.
    ///
    /// # Errors
    /// When the browser goes.
    pub async fn apply_routes(&self) -> Result<u64, CdpError> {
        let mut held = 0;
        for answer in futures_util::future::join_all(self.tell_routes()).await {
            match answer {
                Err(error) if error.is_closed() => return Err(error),
                // A place that went meanwhile, or a worker that cannot.
                Err(error) => tracing::debug!(%error, "a place takes no rules"),
                Ok(_) => held += 1,
            }
        }
        Ok(held)
    }

    /// Tells every place where requests come from what it stops now.
    fn tell_routes(&self) -> Vec<Pending<empty::Empty>> {
        let sessions: Vec<_> = {
            let state = self.state();
            state.sessions.keys().chain(state.workers.keys()).cloned().collect()
        };
        sessions.iter().filter_map(|session| self.fetch_in(session)).collect()
    }

    /// Stops what may fit a rule, or nothing.
    pub(super) fn stop_for_routes(&self, session: &str) -> Option<Pending<empty::Empty>> {
        let known = self.state().routes.patterns();
        let patterns: Option<Vec<_>> = known.as_ref().map(|known| {
            let told = known.iter().map(|known| {
                let (url, resource_type) = (known.0.as_str(), known.1);
                fetch::RequestPattern { url_pattern: Some(url), resource_type }
            });
            let documents = self.tells_documents().then_some(super::admission::DOCUMENTS);
            told.chain(documents.into_iter().flatten().cloned()).collect()
        });
        self.start(session, fetch::Enable { patterns: patterns.as_deref(), handle_auth_requests: false })
    }

    /// Answers a stopped request by the rules.
    pub(super) fn route_request(&self, session: &str, paused: &fetch::RequestPaused) {
        let request_id = paused.request_id.as_str();
        let (verdict, spent) = self.state().routes.judge(&paused.request.url, &paused.resource_type);
        match verdict {
            Verdict::Go => drop(self.start(session, fetch::ContinueRequest { request_id, headers: None })),
            Verdict::Abort => {
                drop(self.start(session, fetch::FailRequest { request_id, error_reason: "BlockedByClient" }));
            }
            Verdict::Fulfill { status, headers, body } => {
                let entries: Vec<_> =
                    headers.iter().map(|(name, value)| fetch::HeaderEntry { name, value }).collect();
                let answer = fetch::FulfillRequest {
                    request_id,
                    response_code: status,
                    response_headers: &entries,
                    body: &body,
                };
                drop(self.start(session, answer));
            }
            Verdict::Modify { set, remove } => {
                let other = |name: &str| {
                    !set.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
                        && !remove.iter().any(|gone| gone.eq_ignore_ascii_case(name))
                };
                let kept = paused.request.headers.iter().filter(|(name, _)| other(name));
                let own = set.iter().map(|(name, value)| (name, value));
                let headers: Vec<_> =
                    kept.chain(own).map(|(name, value)| fetch::HeaderEntry { name, value }).collect();
                drop(self.start(session, fetch::ContinueRequest { request_id, headers: Some(&headers) }));
            }
        }
        if spent {
            // Requests that no rule is for any more are not stopped; those that are by now are answered all the same.
            drop(self.tell_routes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(glob: &str, action: RouteAction) -> Route {
        let json = serde_json::json!({ "glob": glob, "action": action.name() });
        serde_json::from_value(json).expect("a route")
    }

    #[test]
    fn the_rule_made_last_counts_and_a_counted_one_ends() {
        let mut routes = Routes::default();
        routes.add(&route("http://x.test/**", RouteAction::Abort)).unwrap();
        let once = Route { times: Some(1), ..route("http://x.test/a*", RouteAction::Fulfill) };
        routes.add(&once).unwrap();
        assert_eq!(routes.patterns().unwrap().len(), 2);
        let first = routes.judge("http://x.test/a1", "Fetch");
        assert!(matches!(first, (Verdict::Fulfill { status: 200, .. }, true)));
        assert!(matches!(routes.judge("http://x.test/a1", "Fetch"), (Verdict::Abort, false)));
        assert!(matches!(routes.judge("http://y.test/", "Fetch"), (Verdict::Go, false)));
        // What is used up is nowhere any more: the browser is not told of it, and it is nothing to remove.
        assert_eq!(routes.patterns().unwrap().len(), 1);
        assert_eq!(routes.rows().iter().map(|row| row.used).collect::<Vec<_>>(), [1]);
        assert_eq!((routes.remove(Some("route9")), routes.remove(None)), (0, 1));
    }

    #[test]
    fn types_narrow_a_rule_and_long_urls_are_aborted_rather_than_let_through() {
        let mut routes = Routes::default();
        let images = Route { types: vec![RequestType::Image], ..route("**", RouteAction::Abort) };
        routes.add(&images).unwrap();
        assert!(matches!(routes.judge("http://x.test/", "Script"), (Verdict::Go, false)));
        assert!(matches!(
            routes.judge(&format!("http://x.test/{}", "a".repeat(MAX_URL)), "Image"),
            (Verdict::Abort, false)
        ));
    }

    #[test]
    fn the_browser_is_told_patterns_that_miss_nothing() {
        assert_eq!(cdp_pattern("http://*/a?b=**\\"), "http://*/a\\?b=*\\\\");
        let mut routes = Routes::default();
        routes.add(&route("http://{a,b}.test/*", RouteAction::Abort)).unwrap();
        assert_eq!(routes.patterns().unwrap().len(), 2);
        for _ in 1..Route::MOST {
            routes.add(&route("http://{a,b,c,d,e}/*", RouteAction::Abort)).unwrap();
        }
        assert!(routes.patterns().is_none(), "everything");
        assert!(routes.add(&route("**", RouteAction::Abort)).is_err());
    }
}
