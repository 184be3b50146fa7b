//! Answers to cover requests: accept, decline, cancel.
//!
//! A contact that accepts is put on duty in the same transaction, with the organisation locked. Of two concurrent
//! acceptances the first one succeeds; the second one is refused with the outcome (409).

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::cover_requests::view::CoverRequestView;
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::cover::{CoverError, CoverRequest};
use crate::model::oncall::entry::OverrideEntry;
use crate::store::oncall::{cover_requests, overrides};

pub(in crate::http::v1) async fn accept_cover_request(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, cover_requests::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, cover_requests::find).await?;
    write.replaces(to_json(&CoverRequestView::of(&stored, state.now())));
    let now = state.now();
    let contact = read_contact(&body, &OncallLinks::find(&*write, &caller).await?)?;
    let accepted = stored.accept(&contact, now)?;
    let placed = overrides::insert(&*write, build_override(&accepted, contact, now)).await?;
    let placed = Some(ResourceReference { key: placed.key, id: placed.id });
    finish(write, CoverRequest { placed, ..accepted }, now).await
}

pub(in crate::http::v1) async fn decline_cover_request(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, cover_requests::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, cover_requests::find).await?;
    write.replaces(to_json(&CoverRequestView::of(&stored, state.now())));
    let now = state.now();
    let contact = read_contact(&body, &OncallLinks::find(&*write, &caller).await?)?;
    let declined = stored.decline(&contact, now)?;
    finish(write, declined, now).await
}

pub(in crate::http::v1) async fn cancel_cover_request(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, cover_requests::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, cover_requests::find).await?;
    write.replaces(to_json(&CoverRequestView::of(&stored, state.now())));
    let now = state.now();
    finish(write, stored.cancel(now)?, now).await
}

/// Returns the override that puts a contact on duty.
fn build_override(request: &CoverRequest, contact: NamedContact, now: Timestamp) -> OverrideEntry {
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

/// Stores the outcome of the request, and responds with the request.
async fn finish(
    write: WriteTransaction,
    request: CoverRequest,
    now: Timestamp,
) -> Result<CommittedReply, ApiError> {
    cover_requests::update(&*write, &request).await?;
    write.commit(ApiReply::data(to_json(&CoverRequestView::of(&request, now)))).await
}

/// Reads `contact_id`, the contact that answers.
fn read_contact(body: &Map<String, Value>, known: &OncallLinks) -> Result<NamedContact, ApiError> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let contact = fields.required("contact_id").and_then(|field| known.read_contact(&field));
    errors.into_inner().into_result(()).map_err(ApiError::Fields)?;
    contact.ok_or_else(|| ApiError::Fields(FieldErrors::of("contact_id", FieldRule::Required)))
}

impl From<CoverError> for ApiError {
    fn from(refused: CoverError) -> Self {
        match refused {
            CoverError::Over(status) => StateConflict::CoverOver(status.as_str()).into(),
            CoverError::NotAsked => Self::Fields(FieldErrors::of("contact_id", FieldRule::NotAsked)),
        }
    }
}
