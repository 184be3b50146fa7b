//! Events as clients see them: an action, with the resource in the form that the rest of the API shows.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::view::to_text;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, named, timestamp};
use crate::http::v1::history::view::CheckView;
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::event::{EventAction, EventSubjectKind, EventType};
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange, StoredCheck};
use crate::model::service::NamedService;

/// A change of the measured status of a service.
#[derive(Serialize, ToSchema)]
pub(super) struct StatusChangeEventView<'a> {
    service: NamedView<'a>,
    #[schema(schema_with = status)]
    from: &'static str,
    #[schema(schema_with = status)]
    to: &'static str,
    #[schema(schema_with = timestamp)]
    at: Timestamp,
    #[schema(schema_with = cause)]
    cause: &'static str,
}

impl<'a> StatusChangeEventView<'a> {
    pub(super) fn of(change: &StatusChange, service: &'a NamedService) -> Self {
        Self {
            service: NamedView::new(service.id, &service.name),
            from: change.from.as_str(),
            to: change.to.as_str(),
            at: change.at,
            cause: change.cause.as_str(),
        }
    }
}

/// A finished check of a service.
#[derive(Serialize, ToSchema)]
pub(super) struct ResultView<'a> {
    service: NamedView<'a>,
    #[schema(schema_with = check)]
    check: CheckView<'a>,
}

impl<'a> ResultView<'a> {
    pub(super) fn of(check: &'a StoredCheck, service: &'a NamedService) -> Self {
        Self { service: NamedView::new(service.id, &service.name), check: CheckView::of(check) }
    }
}

/// A change of an incident.
#[derive(Serialize, ToSchema)]
pub(super) struct IncidentEventView {
    #[schema(schema_with = act)]
    action: &'static str,
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = incident, required)]
    incident: Option<Value>,
}

/// A change of a maintenance.
#[derive(Serialize, ToSchema)]
pub(super) struct MaintenanceEventView {
    #[schema(schema_with = act)]
    action: &'static str,
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = maintenance, required)]
    maintenance: Option<Value>,
}

/// Renders an event of an incident or a maintenance; returns its type and its JSON text.
pub(super) fn event(
    kind: EventSubjectKind,
    action: &'static str,
    id: Id,
    shown: Option<Value>,
) -> (EventType, String) {
    match kind {
        EventSubjectKind::Incident => {
            (EventType::Incident, to_text(&IncidentEventView { action, id, incident: shown }))
        }
        EventSubjectKind::Maintenance => {
            (EventType::Maintenance, to_text(&MaintenanceEventView { action, id, maintenance: shown }))
        }
    }
}

/// The action of a resource that no longer concerns any selected service.
pub(super) const LEFT: &str = "left";

/// Some events were not sent: the client should read the resources again.
#[derive(Serialize, ToSchema)]
pub(super) struct ResetView {
    #[schema(schema_with = reason)]
    pub(super) reason: &'static str,
}

/// Reason of a reset: the position of the client is too old.
pub(super) const TOO_OLD: &str = "too_old";
/// Reason of a reset: results of too many services were missed.
pub(super) const TOO_MANY_RESULTS: &str = "too_many_results";

fn status() -> ApiSchema {
    enum_of(MeasuredStatus::WORDS)
}

fn cause() -> ApiSchema {
    enum_of(ChangeCause::WORDS)
        .says("Cause of the change. With `flapping` and `settled` the status stays the same.")
}

fn act() -> ApiSchema {
    enum_of(&[EventAction::WORDS, &[LEFT]].concat()).says(
        "Only incidents are `resolved`. `left`: it still exists, but no longer matches the filters of the stream. What has left \
        the access scope of the token is `deleted`.",
    )
}

fn check() -> ApiSchema {
    named("Check")
}

fn incident() -> ApiSchema {
    named("Incident").nullable().says("Its state when the event is sent. Null: it was deleted or has left.")
}

fn maintenance() -> ApiSchema {
    named("Maintenance")
        .nullable()
        .says("Its state when the event is sent. Null: it was deleted or has left.")
}

fn reason() -> ApiSchema {
    enum_of(&[TOO_OLD, TOO_MANY_RESULTS])
}
