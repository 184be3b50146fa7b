//! `/v1/oncall/overrides`: a contact takes over a schedule for a period, instead of all its layers.

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
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::oncall::overrides::draft::OverrideParser;
use crate::http::v1::oncall::overrides::view::OverrideView;
use crate::http::v1::oncall::{check_entry_limit, filter};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::oncall::entry::OverrideEntry;
use crate::store::oncall::overrides;

pub(in crate::http::v1) async fn list_oncall_overrides(
    call: ApiCall<AppState>,
) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let asked = filter::read(&query, &mut errors);
    let asked = errors.into_result(asked).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let filter = asked.resolve(&OncallLinks::find(main, &caller).await?);
    let (entries, total) = overrides::list(main, caller.visibility(), &filter, request.window()).await?;
    let rows = entries.iter().map(|entry| to_json(&OverrideView::of(entry))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(in crate::http::v1) async fn show_oncall_override(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let entry = resource_lookup::find_or_404(&call, overrides::find).await?;
    Ok(ApiReply::data(to_json(&OverrideView::of(&entry))))
}

pub(in crate::http::v1) async fn create_oncall_override(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let known = OncallLinks::find(&*write, &caller).await?;
    let draft =
        OverrideParser { organisation: caller.organisation.key, known: &known, now: state.created_at() };
    let entry = draft.read_new(&body).map_err(ApiError::Fields)?;
    check_entry_limit(
        overrides::make_room(&*write, caller.organisation.key, state.guard.trusted_now()).await?,
    )?;
    let entry = overrides::insert(&*write, entry).await?;
    let location = format!("{}/v1/oncall/overrides/{}", state.base_url, entry.id);
    write.commit(ApiReply::created(to_json(&OverrideView::of(&entry)), &location)).await
}

pub(in crate::http::v1) async fn update_oncall_override(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, overrides::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, overrides::find).await?;
    write.replaces(to_json(&OverrideView::of(&stored)));
    let known = OncallLinks::find(&*write, &caller).await?;
    let draft = OverrideParser { organisation: caller.organisation.key, known: &known, now: state.now() };
    let mut entry = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if entry != stored {
        entry = OverrideEntry { updated_at: draft.now, ..entry };
        overrides::update(&*write, &entry).await?;
    }
    write.commit(ApiReply::data(to_json(&OverrideView::of(&entry)))).await
}

pub(in crate::http::v1) async fn delete_oncall_override(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, overrides::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let entry = resource_lookup::lock_or_404(&write, &caller, id, overrides::find).await?;
    write.replaces(to_json(&OverrideView::of(&entry)));
    overrides::delete(&*write, entry.key).await?;
    write.commit(ApiReply::deleted(id)).await
}
