//! `/v1/maintenances` and the maintenances of a service (contract 4.11, 4.9): list, read, create, change and delete.
//!
//! The steps of a write are: read the body, begin, store, render, commit, notify the engine. Operations (start, complete,
//! cancel, extend) are in `operations`. Bodies are read in `draft`, `recurrence` and `extension`; `filter` has the filters
//! of lists, `view` is the JSON, and `recurring` creates recurring maintenances.

pub(super) mod draft;
mod extension;
mod filter;
pub(in crate::http) mod openapi;
pub(super) mod operations;
pub(super) mod recurrence;
mod recurring;
mod sharing;
pub(super) mod view;

use serde_json::Value;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::slot::take_slot;
use crate::http::v1::maintenances::draft::{
    MaintenanceLinks, MaintenanceParser, NewMaintenance, wanted_schedule,
};
use crate::http::v1::maintenances::sharing::HiddenMaintenancePart;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle;
use crate::model::maintenance::Maintenance;
use crate::model::maintenance::transition::{MaintenanceTransition, OperationContext};
use crate::model::service::{Service, ServiceKey};
use crate::model::visibility::Visibility;
use crate::store::maintenances::series::{self, occurrences};
use crate::store::maintenances::{self, links};
use crate::store::{StoreConnection, Transaction, services};

pub(super) async fn list_maintenances(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    list(call, None).await
}

pub(super) async fn list_maintenances_of_service(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    list(call, Some(service.key)).await
}

async fn list(call: ApiCall<AppState>, covering: Option<ServiceKey>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, headers, canonical_path, .. } = call;
    let main = state.databases.main.reader();
    let visibility = caller.visibility();
    let filter = filter::read(&query, covering)?.resolve(main, visibility).await?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = maintenances::list(main, visibility, &filter, request.window()).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let rows = view::rows(main, visibility, &rows, &languages).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    let envelope = PageEnvelope { request, total, path: &path, query: &query }.envelope(rows);
    Ok(ApiReply::ok(envelope).in_language(&languages))
}

pub(super) async fn show_maintenance(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let maintenance = resource_lookup::find_or_404(&call, maintenances::find).await?;
    let languages = AnswerLanguage::negotiate(&call.headers, &call.caller.organisation);
    shown(call.state.databases.main.reader(), call.caller.visibility(), &maintenance, &languages).await
}

pub(super) async fn create_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    if caller.visibility().is_confined() && body.get("recurrence").is_some_and(|sent| !sent.is_null()) {
        return Err(ApiError::Confined);
    }
    let recurrence = recurrence::read(&body, state.now());
    // The organisation is locked, because a maintenance that starts at once changes services that other requests may be
    // linking.
    let write = effect.begin_locked(&state.databases.main).await?;
    let known = MaintenanceLinks::read(&*write, &caller, &body).await?;
    let now = state.now();
    let new = MaintenanceParser { caller: &caller, known: &known, now }.read_new(&body);
    let (new, recurrence) = recurrence::combine_results(new, recurrence).map_err(ApiError::Fields)?;
    let (first, touched) = match recurrence {
        Some(recurrence) => {
            let usage = series::count(&*write, caller.organisation.key);
            take_slot(PlanQuota::MaintenanceSeries, caller.limits.maintenance_series, usage).await?;
            let new = recurring::SeriesDraft::of(new, recurrence, &body);
            new.store(&write, stamp(&caller, now)).await?
        }
        None => store(&write, new, stamp(&caller, now)).await?,
    };
    let location = format!("{}/v1/maintenances/{}", state.base_url, first.id);
    let reply =
        ApiReply::created(view::one(&*write, caller.visibility(), &first, &languages).await?, &location);
    let reply = write.commit(reply.in_language(&languages)).await?;
    notify_engine_of_window(&state, &caller, &touched).await;
    Ok(reply)
}

/// Stores a single maintenance. Returns the stored maintenance, and the services whose engine state depends on it.
async fn store(
    transaction: &Transaction,
    new: NewMaintenance,
    stamp: OperationContext<'_>,
) -> Result<(Maintenance, Vec<Service>), ApiError> {
    let stored =
        lifecycle::maintenances::insert(transaction, new.maintenance, &new.services, &new.statuspages)
            .await?;
    let step = MaintenanceTransition::announce(stored, new.message, stamp);
    let touched = lifecycle::maintenances::carry_out(transaction, &step, stamp.at).await?;
    Ok((step.after, touched))
}

