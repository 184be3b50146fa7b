//! `/v1/maintenance-series`: list, read, change and end series of recurring maintenances. A series is created with its
//! first maintenance, by `POST /v1/maintenances`.
//!
//! A change applies to the maintenances that have not started, except those that users have changed or skipped. Bodies are
//! read in `draft`; `view` is the JSON.

mod draft;
pub(in crate::http) mod openapi;
mod view;

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::v1::maintenance_series::draft::SeriesRevision;
use crate::http::v1::maintenances::draft::{MaintenanceLinks, MaintenanceParser};
use crate::http::v1::maintenances::{notify_engine_of_window, recurrence, stamp};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::lifecycle::maintenance_series;
use crate::model::maintenance::series::{MaintenanceSeries, SeriesStatus};
use crate::store::StoreConnection;
use crate::store::maintenances::series::{self, links};

pub(super) async fn list_maintenance_series(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, headers, canonical_path, .. } = call;
    let main = state.databases.main.reader();
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = series::list(main, caller.organisation.key, request.window()).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let rows = view::rows(main, &rows, &languages).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    let envelope = PageEnvelope { request, total, path: &path, query: &query }.envelope(rows);
    Ok(ApiReply::ok(envelope).in_language(&languages))
}

pub(super) async fn show_maintenance_series(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let series = resource_lookup::find_or_404(&call, series::find).await?;
    let languages = AnswerLanguage::negotiate(&call.headers, &call.caller.organisation);
    shown(call.state.databases.main.reader(), &series, &languages, call.state.now()).await
}

pub(super) async fn update_maintenance_series(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let found = resource_lookup::find_or_404(&call, series::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let moved = recurrence::revise(&body, &found.recurrence, state.now());
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, found.id, series::find_for_update).await?;
    if stored.status == SeriesStatus::Cancelled {
        return Err(StateConflict::SeriesCancelled.into());
    }
    let now = state.now();
    write.replaces(view::one(&*write, &stored, &languages, now).await?);
    // If the series was changed meanwhile, the new recurrence is derived again.
    let is_same = stored.recurrence == found.recurrence;
    let moved = if is_same { moved } else { recurrence::revise(&body, &stored.recurrence, now) };
    let known = MaintenanceLinks::read(&*write, &caller, &body).await?;
    let draft = MaintenanceParser { caller: &caller, known: &known, now };
    let revision = SeriesRevision::read(&draft, &body, &stored);
    let (revision, moved) = recurrence::combine_results(revision, moved).map_err(ApiError::Fields)?;
    let after = MaintenanceSeries { recurrence: moved, ..revision.series };
    if after == stored && revision.services.is_none() && revision.statuspages.is_none() {
        let reply = shown(&*write, &stored, &languages, now).await?;
        return write.commit(reply).await;
    }
    if let Some(services) = &revision.services {
        links::cover(&*write, stored.key, services).await?;
    }
    if let Some(statuspages) = &revision.statuspages {
        links::show_on(&*write, stored.key, statuspages).await?;
    }
    let after = MaintenanceSeries { updated_at: now, ..after };
    let (after, touched) =
        maintenance_series::replan(&write, after, revision.announcement, stamp(&caller, now)).await?;
    let reply = shown(&*write, &after, &languages, now).await?;
    let reply = write.commit(reply).await?;
    notify_engine_of_window(&state, &caller, &touched).await;
    Ok(reply)
}

/// Deletes the series with its scheduled maintenances. Started and cancelled maintenances are kept without a series.
pub(super) async fn delete_maintenance_series(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, series::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, series::find_for_update).await?;
    write.replaces(view::one(&*write, &stored, &languages, state.now()).await?);
    maintenance_series::delete_waiting(&write, stored.key).await?;
    maintenance_series::delete(&write, stored.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Responds with 200 and the series.
async fn shown(
    connection: &dyn StoreConnection,
    series: &MaintenanceSeries,
    languages: &AnswerLanguage,
    now: Timestamp,
) -> Result<ApiReply, ApiError> {
    Ok(ApiReply::data(view::one(connection, series, languages, now).await?).in_language(languages))
}
