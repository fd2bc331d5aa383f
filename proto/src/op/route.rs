//! `route`, `listRoutes`, `removeRoute`: requests that are refused, answered or changed on their way (contract 10.2).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::emulate::check_header;
use super::{
    Capability, Effect, Facts, Header, InvalidParams, Lane, Needs, Operation, at_least_one, at_most,
    in_range, seconds,
};
use crate::op::TextInput;
use crate::result::{RouteMade, RouteRemoved, Routes};

/// Refuse, answer or change requests of the session whose URL fits a glob
///
/// Holds for every page, frame, popup and worker from their first request on, until it is removed or the session ends. Where
/// several rules fit a request, the one made last counts alone. What is answered here never reaches the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Route {
    /// The URL: `*` stands for anything but `/`, `**` for anything, `{a,b}` for one of both; the fragment is not part of it
    pub glob: String,
    /// What becomes of them
    #[arg(long, value_enum)]
    pub action: RouteAction,
    /// Only requests for these; all without it
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<RequestType>,
    /// With fulfill: the HTTP status, 200 to 599; 200 without it
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<u16>,
    /// With fulfill: the media type; text/plain without it
    #[arg(long, value_name = "TYPE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// With fulfill: the body, at most 1 MiB; `-` reads standard input
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, conflicts_with = "file")]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// With fulfill: a file that has the body
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    #[schemars(skip)]
    pub file: Option<PathBuf>,
    /// With fulfill a header of the answer, with modify one that the request gets in place of its own: NAME: VALUE
    #[arg(long = "header", value_name = "NAME: VALUE")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
    /// With modify: a header that the request loses
    #[arg(long = "remove-header", value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_headers: Vec<String>,
    /// For so many requests alone, 1 to 1000; then it is as if removed
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub times: Option<u32>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RouteAction {
    /// It fails, as if something in the browser blocked it
    Abort,
    /// It is answered by Glass
    Fulfill,
    /// It goes out with other headers
    Modify,
}

impl RouteAction {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abort => "abort",
            Self::Fulfill => "fulfill",
            Self::Modify => "modify",
        }
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum RequestType {
    /// A page or a frame
    Document,
    /// A stylesheet
    Stylesheet,
    /// An image
    Image,
    /// Sound or video
    Media,
    /// A font
    Font,
    /// A script
    Script,
    /// `XMLHttpRequest` or `fetch`: here the browser does not tell them apart
    Xhr,
    /// The same
    Fetch,
    /// A ping or beacon
    Ping,
    /// Anything else
    Other,
}

impl Route {
    /// Most rules of a session.
    pub const MOST: usize = 32;
    /// Longest glob, in bytes.
    pub const MAX_GLOB: usize = 1024;
    /// Largest body, in bytes.
    pub const MAX_BODY: usize = 1024 * 1024;
}

/// List the rules for requests of the session
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ListRoutes {}

