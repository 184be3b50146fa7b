//! `GET /v1/events`: a stream of server-sent events, for as long as the client is connected.
//!
//! A request selects events (`event_filter`). Each event is rendered once for all clients with the same selection
//! (`subscription_renderer`, `view`). The id of an event is the position of its reader (`position`): a client that
//! reconnects with an id first gets the events that it has missed (`missed_events`). The stream itself is in `stream`.

mod event_filter;
mod missed_events;
pub(in crate::http) mod openapi;
mod position;
mod results;
mod stream;
mod subscription_renderer;
mod view;

use std::sync::Arc;

pub(super) use crate::http::v1::events::event_filter::ONE_OF;

use crate::events::SubscriptionRefusal;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::event_stream::EventStream;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::reply::ApiReply;
use crate::http::v1::events::event_filter::EventFilter;
use crate::http::v1::events::missed_events::MissedEvents;
use crate::http::v1::events::position::EventIdCodec;
use crate::http::v1::events::subscription_renderer::SubscriptionRenderer;
use crate::http::v1::state::AppState;

/// Seconds after which a refused client should try again.
const RETRY_SECONDS: u64 = 10;

pub(super) async fn stream_events(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, headers, .. } = call;
    let wanted = EventFilter::read(&query, &caller)?;
    let positions =
        EventIdCodec { sealer: state.compiler.sealer.clone(), organisation: caller.organisation.id };
    let last = positions.last_event(&headers)?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let in_language = languages.headers();
    let missed = last.map(|last| MissedEvents::since(last, &state, &wanted, caller.visibility()));
    let key = wanted.key(caller.visibility(), languages.chosen());
    let token = caller.token.clone();
    let hub = Arc::clone(&state.events);
    let words = positions.clone();
    let renderer = || SubscriptionRenderer { state, caller, languages, wanted, positions: words };
    let subscriber = hub.subscribe_token(&token, key, || Box::new(renderer())).await.map_err(refused)?;
    let events = stream::events(subscriber, positions, missed);
    let mut reply = ApiReply::events(EventStream::new(events));
    reply.headers.extend(in_language);
    Ok(reply)
}

const fn refused(reason: SubscriptionRefusal) -> ApiError {
    match reason {
        SubscriptionRefusal::Organisation => ApiError::TooManyStreams(RETRY_SECONDS),
        SubscriptionRefusal::Process => ApiError::Unavailable,
    }
}
