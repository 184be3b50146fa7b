//! `/v1/statuspages/{id}/subscribers`: list, show, create, delete and export the subscribers of a status page.
//!
//! Bodies are read in `draft`, `view` is the JSON and `export` the CSV. Secrets are sealed here and never opened.

mod draft;
mod export;
pub(in crate::http) mod openapi;
mod view;

pub(super) use export::export_subscribers;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::query::QueryString;
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::subscribers::draft::SubscriberParser;
use crate::http::v1::subscribers::view::SubscriberView;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{PageSubscriber, SUBSCRIBERS_MAX, SubscriberStatus};
use crate::store::subscribers::SubscriberFilter;
use crate::store::{components, statuspages, subscriber_deliveries, subscribers};

pub(super) async fn list_subscribers(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, query, canonical_path, .. } = call;
    let filter = read_filter(&query)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (found, total) = subscribers::list(main, page.key, &filter, request.window()).await?;
    let rows = found.iter().map(|subscriber| to_json(&SubscriberView::of(page.id, subscriber))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

/// Reads the filters `channel` and `status`.
fn read_filter(query: &QueryString) -> Result<SubscriberFilter, ApiError> {
    let mut errors = FieldErrors::default();
    let filter = SubscriberFilter {
        channels: query.words("channel", SubscriberChannel::WORDS, &mut errors),
        statuses: query.words("status", SubscriberStatus::WORDS, &mut errors),
    };
    errors.into_result(filter).map_err(ApiError::Fields)
}

pub(super) async fn show_subscriber(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let (page, subscriber) = find(&call).await?;
    Ok(ApiReply::data(to_json(&SubscriberView::of(page.id, &subscriber))))
}

pub(super) async fn create_subscriber(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let components = components::of_page(&*write, caller.visibility(), page.key).await?;
    let parser = SubscriberParser {
        sealer: &state.compiler.sealer,
        organisation: &caller.organisation,
        page: &page,
        components: components.into_iter().map(|component| (component.id, component.key)).collect(),
        sends_mails: state.config.mail.is_complete(),
        now: state.created_at(),
    };
    let draft = parser.read_new(&body)?;
    if subscribers::find_address(&*write, page.key, &draft.subscriber.address.hash).await?.is_some() {
        return Err(FieldErrors::of("address", FieldRule::AddressSubscribed).into());
    }
    let count = subscribers::count(&*write, page.key).await?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(PlanQuota::Subscribers, caller.limits.subscribers, usage).await?;
    if count >= SUBSCRIBERS_MAX {
        return Err(FieldErrors::of("address", FieldRule::TooMany(SUBSCRIBERS_MAX)).into());
    }
    let subscriber = subscribers::insert(&*write, draft.subscriber).await?;
    if subscriber.status == SubscriberStatus::Pending {
        subscriber_deliveries::queue_proof(&*write, &subscriber, state.now()).await?;
    }
    let location = format!("{}/v1/statuspages/{}/subscribers/{}", state.base_url, page.id, subscriber.id);
    let view = SubscriberView::with_secret(page.id, &subscriber, draft.secret.as_deref());
    write.commit(ApiReply::created(to_json(&view), &location)).await
}

pub(super) async fn delete_subscriber(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let (page, subscriber) = find(&call).await?;
    let ApiCall { state, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    // It may have been deleted meanwhile.
    let stored = subscribers::find(&*write, page.key, subscriber.id).await?.ok_or(ApiError::NotFound)?;
    write.replaces(to_json(&SubscriberView::with_secret(page.id, &stored, None)));
    subscribers::delete(&*write, stored.key).await?;
    write.commit(ApiReply::deleted(stored.id)).await
}

/// Finds the page and the subscriber in the path (step 8 of contract 1.8).
async fn find(call: &ApiCall<AppState>) -> Result<(Statuspage, PageSubscriber), ApiError> {
    let page = resource_lookup::find_or_404(call, statuspages::find).await?;
    let id = call.path.id(1)?;
    let main = call.state.databases.main.reader();
    let found = subscribers::find(main, page.key, id).await?;
    Ok((page, found.ok_or(ApiError::NotFound)?))
}
