//! Publishes and withdraws status pages (contract 4.13.3, 3.3).
//!
//! Published pages are counted while the organisation is locked, so that two requests cannot take the same slot.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::viewer::PageViewer;
use crate::model::access::Permission;
use crate::model::statuspage::Statuspage;
use crate::store::{Transaction, statuspages};

pub(in crate::http) async fn publish_statuspage(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    set_published(call, true).await
}

pub(in crate::http) async fn unpublish_statuspage(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    set_published(call, false).await
}

async fn set_published(call: ApiCall<AppState>, is_published: bool) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let mut page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    write.replaces(viewer.bare(&*write, &page).await?);
    if page.is_published != is_published {
        if is_published && let Err(exceeded) = published_slot(&write, &caller).await? {
            return Err(ApiError::Fields(FieldErrors::of("is_published", exceeded)));
        }
        page = Statuspage { is_published, updated_at: state.now(), ..page };
        statuspages::update(&*write, &page).await?;
    }
    let reply = ApiReply::data(viewer.whole(&*write, &page).await?);
    write.commit(reply.in_language(&languages)).await
}

/// Returns true if a page that is created now is to be published at once. The organisation must be locked.
pub(super) async fn may_publish_now(transaction: &Transaction, caller: &Caller) -> Result<bool, ApiError> {
    let is_permitted = caller.token.permissions.contains(Permission::StatuspagesPublish);
    Ok(is_permitted && published_slot(transaction, caller).await?.is_ok())
}

/// Checks that the plan has room for another published page; returns the broken rule otherwise.
async fn published_slot(
    transaction: &Transaction,
    caller: &Caller,
) -> Result<Result<(), FieldRule>, ApiError> {
    let Some(limit) = caller.limits.published_statuspages else { return Ok(Ok(())) };
    let usage = statuspages::count_published(transaction, caller.organisation.key).await?;
    Ok(if usage < u64::from(limit) { Ok(()) } else { Err(FieldRule::PublishQuota { limit, usage }) })
}
