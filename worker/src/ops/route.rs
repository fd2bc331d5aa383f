//! `route`, `listRoutes`, `removeRoute` (contract 10.2, `intercept`).

use glass_proto::error::{ErrorKind, OpError, Phase};
use glass_proto::op::{RemoveRoute, Route};
use glass_proto::result::{RouteMade, RouteRemoved, Routes};

use crate::context::Context;
use crate::page::EngineError;

pub(super) async fn add(context: &Context, params: &Route) -> Result<RouteMade, OpError> {
    let route = context.pages.state().routes.add(params).map_err(|full| {
        OpError::rejected(
            ErrorKind::QuotaExceeded,
            Phase::Policy,
            "the session has as many rules for requests, or bodies in them, as it may",
            "remove one with remove-route",
        )
        .detail("quota", full.quota)
        .detail("limit", full.limit)
        .detail("used", full.used)
    })?;
    context.dispatching().await;
    let places = apply(context).await?;
    Ok(RouteMade { action: "route".to_owned(), route, places })
}

pub(super) fn list(context: &Context) -> Routes {
    Routes { routes: context.pages.state().routes.rows() }
}

pub(super) async fn remove(context: &Context, params: &RemoveRoute) -> Result<RouteRemoved, OpError> {
    let (removed, left) = {
        let routes = &mut context.pages.state().routes;
        (routes.remove(params.route_id.as_deref()), routes.rows().len())
    };
    if removed == 0 && params.route_id.is_some() {
        return Err(OpError::rejected(
            ErrorKind::TargetNotFound,
            Phase::TargetResolution,
            "the session has no rule of that id",
            "list-routes shows which there are",
        )
        .reason("no_route"));
    }
    context.dispatching().await;
    apply(context).await?;
    Ok(RouteRemoved { action: "removeRoute".to_owned(), removed: removed as u64, left: left as u64 })
}

async fn apply(context: &Context) -> Result<u64, OpError> {
    let applied = context.pages.apply_routes().await;
    applied.map_err(|error| context.engine(&EngineError::Cdp(error), Phase::BrowserEffect))
}
