//! `/v1/maintenance-series`: list, read, change and end series of recurring maintenances. A series is created with its
//! first maintenance, by `POST /v1/maintenances`.
//!
//! A change applies to the maintenances that have not started, unless users changed or skipped them. Reading bodies is
//! in `draft`, the view in `view`.

mod draft;
pub(in crate::http) mod openapi;
mod view;

use crate::clock::Timestamp;
use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::{ApiError, Conflict};
use crate::http::kit::languages::Languages;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::reply::Reply;
use crate::http::v1::in_path;
use crate::http::v1::maintenance_series::draft::Revision;
use crate::http::v1::maintenances::draft::{Draft, Known};
use crate::http::v1::maintenances::{recurrence, stamp, tell_engine};
use crate::http::v1::state::AppState;
use crate::lifecycle::maintenance_series;
use crate::model::maintenance::series::{Series, SeriesStatus};
use crate::store::Connection;
use crate::store::maintenances::series::{self, links};

pub(super) async fn list_maintenance_series(call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, query, headers, canonical_path, .. } = call;
    let main = state.databases.main.reader();
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = series::list(main, caller.organisation.key, request.window()).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let rows = view::rows(main, &rows, &languages).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    let envelope = Page { request, total, path: &path, query: &query }.envelope(rows);
    Ok(Reply::ok(envelope).in_language(&languages))
}

pub(super) async fn show_maintenance_series(call: Call<AppState>) -> Result<Reply, ApiError> {
    let series = in_path::find(&call, series::find).await?;
    let languages = Languages::negotiate(&call.headers, &call.caller.organisation);
    shown(call.state.databases.main.reader(), &series, (&languages, call.state.now())).await
}

pub(super) async fn update_maintenance_series(call: Call<AppState>) -> Result<Committed, ApiError> {
    let found = in_path::find(&call, series::find).await?;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let moved = recurrence::revise(&body, &found.recurrence, state.now());
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, found.id, series::find_for_update).await?;
    if stored.status == SeriesStatus::Cancelled {
        return Err(Conflict::SeriesCancelled.into());
    }
    let now = state.now();
    // The series may have been changed meanwhile.
    let is_same = stored.recurrence == found.recurrence;
    let moved = if is_same { moved } else { recurrence::revise(&body, &stored.recurrence, now) };
    let known = Known::read(&*write, &caller, &body).await?;
    let draft = Draft { caller: &caller, known: &known, now };
    let revision = Revision::read(&draft, &body, &stored);
    let (revision, moved) = recurrence::both(revision, moved).map_err(ApiError::Fields)?;
    let after = Series { recurrence: moved, ..revision.series };
    if after == stored && revision.services.is_none() && revision.statuspages.is_none() {
        let reply = shown(&*write, &stored, (&languages, now)).await?;
        return write.commit(reply).await;
    }
    if let Some(services) = &revision.services {
        links::cover(&*write, stored.key, services).await?;
    }
    if let Some(statuspages) = &revision.statuspages {
        links::show_on(&*write, stored.key, statuspages).await?;
    }
    let after = Series { updated_at: now, ..after };
    let (after, touched) =
        maintenance_series::replan(&write, after, revision.announcement, stamp(&caller, now)).await?;
    let reply = shown(&*write, &after, (&languages, now)).await?;
    let reply = write.commit(reply).await?;
    tell_engine(&state, &caller, &touched).await;
    Ok(reply)
}

/// Deletes the series with its scheduled maintenances; started and cancelled ones are kept on their own.
pub(super) async fn delete_maintenance_series(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, series::find).await?.id;
    let Call { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, series::find_for_update).await?;
    maintenance_series::delete_waiting(&write, stored.key).await?;
    maintenance_series::delete(&write, stored.key).await?;
    write.commit(Reply::deleted(id)).await
}

/// 200 with the series.
async fn shown(
    connection: &impl Connection,
    series: &Series,
    (languages, now): (&Languages, Timestamp),
) -> Result<Reply, ApiError> {
    Ok(Reply::data(view::one(connection, series, (languages, now)).await?).in_language(languages))
}
