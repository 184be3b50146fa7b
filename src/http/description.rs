//! The OpenAPI description of this API, built from the route table and from the chapters of its resources.

use utoipa::openapi::OpenApi;

use crate::config::Config;
use crate::http::gate::route::RouteTable;
use crate::http::openapi::operation::ApiChapter;
use crate::http::public_paths;
use crate::http::v1::{
    access_scopes, audit_log, components, contacts, custom_domains, escalation_policies, events, history,
    incident_policies, incidents, maintenance_series, maintenances, notices, notification_channels,
    notifications, oncall, reference, services, simulations, sla_targets, statuspages, subscribers, tags,
    tokens, trials, users, wall_keys,
};

/// Builds the OpenAPI document of a server with these routes and settings.
#[must_use]
pub fn document<S>(routes: &RouteTable<S>, config: &Config) -> OpenApi {
    crate::http::openapi::document(chapters(config), routes, config)
}

/// Returns the chapters of all resources, in reading order.
fn chapters(config: &Config) -> Vec<ApiChapter> {
    vec![
        services::openapi::chapter(),
        history::openapi::chapter(),
        trials::openapi::chapter(),
        simulations::openapi::chapter(),
        tags::openapi::chapter(),
        incidents::openapi::chapter(),
        incident_policies::openapi::chapter(),
        maintenances::openapi::chapter(),
        maintenance_series::openapi::chapter(),
        notification_channels::openapi::chapter(),
        notifications::openapi::chapter(),
        notices::openapi::chapter(),
        sla_targets::openapi::chapter(),
        escalation_policies::openapi::chapter(),
        contacts::openapi::chapter(),
        oncall::schedules::openapi::chapter(),
        oncall::duty::openapi::chapter(),
        oncall::overrides::openapi::chapter(),
        oncall::absences::openapi::chapter(),
        oncall::cover_requests::openapi::chapter(),
        events::openapi::chapter(),
        statuspages::openapi::chapter(&config.compat.extra_statuspage_fields),
        components::openapi::chapter(),
        custom_domains::openapi::chapter(),
        subscribers::openapi::chapter(),
        access_scopes::openapi::chapter(),
        tokens::openapi::chapter(),
        users::openapi::chapter(),
        wall_keys::openapi::chapter(),
        audit_log::openapi::chapter(),
        reference::chapter(),
        public_paths::openapi::pings(),
        public_paths::openapi::calendars(),
        public_paths::openapi::chapter(),
    ]
}

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod tests;