/// Remove a rule for requests, or all of them
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RemoveRoute {
    /// The rule, as list-routes names it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_id: Option<String>,
    /// All of them
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

const fn facts(name: &'static str, effect: Effect, lane: Lane) -> Facts {
    Facts {
        name,
        capability: Capability::Intercept,
        effect,
        lane,
        needs: Needs::StartsSession,
        timeout: seconds(5),
        guarded: false,
        targeted: false,
        framed: false,
    }
}

impl Operation for Route {
    const FACTS: Facts = facts("route", Effect::Mutation, Lane::Page);
    type Output = RouteMade;

    fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |text: &str| Err(InvalidParams(text.to_owned()));
        at_least_one("glob", self.glob.len())?;
        at_most("glob", self.glob.len(), Self::MAX_GLOB)?;
        at_most("types", self.types.len(), 10)?;
        at_most("body", self.body.len(), Self::MAX_BODY)?;
        at_most("headers", self.headers.len(), 32)?;
        at_most("removeHeaders", self.remove_headers.len(), 32)?;
        in_range("times", self.times.unwrap_or(1), 1..=1000)?;
        in_range("status", self.status.unwrap_or(200).into(), 200..=599)?;
        let answers = self.status.is_some()
            || self.content_type.is_some()
            || !self.body.is_empty()
            || self.file.is_some();
        match self.action {
            RouteAction::Abort | RouteAction::Modify if answers => {
                return wrong("status, contentType and body are for the action fulfill");
            }
            RouteAction::Abort if !self.headers.is_empty() => {
                return wrong("an aborted request has no headers");
            }
            RouteAction::Modify if self.headers.is_empty() && self.remove_headers.is_empty() => {
                return wrong("modify names headers to set or to remove");
            }
            RouteAction::Abort | RouteAction::Fulfill if !self.remove_headers.is_empty() => {
                return wrong("removeHeaders is for the action modify");
            }
            RouteAction::Abort | RouteAction::Fulfill | RouteAction::Modify => {}
        }
        for header in &self.headers {
            check_header(header, self.action == RouteAction::Modify)?;
        }
        for name in &self.remove_headers {
            check_header(&Header { name: name.clone(), value: String::new() }, true)?;
        }
        if let Some(kind) = &self.content_type {
            check_header(&Header { name: "content-type".to_owned(), value: kind.clone() }, false)?;
        }
        Ok(())
    }

    fn text_input(&mut self) -> Option<TextInput<'_>> {
        Some(TextInput { text: &mut self.body, file: &mut self.file })
    }
}

impl Operation for ListRoutes {
    const FACTS: Facts = Facts { needs: Needs::OpenPage, ..facts("listRoutes", Effect::Read, Lane::Control) };
    type Output = Routes;
}

impl Operation for RemoveRoute {
    const FACTS: Facts =
        Facts { needs: Needs::OpenPage, ..facts("removeRoute", Effect::Mutation, Lane::Page) };
    type Output = RouteRemoved;

    fn check(&self) -> Result<(), InvalidParams> {
        if self.all == self.route_id.is_some() {
            return Err(InvalidParams(
                "routeId names one rule, all means all of them: give one of both".to_owned(),
            ));
        }
        at_most("routeId", self.route_id.as_ref().map_or(0, String::len), 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(action: RouteAction) -> Route {
        Route {
            glob: "**".to_owned(),
            action,
            types: Vec::new(),
            status: None,
            content_type: None,
            body: String::new(),
            file: None,
            headers: Vec::new(),
            remove_headers: Vec::new(),
            times: None,
        }
    }

    #[test]
    fn what_an_action_would_ignore_is_refused() {
        let header = || vec!["X-A: 1".parse().unwrap()];
        for good in [
            route(RouteAction::Abort),
            Route {
                status: Some(404),
                body: "x".to_owned(),
                headers: header(),
                ..route(RouteAction::Fulfill)
            },
            Route { headers: header(), ..route(RouteAction::Modify) },
            Route { remove_headers: vec!["Accept".to_owned()], ..route(RouteAction::Modify) },
        ] {
            assert_eq!(good.check(), Ok(()), "{good:?}");
        }
        for bad in [
            Route { status: Some(404), ..route(RouteAction::Abort) },
            Route { headers: header(), ..route(RouteAction::Abort) },
            Route { body: "x".to_owned(), headers: header(), ..route(RouteAction::Modify) },
            Route { remove_headers: vec!["Accept".to_owned()], ..route(RouteAction::Fulfill) },
            Route { headers: vec!["Host: a".parse().unwrap()], ..route(RouteAction::Modify) },
            Route { times: Some(0), ..route(RouteAction::Abort) },
            Route { status: Some(101), ..route(RouteAction::Fulfill) },
            Route { glob: String::new(), ..route(RouteAction::Abort) },
            route(RouteAction::Modify),
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
        assert!(RemoveRoute::default().check().is_err());
    }
}
