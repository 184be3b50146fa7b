//! `/v1/contacts/{id}/calendar`: the secret URL of an iCalendar feed with a contact's shifts.
//!
//! Only the hash of the secret is stored, so the URL is shown once. `http::public_paths::calendar` serves the feed.

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::address_secret::{draw_secret, hash};
use crate::http::v1::contacts::view::CalendarView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::store::{contact_calendars, contacts};

pub(in crate::http::v1) async fn make_contact_calendar(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, contacts::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let contact = resource_lookup::lock_or_404(&write, &caller, id, contacts::find).await?;
    let secret = draw_secret()?;
    contact_calendars::replace(&*write, contact.key, hash(&secret), state.now()).await?;
    let url = format!("{}/calendars/{secret}.ics", state.base_url);
    // The location is not the secret URL: responses stored under an `Idempotency-Key` contain this header in plain text.
    let location = format!("{}/v1/contacts/{id}", state.base_url);
    write.commit(ApiReply::created(to_json(&CalendarView { url }), &location)).await
}

pub(in crate::http::v1) async fn delete_contact_calendar(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, contacts::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let contact = resource_lookup::lock_or_404(&write, &caller, id, contacts::find).await?;
    if !contact_calendars::delete(&*write, contact.key).await? {
        return Err(ApiError::NotFound);
    }
    write.commit(ApiReply::deleted(id)).await
}
