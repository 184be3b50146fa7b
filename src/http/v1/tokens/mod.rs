//! `/v1/tokens`: API tokens. A token never has more than its maker: permissions, access scope and time.
//!
//! Every write locks the organisation first, as the deletion of an access scope does. Bodies are read in `draft`; `view` is
//! the JSON. A change is in force for the requests that arrive a second later.

mod draft;
pub(in crate::http) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::confined_to::KnownScopes;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::tokens::draft::TokenParser;
use crate::http::v1::tokens::view::{ApiTokenView, NewTokenView};
use crate::model::access::TOKENS_MAX;
use crate::model::token::TokenText;
use crate::store::{PageWindow, tokens};

pub(super) async fn list_tokens(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let scopes = KnownScopes::of(main, &caller).await?;
    let (found, total) = tokens::page(main, caller.organisation.key, request.window()).await?;
    let rows = found.iter().map(|token| to_json(&ApiTokenView::of(token, &scopes))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_token(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let token = resource_lookup::find_or_404(&call, tokens::find).await?;
    let scopes = KnownScopes::of(call.state.databases.main.reader(), &call.caller).await?;
    Ok(ApiReply::data(to_json(&ApiTokenView::of(&token, &scopes))))
}

pub(super) async fn create_token(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    let draft = TokenParser { caller: &caller, scopes: &scopes, now: state.created_at() };
    let token = draft.read_new(&body).map_err(ApiError::Fields)?;
    let (_, count) =
        tokens::page(&*write, caller.organisation.key, PageWindow { offset: 0, limit: 1 }).await?;
    if count >= TOKENS_MAX {
        return Err(ApiError::Fields(FieldErrors::of("name", FieldRule::TooMany(TOKENS_MAX))));
    }
    let text = TokenText::random(&state.config.compat.token_prefix);
    let token = tokens::insert(&*write, token, &text.hash()).await?;
    let location = format!("{}/v1/tokens/{}", state.base_url, token.id);
    let view = NewTokenView::of(ApiTokenView::of(&token, &scopes), text.expose());
    write.commit(ApiReply::created(to_json(&view), &location)).await
}

pub(super) async fn update_token(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, tokens::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, tokens::find).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&ApiTokenView::of(&stored, &scopes)));
    let draft = TokenParser { caller: &caller, scopes: &scopes, now: state.now() };
    let token = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if token != stored {
        tokens::update(&*write, &token).await?;
    }
    write.commit(ApiReply::data(to_json(&ApiTokenView::of(&token, &scopes)))).await
}

pub(super) async fn delete_token(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, tokens::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, tokens::find).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&ApiTokenView::of(&stored, &scopes)));
    tokens::delete(&*write, id).await?;
    write.commit(ApiReply::deleted(id)).await
}
