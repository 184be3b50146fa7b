//! `/v1/notification-channels`: destinations of notifications.
//!
//! Bodies are read in `draft`, with `settings` and `template_flaws`; `view` is the JSON, and `test` sends a test message.

mod draft;
pub(in crate::http) mod openapi;
mod settings;
mod template_flaws;
mod test;
pub(in crate::http::v1) mod view;

pub(super) use test::test_notification_channel;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::notification_channels::draft::ChannelParser;
use crate::http::v1::notification_channels::template_flaws::TemplateFlaws;
use crate::http::v1::notification_channels::view::NotificationChannelView;
use crate::http::v1::resource_lookup;
use crate::http::v1::routed_services::RoutingLinks;
use crate::http::v1::state::AppState;
use crate::lifecycle::held_messages::rehold_channel;
use crate::model::notification::NotificationChannel;
use crate::store::notifications::courier::bring_forward;
use crate::store::{contacts, escalation_policies, notification_channels};

pub(super) async fn list_notification_channels(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (channels, total) = notification_channels::list(main, caller.visibility(), request.window()).await?;
    let rows = channels.iter().map(|channel| shown(&state, channel)).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_notification_channel(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let channel = resource_lookup::find_or_404(&call, notification_channels::find).await?;
    Ok(ApiReply::data(shown(&call.state, &channel)))
}

pub(super) async fn create_notification_channel(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let template_flaws = TemplateFlaws::find_in_new(&body);
    let write = effect.begin_locked(&state.databases.main).await?;
    let named = RoutingLinks::find(&body, &write, &caller).await?;
    let draft =
        ChannelParser { state: &state, caller: &caller, named, template_flaws, now: state.created_at() };
    let channel = draft.read_new(&body).map_err(ApiError::Fields)?;
    let usage = notification_channels::count(&*write, caller.organisation.key);
    take_slot(PlanQuota::NotificationChannels, caller.limits.notification_channels, usage).await?;
    let channel = notification_channels::insert(&*write, channel).await?;
    let location = format!("{}/v1/notification-channels/{}", state.base_url, channel.id);
    write.commit(ApiReply::created(shown(&state, &channel), &location)).await
}

pub(super) async fn update_notification_channel(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let NotificationChannel { id, kind, .. } =
        resource_lookup::find_or_404(&call, notification_channels::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let template_flaws = TemplateFlaws::find(&body, Some(kind));
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, notification_channels::find).await?;
    write.replaces(shown(&state, &stored));
    let named = RoutingLinks::find(&body, &write, &caller).await?;
    let draft = ChannelParser { state: &state, caller: &caller, named, template_flaws, now: state.now() };
    let changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if changed == stored {
        return write.commit(ApiReply::data(shown(&state, &stored))).await;
    }
    let changed = NotificationChannel { updated_at: draft.now, ..changed };
    notification_channels::update(&*write, &changed).await?;
    if (&changed.routing.quiet, changed.routing.digest_above)
        != (&stored.routing.quiet, stored.routing.digest_above)
    {
        rehold_channel(&write, &changed, draft.now).await?;
    }
    // Messages that wait for a retry may succeed with the changed settings.
    bring_forward(&*write, changed.key, draft.now).await?;
    write.commit(ApiReply::data(shown(&state, &changed))).await
}

pub(super) async fn delete_notification_channel(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, notification_channels::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let channel = resource_lookup::lock_or_404(&write, &caller, id, notification_channels::find).await?;
    write.replaces(shown(&state, &channel));
    let owner = caller.organisation.key;
    let users = escalation_policies::names_of_channel(&*write, owner, channel.key).await?;
    if !users.is_empty() {
        let rule = FieldRule::ChannelInUse(users.join(", "));
        return Err(ApiError::Fields(FieldErrors::of("notification_channel", rule)));
    }
    let contacts = contacts::names_of_channel(&*write, owner, channel.key).await?;
    if !contacts.is_empty() {
        let rule = FieldRule::ChannelOfContacts(contacts.join(", "));
        return Err(ApiError::Fields(FieldErrors::of("notification_channel", rule)));
    }
    notification_channels::delete(&*write, channel.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

fn shown(state: &AppState, channel: &NotificationChannel) -> serde_json::Value {
    to_json(&NotificationChannelView::of(channel, &state.config.compat.secret_placeholder))
}
