//! `/v1/access-scopes`: list, read, create, change and delete access scopes, the sets of tags that tokens can be confined
//! to.
//!
//! Every write locks the organisation first, as the deletion of a tag and the creation of a token do. So no scope loses all
//! its tags, and no token its scope. Confined tokens have no access to these operations.

mod draft;
pub(in crate::http) mod openapi;
mod view;

use serde_json::Value;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::access_scopes::draft::AccessScopeDraft;
use crate::http::v1::access_scopes::view::AccessScopeView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::access_scope::AccessScope;
use crate::store::{StoreConnection, access_scopes};

pub(super) async fn list_access_scopes(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (scopes, total) = access_scopes::list(main, caller.visibility(), request.window()).await?;
    let rows = shown(main, &scopes).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_access_scope(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let scope = resource_lookup::find_or_404(&call, access_scopes::find).await?;
    Ok(ApiReply::data(shown_one(call.state.databases.main.reader(), &scope).await?))
}

pub(super) async fn create_access_scope(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let now = state.created_at();
    let draft = AccessScopeDraft::read_new(&body, &write, &caller).await?;
    let (scope, tags) = draft.scope(caller.organisation.key, now);
    refuse_taken_name(&write, &scope).await?;
    let usage = access_scopes::count(&*write, caller.organisation.key);
    take_slot(PlanQuota::AccessScopes, caller.limits.access_scopes, usage).await?;
    let scope = access_scopes::insert(&*write, scope).await?;
    access_scopes::set_tags(&*write, scope.key, &tags).await?;
    let location = format!("{}/v1/access-scopes/{}", state.base_url, scope.id);
    let reply = ApiReply::created(shown_one(&*write, &scope).await?, &location);
    write.commit(reply).await
}

pub(super) async fn update_access_scope(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, access_scopes::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, access_scopes::find).await?;
    write.replaces(shown_one(&*write, &stored).await?);
    let draft = AccessScopeDraft::read_changes(&body, &write, &caller).await?;
    let tags = access_scopes::tags_of(&*write, &[stored.key]).await?.remove(&stored.key).unwrap_or_default();
    let Some((changed, tags)) = draft.apply_to(&stored, &tags, state.now()) else {
        let reply = ApiReply::data(shown_one(&*write, &stored).await?);
        return write.commit(reply).await;
    };
    refuse_taken_name(&write, &changed).await?;
    access_scopes::set_tags(&*write, stored.key, &tags).await?;
    access_scopes::update(&*write, &changed).await?;
    let reply = ApiReply::data(shown_one(&*write, &changed).await?);
    write.commit(reply).await
}

pub(super) async fn delete_access_scope(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, access_scopes::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, access_scopes::find).await?;
    write.replaces(shown_one(&*write, &stored).await?);
    let tokens = access_scopes::tokens_of(&*write, &[stored.key]).await?.remove(&stored.key);
    if let Some(tokens) = tokens {
        return Err(refused("access_scope", FieldRule::ScopeInUse(tokens.join(", "))));
    }
    access_scopes::delete(&*write, stored.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

async fn refuse_taken_name(write: &WriteTransaction, scope: &AccessScope) -> Result<(), ApiError> {
    match access_scopes::is_name_taken(&**write, scope).await? {
        true => Err(refused("name", FieldRule::ScopeExists)),
        false => Ok(()),
    }
}

fn refused(path: &str, rule: FieldRule) -> ApiError {
    ApiError::Fields(FieldErrors::of(path, rule))
}

async fn shown_one(connection: &dyn StoreConnection, scope: &AccessScope) -> Result<Value, ApiError> {
    shown(connection, std::slice::from_ref(scope)).await?.pop().ok_or(ApiError::NotFound)
}

/// Renders scopes with their tags and the number of their tokens, with one query each.
async fn shown(connection: &dyn StoreConnection, scopes: &[AccessScope]) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<i64> = scopes.iter().map(|scope| scope.key).collect();
    let tags = access_scopes::tags_of(connection, &keys).await?;
    let tokens = access_scopes::tokens_of(connection, &keys).await?;
    let row = |scope: &AccessScope| {
        let tags = tags.get(&scope.key).map(Vec::as_slice).unwrap_or_default();
        to_json(&AccessScopeView::of(scope, tags, tokens.get(&scope.key).map_or(0, Vec::len)))
    };
    Ok(scopes.iter().map(row).collect())
}
