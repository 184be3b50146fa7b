//! `/v1/oncall/absences`: periods in which a contact is not on duty in any schedule.

mod draft;
pub(in crate::http) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::absences::draft::AbsenceParser;
use crate::http::v1::oncall::absences::view::AbsenceView;
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::oncall::{check_entry_limit, filter};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::oncall::entry::AbsenceEntry;
use crate::store::oncall::absences;

pub(in crate::http::v1) async fn list_oncall_absences(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let asked = filter::read(&query, &mut errors);
    let asked = errors.into_result(asked).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let filter = asked.resolve(&OncallLinks::find(main, &caller).await?);
    let (entries, total) = absences::list(main, caller.visibility(), &filter, request.window()).await?;
    let rows = entries.iter().map(|entry| to_json(&AbsenceView::of(entry))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(in crate::http::v1) async fn show_oncall_absence(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let entry = resource_lookup::find_or_404(&call, absences::find).await?;
    Ok(ApiReply::data(to_json(&AbsenceView::of(&entry))))
}

pub(in crate::http::v1) async fn create_oncall_absence(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let known = OncallLinks::find(&*write, &caller).await?;
    let draft =
        AbsenceParser { organisation: caller.organisation.key, known: &known, now: state.created_at() };
    let entry = draft.read_new(&body).map_err(ApiError::Fields)?;
    check_entry_limit(
        absences::make_room(&*write, caller.organisation.key, state.guard.trusted_now()).await?,
    )?;
    let entry = absences::insert(&*write, entry).await?;
    let location = format!("{}/v1/oncall/absences/{}", state.base_url, entry.id);
    write.commit(ApiReply::created(to_json(&AbsenceView::of(&entry)), &location)).await
}

pub(in crate::http::v1) async fn update_oncall_absence(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, absences::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, absences::find).await?;
    write.replaces(to_json(&AbsenceView::of(&stored)));
    let known = OncallLinks::find(&*write, &caller).await?;
    let draft = AbsenceParser { organisation: caller.organisation.key, known: &known, now: state.now() };
    let mut entry = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if entry != stored {
        entry = AbsenceEntry { updated_at: draft.now, ..entry };
        absences::update(&*write, &entry).await?;
    }
    write.commit(ApiReply::data(to_json(&AbsenceView::of(&entry)))).await
}

pub(in crate::http::v1) async fn delete_oncall_absence(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, absences::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let entry = resource_lookup::lock_or_404(&write, &caller, id, absences::find).await?;
    write.replaces(to_json(&AbsenceView::of(&entry)));
    absences::delete(&*write, entry.key).await?;
    write.commit(ApiReply::deleted(id)).await
}
