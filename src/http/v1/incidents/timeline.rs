//! `POST /v1/incidents/{id}/updates` and `/resolve` (contract 4.10.4): messages during an incident, and its end.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::incidents::address;
use crate::http::v1::incidents::draft::{read_end, read_flag, read_message, read_word};
use crate::http::v1::incidents::sharing::HiddenIncidentPart;
use crate::http::v1::incidents::view::IncidentView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle;
use crate::model::access::{Organisation, Permission};
use crate::model::incident::{Incident, IncidentStatus, IncidentTimelineEntry};
use crate::store::incidents;

pub(in crate::http) async fn post_incident_update(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incidents::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    if body.get("status").and_then(Value::as_str) == Some(IncidentStatus::Resolved.as_str()) {
        caller.require(Permission::IncidentsResolve)?;
    }
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incidents::find_for_update).await?;
    let hidden = HiddenIncidentPart::of(&*write, &caller, &stored).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    write.replaces(to_json(&IncidentView::of(&hidden.clone().seen(stored.clone()), &languages)));
    // The time is read under the lock: the engine may have changed the incident while this request waited.
    let now = state.now();
    let entry = read_entry(&body, &caller.organisation, now).map_err(ApiError::Fields)?;
    if !stored.timeline_size().has_room_for(&entry.message) {
        return Err(ApiError::Fields(FieldErrors::of("message", FieldRule::TimelineFull)));
    }
    let mut changed = stored.clone();
    changed.post(entry);
    if !hidden.is_shared() {
        changed.note_stated_status();
    }
    if changed.incident.is_resolved() != stored.incident.is_resolved() {
        hidden.refuse_shared()?;
    }
    changed.incident.updated_at = now;
    lifecycle::incidents::save(&write, &stored, &changed, now).await?;
    let changed = hidden.seen(changed);
    let reply = ApiReply::created(to_json(&IncidentView::of(&changed, &languages)), &address(&state, id));
    write.commit(reply.in_language(&languages)).await
}

pub(in crate::http) async fn resolve_incident(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incidents::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incidents::find_for_update).await?;
    let hidden = HiddenIncidentPart::of(&*write, &caller, &stored).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    write.replaces(to_json(&IncidentView::of(&hidden.clone().seen(stored.clone()), &languages)));
    hidden.refuse_shared()?;
    if stored.incident.is_resolved() {
        return Err(StateConflict::IncidentResolved.into());
    }
    let now = state.now();
    let (entry, resolved_at) =
        read_resolution(&body, &caller.organisation, &stored.incident, now).map_err(ApiError::Fields)?;
    let mut changed = stored.clone();
    changed.resolve(entry, resolved_at);
    changed.note_stated_status();
    changed.incident.updated_at = now;
    lifecycle::incidents::save(&write, &stored, &changed, now).await?;
    let changed = hidden.seen(changed);
    write
        .commit(ApiReply::data(to_json(&IncidentView::of(&changed, &languages))).in_language(&languages))
        .await
}

/// Reads the body of a timeline entry.
fn read_entry(
    body: &Map<String, Value>,
    organisation: &Organisation,
    now: Timestamp,
) -> Result<IncidentTimelineEntry, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let status = fields.required("status").and_then(|field| read_word(&field, IncidentStatus::WORDS));
    let message = read_message(&fields, organisation);
    let notify_subscribers = read_flag(&fields, "notify_subscribers", true);
    let found = errors.into_inner();
    let (Some(status), Some(message)) = (status, message) else { return Err(found) };
    found.into_result(IncidentTimelineEntry {
        id: Id::random(),
        status,
        message,
        notify_subscribers,
        created_at: now,
    })
}

/// Reads the body of a resolution; returns the last timeline entry, and the end of the incident.
fn read_resolution(
    body: &Map<String, Value>,
    organisation: &Organisation,
    incident: &Incident,
    now: Timestamp,
) -> Result<(IncidentTimelineEntry, Timestamp), FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let message = read_message(&fields, organisation);
    let notify_subscribers = read_flag(&fields, "notify_subscribers", true);
    let resolved_at = match fields.nullable("resolved_at") {
        FieldPatch::Absent | FieldPatch::Null => Some(now),
        FieldPatch::Value(field) => read_end(&field, Some(incident.started_at), now),
    };
    let found = errors.into_inner();
    let (Some(message), Some(resolved_at)) = (message, resolved_at) else { return Err(found) };
    let status = IncidentStatus::Resolved;
    let entry =
        IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers, created_at: now };
    found.into_result((entry, resolved_at))
}
