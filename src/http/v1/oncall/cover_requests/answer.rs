//! Answers to cover requests: accept, decline, cancel.
//!
//! A contact that accepts is put on duty in the same transaction, with the organisation locked: of two concurrent
//! acceptances the first one wins, and the second one gets the outcome (409).

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::call::Call;
use crate::http::gate::write::{Committed, Write};
use crate::http::kit::error::{ApiError, Conflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{Errors, Fields};
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::oncall::cover_requests::view::CoverRequestView;
use crate::http::v1::oncall::known::Known;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::notification::routing::Routed;
use crate::model::oncall::cover::{CoverRequest, NotAnswered};
use crate::model::oncall::entry::OverrideEntry;
use crate::store::oncall::{cover_requests, overrides};

pub(in crate::http::v1) async fn accept_cover_request(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, cover_requests::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, cover_requests::find).await?;
    let now = state.now();
    let contact = read_contact(&body, &Known::find(&*write, &caller).await?)?;
    let accepted = stored.accept(&contact, now)?;
    let placed = overrides::insert(&*write, placed(&accepted, contact, now)).await?;
    let placed = Some(Routed { key: placed.key, id: placed.id });
    finish(write, CoverRequest { placed, ..accepted }, now).await
}

pub(in crate::http::v1) async fn decline_cover_request(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, cover_requests::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, cover_requests::find).await?;
    let now = state.now();
    let contact = read_contact(&body, &Known::find(&*write, &caller).await?)?;
    let declined = stored.decline(&contact, now)?;
    finish(write, declined, now).await
}

pub(in crate::http::v1) async fn cancel_cover_request(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, cover_requests::find).await?.id;
    let Call { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, cover_requests::find).await?;
    let now = state.now();
    finish(write, stored.cancel(now)?, now).await
}

/// The override that puts a contact on duty.
fn placed(request: &CoverRequest, contact: NamedContact, now: Timestamp) -> OverrideEntry {
    OverrideEntry {
        key: 0,
        id: Id::random(),
        organisation: request.organisation,
        schedule: request.schedule.clone(),
        contact,
        range: request.covered(now),
        created_at: now,
        updated_at: now,
    }
}

/// Stores the outcome of the request, and responds with it.
async fn finish(write: Write, request: CoverRequest, now: Timestamp) -> Result<Committed, ApiError> {
    cover_requests::update(&*write, &request).await?;
    write.commit(Reply::data(to_json(&CoverRequestView::of(&request, now)))).await
}

/// Reads `contact_id`: the contact that answers.
fn read_contact(body: &Map<String, Value>, known: &Known) -> Result<NamedContact, ApiError> {
    let errors = Errors::default();
    let fields = Fields::new(body, "", &errors);
    let contact = fields.required("contact_id").and_then(|field| known.read_contact(&field));
    errors.into_inner().into_result(()).map_err(ApiError::Fields)?;
    contact.ok_or_else(|| ApiError::Fields(FieldErrors::of("contact_id", FieldRule::Required)))
}

impl From<NotAnswered> for ApiError {
    fn from(refused: NotAnswered) -> Self {
        match refused {
            NotAnswered::Over(status) => Conflict::CoverOver(status.as_str()).into(),
            NotAnswered::NotAsked => Self::Fields(FieldErrors::of("contact_id", FieldRule::NotAsked)),
        }
    }
}
