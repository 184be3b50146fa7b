//! `/v1/contacts`: people who receive notifications, on their own channels, in their own language and time zone.
//!
//! Every write locks the organisation first, as the deletion of a channel and writes that name a contact do. Bodies are read
//! in `draft`, `view` is the JSON, and `calendar` manages the URL of a calendar.

pub(super) mod calendar;
mod draft;
pub(in crate::http) mod openapi;
mod view;

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
use crate::http::v1::contacts::draft::ContactParser;
use crate::http::v1::contacts::view::ContactView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::lifecycle::held_messages::rehold_contact;
use crate::model::contact::{CONTACTS_MAX, Contact};
use crate::store::{contact_users, contacts, notification_channels};

pub(super) async fn list_contacts(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (contacts, total) = contacts::list(main, caller.visibility(), request.window()).await?;
    let rows = contacts.iter().map(|contact| to_json(&ContactView::of(contact))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_contact(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let contact = resource_lookup::find_or_404(&call, contacts::find).await?;
    Ok(ApiReply::data(to_json(&ContactView::of(&contact))))
}

pub(super) async fn create_contact(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let channels = notification_channels::keys(&*write, caller.organisation.key).await?;
    let draft = ContactParser { caller: &caller, channels, now: state.created_at() };
    let contact = draft.read_new(&body).map_err(ApiError::Fields)?;
    let count = contacts::count(&*write, caller.organisation.key).await?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(PlanQuota::Contacts, caller.limits.contacts, usage).await?;
    if count >= CONTACTS_MAX {
        return Err(ApiError::Fields(FieldErrors::of("name", FieldRule::TooMany(CONTACTS_MAX))));
    }
    let contact = contacts::insert(&*write, contact).await?;
    let location = format!("{}/v1/contacts/{}", state.base_url, contact.id);
    write.commit(ApiReply::created(to_json(&ContactView::of(&contact)), &location)).await
}

pub(super) async fn update_contact(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, contacts::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, contacts::find).await?;
    write.replaces(to_json(&ContactView::of(&stored)));
    let channels = notification_channels::keys(&*write, caller.organisation.key).await?;
    let draft = ContactParser { caller: &caller, channels, now: state.now() };
    let mut contact = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if contact != stored {
        contact = Contact { updated_at: draft.now, ..contact };
        contacts::update(&*write, &contact).await?;
        if contact.quiet != stored.quiet {
            rehold_contact(&write, &contact, draft.now).await?;
        }
    }
    write.commit(ApiReply::data(to_json(&ContactView::of(&contact)))).await
}

pub(super) async fn delete_contact(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, contacts::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let contact = resource_lookup::lock_or_404(&write, &caller, id, contacts::find).await?;
    write.replaces(to_json(&ContactView::of(&contact)));
    let users = contact_users::names(&*write, &contact, state.now()).await?;
    if !users.is_empty() {
        let rule = FieldRule::ContactInUse(users.join(", "));
        return Err(ApiError::Fields(FieldErrors::of("contact", rule)));
    }
    contacts::delete(&*write, contact.key, state.now()).await?;
    write.commit(ApiReply::deleted(id)).await
}
