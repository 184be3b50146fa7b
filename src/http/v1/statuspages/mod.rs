//! `/v1/statuspages` (contract 4.13): list, read, create, change, delete, publish and withdraw status pages.
//!
//! Bodies are read in `draft`, the JSON is built in `view` and `viewer`, and `components` has the components. Passwords are
//! hashed before the transaction begins, so that other writers do not have to wait.

pub(in crate::http) mod asset_urls;
mod draft;
mod hashing;
pub(in crate::http) mod openapi;
pub(in crate::http) mod publishing;
mod seo;
mod view;
pub(in crate::http) mod viewer;

use std::sync::Arc;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::draft::{StatuspageDraft, StatuspageParser, asked_slug};
use crate::http::v1::statuspages::viewer::PageViewer;
use crate::model::slug;
use crate::model::statuspage::Statuspage;
use crate::store::statuspages;
use crate::store::statuspages::slugs;

pub(super) use hashing::PasswordHasher;

pub(super) async fn list_statuspages(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, headers, .. } = call;
    let mut errors = FieldErrors::default();
    let slug = query.single("slug", &mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    // No page has an empty slug, so a malformed slug selects nothing. The database might refuse the malformed text.
    let slug = slug.map(|slug| if slug::is_slug(slug) { slug } else { "" });
    let listed = statuspages::list(main, caller.visibility(), slug, request.window()).await;
    let (pages, total) = listed?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    let rows = viewer.rows(main, &pages).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows))
        .in_language(&languages))
}

pub(super) async fn show_statuspage(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, caller, headers, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    let shown = viewer.whole(state.databases.main.reader(), &page).await?;
    Ok(ApiReply::data(shown).in_language(&languages))
}

pub(super) async fn create_statuspage(
    hasher: Arc<PasswordHasher>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let unavailable = unavailable_slug(&state, &caller, asked_slug(&body)).await?;
    let draft = StatuspageParser { organisation: &caller.organisation, unavailable, now: state.created_at() };
    let StatuspageDraft { mut page, password, publish } = draft.read_new(&body).map_err(ApiError::Fields)?;
    if let Some(password) = password {
        page.password_hash = Some(hasher.hash(password).await?);
    }
    let write = effect.begin_locked(&state.databases.main).await?;
    let usage = statuspages::count(&*write, caller.organisation.key);
    take_slot(PlanQuota::Statuspages, caller.limits.statuspages, usage).await?;
    page.is_published = publish && publishing::may_publish_now(&write, &caller).await?;
    let page = insert(&state, &caller.organisation.default_locale, &write, page).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    let location = format!("{}/v1/statuspages/{}", state.base_url, page.id);
    let reply = ApiReply::created(viewer.whole(&*write, &page).await?, &location);
    write.commit(reply.in_language(&languages)).await
}

pub(super) async fn update_statuspage(
    hasher: Arc<PasswordHasher>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let seen = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let asked = asked_slug(&body).filter(|slug| *slug != seen.slug);
    let unavailable = unavailable_slug(&state, &caller, asked).await?;
    let draft = StatuspageParser { organisation: &caller.organisation, unavailable, now: state.created_at() };
    let password = draft.read_changes(&body, &seen).map_err(ApiError::Fields)?.password;
    let new_hash = match password {
        Some(password) => Some(hasher.hash(password).await?),
        None => None,
    };
    let write = effect.begin(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, seen.id, statuspages::find_for_update).await?;
    let mut changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?.page;
    if new_hash.is_some() {
        changed.password_hash = new_hash;
    }
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    write.replaces(viewer.whole(&*write, &stored).await?);
    if changed == stored {
        let reply = ApiReply::data(viewer.whole(&*write, &stored).await?);
        return write.commit(reply.in_language(&languages)).await;
    }
    changed.updated_at = state.now();
    statuspages::update(&*write, &changed).await?;
    if changed.slug != stored.slug
        && !slugs::rename(&*write, &stored, &changed.slug, state.guard.judged_now()).await?
    {
        return Err(slug_taken());
    }
    let reply = ApiReply::data(viewer.whole(&*write, &changed).await?);
    write.commit(reply.in_language(&languages)).await
}

pub(super) async fn delete_statuspage(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    write.replaces(viewer.bare(&*write, &page).await?);
    statuspages::delete(&*write, &page, state.guard.judged_now().best).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Returns the requested slug if it is unavailable to the caller.
async fn unavailable_slug(
    state: &AppState,
    caller: &Caller,
    asked: Option<String>,
) -> Result<Option<String>, ApiError> {
    let Some(slug) = asked else { return Ok(None) };
    if state.config.reserved_slugs.contains(&slug) {
        return Ok(Some(slug));
    }
    let main = state.databases.main.reader();
    let taken = slugs::is_taken(main, caller.organisation.key, &slug, state.guard.judged_now()).await?;
    Ok(taken.then_some(slug))
}

/// Stores a new page under the requested slug, or under the first free slug derived from its name.
async fn insert(
    state: &AppState,
    default_locale: &str,
    write: &WriteTransaction,
    page: Statuspage,
) -> Result<Statuspage, ApiError> {
    let now = state.guard.judged_now();
    if !page.slug.is_empty() {
        let stored = slugs::insert(&**write, page, now).await?;
        return stored.ok_or_else(slug_taken);
    }
    let base = slug::derived(page.name.text(default_locale, default_locale));
    let reserved = &state.config.reserved_slugs;
    let mut tried = 0;
    loop {
        let candidates = slug::candidates(&base, tried);
        let taken = slugs::taken_among(&**write, page.organisation, &candidates, now).await?;
        let is_free = |slug: &&String| !taken.contains(*slug) && !reserved.contains(slug);
        let Some(slug) = candidates.iter().find(is_free).cloned() else {
            tried += candidates.len() as u64;
            continue;
        };
        let named = Statuspage { slug, ..page.clone() };
        // If the slug has been taken meanwhile, the next read sees it.
        if let Some(stored) = slugs::insert(&**write, named, now).await? {
            return Ok(stored);
        }
    }
}

fn slug_taken() -> ApiError {
    ApiError::Fields(FieldErrors::of("slug", FieldRule::SlugTaken))
}
