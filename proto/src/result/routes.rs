//! What `route`, `listRoutes` and `removeRoute` answer.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape::visible;

/// A rule that was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteMade {
    /// The operation.
    pub action: String,
    /// The rule.
    pub route: RouteRow,
    /// Places where requests come from in which it holds already: pages, frames with a process of their own, workers.
    pub places: u64,
}

/// The rules of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Routes {
    /// The one made last first; the first that fits a request counts.
    pub routes: Vec<RouteRow>,
}

/// A rule for requests; neither its body nor the values of its headers are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteRow {
    /// Its id.
    pub route_id: String,
    /// Which URLs.
    pub glob: String,
    /// abort, fulfill or modify.
    pub action: String,
    /// Only requests for these; all when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<crate::op::RequestType>,
    /// With fulfill: the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Requests that it was used for.
    pub used: u64,
    /// Requests that it will be used for yet, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
}

/// Rules that were removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteRemoved {
    /// The operation.
    pub action: String,
    /// How many were removed.
    pub removed: u64,
    /// How many there are still.
    pub left: u64,
}

fn row(row: &RouteRow) -> String {
    let mut out = format!("{} {} {}", row.route_id, row.action, visible(&row.glob, false));
    if let Some(status) = row.status {
        let _ = write!(out, " {status}");
    }
    for kind in &row.types {
        let _ =
            write!(out, " {}", serde_json::to_value(kind).unwrap_or_default().as_str().unwrap_or_default());
    }
    let _ = write!(out, " · used {}", row.used);
    if let Some(left) = row.left {
        let _ = write!(out, ", {left} left");
    }
    out
}

pub(super) fn made_text(made: &RouteMade) -> String {
    row(&made.route)
}

pub(super) fn list_text(routes: &Routes) -> String {
    if routes.routes.is_empty() {
        return "no rules".to_owned();
    }
    routes.routes.iter().map(row).collect::<Vec<_>>().join("\n")
}

pub(super) fn removed_text(removed: &RouteRemoved) -> String {
    format!("removed {} · {} left", removed.removed, removed.left)
}
