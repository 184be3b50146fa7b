//! `/v1/tags` (contract 4.4): list, read, create, find or create, change and delete tags.
//!
//! Every write locks the organisation first, so that names stay unique and quotas exact, and that of several equal "find or
//! create" requests exactly one creates the tag. `services` assigns tags to services.

mod draft;
pub(super) mod entries;
pub(in crate::http) mod openapi;
pub(super) mod view;

use std::collections::HashMap;

use serde_json::Value;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{PageEnvelope, PageRequest};
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::tags::draft::TagDraft;
use crate::http::v1::tags::view::TagView;
use crate::model::tag::{Tag, TagSource, is_key};
use crate::model::visibility::Visibility;
use crate::store::tags::{self, TagFilter};
use crate::store::{StoreConnection, Transaction};

/// Default number of tags per page.
const PER_PAGE: u64 = 50;

pub(super) async fn list_tags(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let filter = read_filter(&query).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, PER_PAGE);
    let main = state.databases.main.reader();
    let window = request.window();
    let (rows, total) = match filter {
        Some(filter) => tags::list(main, caller.visibility(), &filter, window).await?,
        None => (Vec::new(), 0),
    };
    let rows = counted(main, caller.visibility(), &rows).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_tag(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let tag = resource_lookup::find_or_404(&call, tags::find).await?;
    let main = call.state.databases.main.reader();
    Ok(ApiReply::data(counted_one(main, call.caller.visibility(), &tag).await?))
}

pub(super) async fn create_tag(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let draft = TagDraft::read_new(&body).map_err(ApiError::Fields)?;
    let write = effect.begin_locked(&state.databases.main).await?;
    if tags::find_named(&*write, caller.visibility(), &draft.name).await?.is_some() {
        return Err(refused("key", FieldRule::TagExists));
    }
    insert(&state, &caller, write, draft).await
}

pub(super) async fn ensure_tag(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let draft = TagDraft::read_new(&body).map_err(ApiError::Fields)?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let known = tags::find_named(&*write, caller.visibility(), &draft.name).await?;
    match known {
        Some(tag) => {
            let reply = ApiReply::data(counted_one(&*write, caller.visibility(), &tag).await?);
            write.commit(reply).await
        }
        None => insert(&state, &caller, write, draft).await,
    }
}

pub(super) async fn update_tag(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, tags::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let visibility = caller.visibility();
    let stored = tags::find(&*write, visibility, id).await?.ok_or(ApiError::NotFound)?;
    write.replaces(counted_one(&*write, visibility, &stored).await?);
    let changed = TagDraft::read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if changed.name != stored.name && tags::find_named(&*write, visibility, &changed.name).await?.is_some() {
        return Err(refused("key", FieldRule::TagExists));
    }
    if changed != stored {
        tags::update(&*write, &changed).await?;
    }
    let reply = ApiReply::data(counted_one(&*write, caller.visibility(), &changed).await?);
    write.commit(reply).await
}

pub(super) async fn delete_tag(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, tags::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let tag = tags::find(&*write, caller.visibility(), id).await?.ok_or(ApiError::NotFound)?;
    write.replaces(counted_one(&*write, caller.visibility(), &tag).await?);
    if tag.source == TagSource::System {
        return Err(refused("tag", FieldRule::TagSystem("deleted")));
    }
    let users = tags::users(&*write, tag.row, &caller.organisation.default_locale).await?;
    if !users.is_empty() {
        return Err(refused("tag", FieldRule::TagInUse(users.join(", "))));
    }
    tags::delete(&*write, tag.row).await?;
    write.commit(ApiReply::deleted(tag.id)).await
}

async fn insert(
    state: &AppState,
    caller: &Caller,
    write: WriteTransaction,
    draft: TagDraft,
) -> Result<CommittedReply, ApiError> {
    check_quota(&write, caller).await?;
    let tag = Tag::new(caller.organisation.key, draft.name, draft.color, state.now());
    let tag = tags::insert(&*write, tag).await?;
    let location = format!("{}/v1/tags/{}", state.base_url, tag.id);
    let reply = ApiReply::created(counted_one(&*write, caller.visibility(), &tag).await?, &location);
    write.commit(reply).await
}

/// Checks that the plan has room for another tag (step 13).
async fn check_quota(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let Some(limit) = caller.limits.tags else { return Ok(()) };
    let usage = tags::count_user(transaction, caller.organisation.key).await?;
    if usage < u64::from(limit) { Ok(()) } else { Err(refused("key", FieldRule::TagQuota { limit, usage })) }
}

fn refused(path: &str, rule: FieldRule) -> ApiError {
    ApiError::Fields(FieldErrors::of(path, rule))
}

/// Reads the filters `label` and `key`; `None` when they cannot select any tag.
fn read_filter(query: &QueryString) -> Result<Option<TagFilter>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let (label, key) = (query.single("label", &mut errors), query.single("key", &mut errors));
    let mut filter = Some(TagFilter::default());
    if let Some(label) = label {
        let name = label.parse().ok();
        filter = name.map(|name| TagFilter { name: Some(name), key: None });
    }
    if let Some(key) = key {
        let key = key.to_ascii_lowercase();
        filter = filter.filter(|_| is_key(&key)).map(|filter| TagFilter { key: Some(key), ..filter });
    }
    errors.into_result(filter)
}

async fn counted_one(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tag: &Tag,
) -> Result<Value, ApiError> {
    let mut rows = counted(connection, visibility, std::slice::from_ref(tag)).await?;
    rows.pop().ok_or(ApiError::NotFound)
}

/// Renders tags with `services_count`, which is queried once.
async fn counted(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tags: &[Tag],
) -> Result<Vec<Value>, ApiError> {
    let rows: Vec<i64> = tags.iter().map(|tag| tag.row).collect();
    let counts: HashMap<i64, i64> = tags::services_counts(connection, visibility, &rows).await?;
    let count = |tag: &Tag| counts.get(&tag.row).copied().unwrap_or_default();
    Ok(tags.iter().map(|tag| to_json(&TagView::of(tag, count(tag)))).collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 4.4: filters; specification 4.9.
    #[rstest]
    #[case("", Some((None, None)))]
    #[case("label=env%3Aprod", Some((Some("env:prod"), None)))]
    #[case("label=ENV=prod", Some((Some("env:prod"), None)))]
    #[case("key=+Env", Some((None, Some("env"))))]
    #[case("label=env&key=env", Some((Some("env"), Some("env"))))]
    #[case("label=", None)]
    #[case("label=-", None)]
    #[case("key=", None)]
    #[case("label=env&key=", None)]
    #[case("label=&key=env", None)]
    fn filters_select(#[case] query: &str, #[case] expected: Option<(Option<&str>, Option<&str>)>) {
        let expected = expected.map(|(name, key)| TagFilter {
            name: name.map(|name| name.parse().unwrap()),
            key: key.map(str::to_owned),
        });
        assert_eq!(read_filter(&QueryString::parse(query)), Ok(expected));
    }

    #[test]
    fn filters_take_a_single_value() {
        let refused = read_filter(&QueryString::parse("label[]=a&key[]=b")).unwrap_err();
        let paths: Vec<&str> = refused.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["label", "key"]);
    }
}
