//! Events as clients see them: the action, beside the resource as the rest of the API shows it.

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

/// The measured status of a service has changed.
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

/// A check has ended.
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

/// An event of an incident or a maintenance, as JSON text with its type.
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

/// Action: the resource no longer concerns any selected service.
pub(super) const LEFT: &str = "left";

/// Some events could not be rendered: the client should read the resources again.
#[derive(Serialize, ToSchema)]
pub(super) struct ResetView {
    #[schema(schema_with = reason)]
    pub(super) reason: &'static str,
}

/// Reset reason: the position is too old.
pub(super) const TOO_OLD: &str = "too_old";
/// Reset reason: more results were missed than are replayed.
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
