//! `/v1/incidents` (contract 4.10): list, read, create, change and delete incidents.
//!
//! An update reads the incident with its services, pages and timeline, changes it in memory, stores the difference and
//! responds with the result. Bodies are read in `draft`; `timeline` adds entries, `acknowledgement` acknowledges, `filters`
//! reads the filters of lists, `service_incidents` lists the incidents of one service, and `view` is the JSON.

pub(super) mod acknowledgement;
mod draft;
mod filters;
pub(in crate::http) mod openapi;
pub(super) mod service_incidents;
mod sharing;
pub(super) mod timeline;
mod view;

use serde_json::Value;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::incidents::draft::{IncidentLinks, IncidentParser, sets_open_status};
use crate::http::v1::incidents::sharing::{HiddenIncidentPart, VisibleIncident, retitle};
use crate::http::v1::incidents::view::{IncidentRowView, IncidentView};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle;
use crate::model::incident::{AffectedService, Incident};
use crate::model::service::ServiceKey;
use crate::store::incidents::list::IncidentFilter;
use crate::store::{MainError, PageWindow, StoreConnection, incidents};

pub(super) async fn list_incidents(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, headers, canonical_path, .. } = call;
    let filter = filters::read(&state, &caller, &query).await?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = page(&state, &caller, &filter, request.window()).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let row = |(incident, services): &(Incident, Vec<AffectedService>)| {
        to_json(&IncidentRowView::of(incident, services, &languages))
    };
    let rows = rows.iter().map(row).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows))
        .in_language(&languages))
}

/// Reads a page of the incidents that the filter selects, as visible to the caller, and their total number. Titles name the
/// affected services, so both are read in one snapshot.
async fn page(
    state: &AppState,
    caller: &Caller,
    filter: &IncidentFilter,
    window: PageWindow,
) -> Result<(Vec<(Incident, Vec<AffectedService>)>, u64), ApiError> {
    let snapshot = state.databases.main.snapshot().await?;
    let (mut rows, total) = incidents::list::page(&snapshot, caller.visibility(), filter, window).await?;
    retitle(&snapshot, caller, &mut rows).await?;
    snapshot.end_reading().await.map_err(MainError::from)?;
    Ok((rows, total))
}

pub(super) async fn show_incident(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let id = call.path.id(0)?;
    let ApiCall { state, caller, headers, .. } = call;
    let snapshot = state.databases.main.snapshot().await?;
    let incident = incidents::find(&snapshot, caller.visibility(), id).await?.ok_or(ApiError::NotFound)?;
    let seen = VisibleIncident::read(&snapshot, &caller, incident).await?;
    snapshot.end_reading().await.map_err(MainError::from)?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    Ok(ApiReply::data(to_json(&IncidentView::of(&seen, &languages))).in_language(&languages))
}

pub(super) async fn create_incident(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let links = IncidentLinks::find(&write, caller.visibility(), &body).await?;
    let draft = IncidentParser { caller: &caller, links: &links, now: state.created_at() };
    let mut made = draft.read_new(&body).map_err(ApiError::Fields)?;
    lifecycle::incidents::insert(&write, &mut made).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let address = address(&state, made.incident.id);
    let made = HiddenIncidentPart::default().seen(made);
    let reply = ApiReply::created(to_json(&IncidentView::of(&made, &languages)), &address);
    write.commit(reply.in_language(&languages)).await
}

pub(super) async fn update_incident(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incidents::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    // Services are locked before incidents, in the same order as for the deletion of a service.
    let write = effect.begin_locked(&state.databases.main).await?;
    let links = IncidentLinks::find(&write, caller.visibility(), &body).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incidents::find_for_update).await?;
    if stored.incident.is_resolved() && sets_open_status(&body) {
        return Err(StateConflict::IncidentResolved.into());
    }
    let hidden = HiddenIncidentPart::of(&*write, &caller, &stored).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    write.replaces(to_json(&IncidentView::of(&hidden.clone().seen(stored.clone()), &languages)));
    let links = links.with_hidden_links(&hidden);
    let now = state.now();
    let draft = IncidentParser { caller: &caller, links: &links, now };
    let mut changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    hidden.refuse_change(&stored, &changed)?;
    if changed == stored {
        let seen = hidden.seen(stored);
        let reply = ApiReply::data(to_json(&IncidentView::of(&seen, &languages))).in_language(&languages);
        return write.commit(reply).await;
    }
    changed.incident.updated_at = now;
    lifecycle::incidents::save(&write, &stored, &changed, now).await?;
    let changed = hidden.seen(changed);
    let reply = ApiReply::data(to_json(&IncidentView::of(&changed, &languages)));
    write.commit(reply.in_language(&languages)).await
}

pub(super) async fn delete_incident(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incidents::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incidents::find_for_update).await?;
    let hidden = HiddenIncidentPart::of(&*write, &caller, &stored).await?;
    hidden.refuse_shared()?;
    write.replaces(to_json(&IncidentView::of(&hidden.seen(stored), &languages)));
    if !lifecycle::incidents::delete(&write, caller.visibility(), id, state.now()).await? {
        return Err(ApiError::NotFound);
    }
    write.commit(ApiReply::deleted(id)).await
}

/// Reads an incident as the caller sees it, with its visible services; `None` if it is not visible.
pub(super) async fn read_one(
    connection: &dyn StoreConnection,
    caller: &Caller,
    id: Id,
    languages: &AnswerLanguage,
) -> Result<Option<(Value, Vec<ServiceKey>)>, ApiError> {
    let Some(incident) = incidents::find(connection, caller.visibility(), id).await? else { return Ok(None) };
    let seen = VisibleIncident::read(connection, caller, incident).await?;
    let services = seen.whole().services.iter().map(|affected| affected.service).collect();
    Ok(Some((to_json(&IncidentView::of(&seen, languages)), services)))
}

/// Returns the URL of an incident.
fn address(state: &AppState, id: Id) -> String {
    format!("{}/v1/incidents/{id}", state.base_url)
}