pub(super) async fn update_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, maintenances::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, maintenances::find_for_update).await?;
    write.replaces(view::one(&*write, caller.visibility(), &stored, &languages).await?);
    if !stored.may_move_to(wanted_schedule(&body, stored.schedule)) {
        return Err(StateConflict::WindowLocked(stored.status.as_str()).into());
    }
    let known = MaintenanceLinks::read(&*write, &caller, &body).await?;
    let now = state.now();
    let draft = MaintenanceParser { caller: &caller, known: &known, now };
    let revision = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    let hidden = HiddenMaintenancePart::of(&*write, &caller, stored.key).await?;
    let is_moved = revision.statuspages.as_ref().is_some_and(|pages| *pages != hidden.seen_pages);
    let step = MaintenanceTransition::revise(
        &stored,
        revision.maintenance,
        revision.announcement,
        stamp(&caller, now),
    );
    if is_moved || step.after != stored || !step.entries.is_empty() {
        hidden.refuse_shared()?;
    }
    let is_relinked = revision.services.is_some() || revision.statuspages.is_some();
    if step.after == stored && step.entries.is_empty() && !is_relinked {
        let reply = shown(&*write, caller.visibility(), &stored, &languages).await?;
        return write.commit(reply).await;
    }
    if let Some(services) = revision.services {
        lifecycle::maintenances::cover(&write, stored.key, &[services, hidden.services].concat(), now)
            .await?;
    }
    if let Some(statuspages) = revision.statuspages {
        links::show_on(&*write, stored.key, &[statuspages, hidden.statuspages].concat()).await?;
    }
    let after = Maintenance { updated_at: now, ..step.after.adjusted() };
    let step = MaintenanceTransition { after, entries: step.entries };
    let touched = lifecycle::maintenances::carry_out(&write, &step, now).await?;
    let reply = shown(&*write, caller.visibility(), &step.after, &languages).await?;
    let reply = write.commit(reply).await?;
    notify_engine_of_window(&state, &caller, &touched).await;
    Ok(reply)
}

pub(super) async fn delete_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, maintenances::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, maintenances::find_for_update).await?;
    write.replaces(view::one(&*write, caller.visibility(), &stored, &languages).await?);
    HiddenMaintenancePart::of(&*write, &caller, stored.key).await?.refuse_shared()?;
    occurrences::skip(&*write, &stored).await?;
    let touched = lifecycle::maintenances::delete(&write, stored.key, state.now()).await?;
    let reply = write.commit(ApiReply::deleted(id)).await?;
    notify_engine_of_window(&state, &caller, &touched).await;
    Ok(reply)
}

/// Reads a maintenance as it is visible, with its visible services; `None` if it is not visible.
pub(super) async fn read_one(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
    languages: &AnswerLanguage,
) -> Result<Option<(Value, Vec<ServiceKey>)>, ApiError> {
    let Some(maintenance) = maintenances::find(connection, visibility, id).await? else { return Ok(None) };
    let services = links::services_of(connection, visibility, &[maintenance.key]).await?;
    let services = services.into_values().flatten().map(|service| service.key).collect();
    Ok(Some((view::one(connection, visibility, &maintenance, languages).await?, services)))
}

/// Responds with 200 and the maintenance.
async fn shown(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    maintenance: &Maintenance,
    languages: &AnswerLanguage,
) -> Result<ApiReply, ApiError> {
    Ok(ApiReply::data(view::one(connection, visibility, maintenance, languages).await?)
        .in_language(languages))
}

pub(in crate::http::v1) fn stamp(caller: &Caller, at: crate::clock::Timestamp) -> OperationContext<'_> {
    OperationContext { at, locale: &caller.organisation.default_locale }
}

/// Notifies the engine that these services have a changed window, by which their time counts differently from now on.
pub(in crate::http::v1) async fn notify_engine_of_window(
    state: &AppState,
    caller: &Caller,
    touched: &[Service],
) {
    for service in touched {
        state.notify_engine(service, caller.organisation.id).await;
    }
}
