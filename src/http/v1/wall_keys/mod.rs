//! `/v1/wall-keys`: keys by which a screen in a room shows the state of all services, without a user.

pub(in crate::http) mod openapi;
mod view;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::confined_to::KnownScopes;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::wall_keys::view::{NewWallKeyView, WallKeyView};
use crate::id::Id;
use crate::model::token::TokenText;
use crate::model::wall_key::{KEY_PREFIX, KEYS_MAX, NAME_LENGTH, WallKey};
use crate::store::wall_keys;

pub(super) async fn list_wall_keys(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let scopes = KnownScopes::of(main, &caller).await?;
    let (found, total) = wall_keys::list(main, caller.organisation.key, request.window()).await?;
    let rows = found.iter().map(|wall| to_json(&WallKeyView::of(wall, &scopes))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn create_wall_key(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    let wall = read_new(&body, &caller, &scopes, state.created_at()).map_err(ApiError::Fields)?;
    if wall_keys::count(&*write, caller.organisation.key).await? >= KEYS_MAX {
        return Err(ApiError::Fields(FieldErrors::of("name", FieldRule::TooMany(KEYS_MAX))));
    }
    let text = TokenText::random(KEY_PREFIX);
    let wall = wall_keys::insert(&*write, wall, &text.hash()).await?;
    let location = format!("{}/v1/wall-keys/{}", state.base_url, wall.id);
    let secret = text.expose();
    let url = format!("{}/console/wall?key={secret}", state.base_url);
    let view = NewWallKeyView { wall_key: WallKeyView::of(&wall, &scopes), secret, link: &url };
    write.commit(ApiReply::created(to_json(&view), &location)).await
}

pub(super) async fn show_wall_key(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let wall = resource_lookup::find_or_404(&call, wall_keys::find).await?;
    let scopes = KnownScopes::of(call.state.databases.main.reader(), &call.caller).await?;
    Ok(ApiReply::data(to_json(&WallKeyView::of(&wall, &scopes))))
}

pub(super) async fn delete_wall_key(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, wall_keys::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let wall = resource_lookup::lock_or_404(&write, &caller, id, wall_keys::find).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&WallKeyView::of(&wall, &scopes)));
    wall_keys::delete(&*write, wall.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

fn read_new(
    body: &Map<String, Value>,
    caller: &Caller,
    scopes: &KnownScopes,
    now: Timestamp,
) -> Result<WallKey, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
    if let Some(end) = caller.token.expires_at {
        errors.add("name", FieldRule::CallerExpires(end));
    }
    let wall = WallKey {
        key: 0,
        id: Id::random(),
        organisation: caller.organisation.key,
        name: name.unwrap_or_default(),
        access_scope: scopes.read(body, &errors).or_stored(None),
        created_at: now,
    };
    errors.into_inner().into_result(wall)
}
