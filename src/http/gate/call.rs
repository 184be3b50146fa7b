//! A request that has passed the gate: what a handler gets to see.
//!
//! It is authenticated and permitted as far as route and query can tell. What the body asks for beyond that is the
//! handler's to check.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::HeaderMap;
use actix_web::web::Bytes;
use futures_util::future::ready;
use futures_util::stream::{self, Stream};
use serde_json::{Map, Value};

use crate::http::gate::auth::Caller;
use crate::http::gate::write::Effect;
use crate::http::kit::body::{BodyLimits, check_content_type, parse_object, read_bytes};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::known_input::{KnownBody, KnownInput};
use crate::http::kit::path::PathValues;
use crate::http::kit::query::Query;

/// One request of one caller. A clone is the same request again, for a write that must be made once more.
pub struct Call<S> {
    /// The application behind the API.
    pub state: Arc<S>,
    /// The caller who asks.
    pub caller: Caller,
    /// The values in the path.
    pub path: PathValues,
    /// The path as links show it.
    pub canonical_path: String,
    /// The query string.
    pub query: Query,
    /// The headers of the request.
    pub headers: HeaderMap,
    /// The id under which it is logged.
    pub request_id: String,
    /// The body, unread.
    pub body: RequestBody,
    /// What the operation knows of its requests, when this one is to be handled strictly.
    pub known_input: Option<Arc<KnownInput>>,
    /// The key to what it may change.
    pub effect: Effect,
}

impl<S> Clone for Call<S> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            caller: self.caller.clone(),
            path: self.path.clone(),
            canonical_path: self.canonical_path.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            request_id: self.request_id.clone(),
            body: self.body.clone(),
            known_input: self.known_input.clone(),
            effect: self.effect.clone(),
        }
    }
}

impl<S> Call<S> {
    /// The query parameters that a strict request must not have.
    pub(super) fn unknown_parameters(&self) -> FieldErrors {
        self.known_input.as_ref().map(|known| known.unknown_parameters(&self.query)).unwrap_or_default()
    }

    /// The query parameters and members of the body that a strict request must not have. The body is kept for its reader, who
    /// also refuses what is no JSON object.
    ///
    /// # Errors
    /// As [`RequestBody::buffer`].
    pub(super) async fn unknown_input(&mut self) -> Result<FieldErrors, ApiError> {
        let mut unknown = self.unknown_parameters();
        let Some(known) = self.known_input.as_ref().filter(|known| known.body != KnownBody::Other) else {
            return Ok(unknown);
        };
        let bytes = self.body.buffer(&self.headers).await?;
        if let Ok(members) = parse_object(&bytes) {
            unknown.extend(known.unknown_members(&members));
        }
        Ok(unknown)
    }
}

/// The body of a request. What was read of it as a whole is kept, so that a write can be made again.
#[derive(Clone)]
pub struct RequestBody {
    source: Rc<RefCell<Source>>,
    limits: BodyLimits,
}

/// The source of the bytes.
enum Source {
    /// On their way.
    Stream(Payload),
    /// Here.
    Bytes(Bytes),
    /// More than the limit, and dropped.
    TooLarge,
    /// Taken by a reader who has kept nothing, or failed.
    Gone,
}

/// The stand-in for a body beyond the limit when requests are compared; no JSON is this.
const TOO_LARGE: &[u8] = b"\0";

impl RequestBody {
    /// A body that is read within `limits`.
    #[must_use]
    pub fn new(payload: Payload, limits: BodyLimits) -> Self {
        Self { source: Rc::new(RefCell::new(Source::Stream(payload))), limits }
    }

    /// No body.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Payload::None, BodyLimits { bytes: 0, timeout: Duration::ZERO })
    }

    /// Reads it as a JSON object.
    ///
    /// # Errors
    /// 400 for another content type or what is no JSON object; else as [`read_bytes`].
    pub async fn read_object(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        Ok(parse_object(&self.read_bytes(headers).await?)?)
    }

    /// Reads it as a JSON object; nothing at all is an empty one.
    ///
    /// # Errors
    /// As [`RequestBody::read_object`].
    pub async fn read_object_if_sent(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        let bytes = self.read_bytes(headers).await?;
        if bytes.is_empty() { Ok(Map::new()) } else { Ok(parse_object(&bytes)?) }
    }

    /// The bytes as they arrive, for a reader with limits of its own, who keeps nothing.
    #[must_use]
    pub fn into_payload(self) -> Payload {
        match self.source.replace(Source::Gone) {
            Source::Stream(payload) => payload,
            Source::Bytes(bytes) => {
                let whole: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> =
                    Box::pin(stream::once(ready(Ok(bytes))));
                whole.into()
            }
            Source::TooLarge | Source::Gone => Payload::None,
        }
    }

    /// Returns true unless it was read and not kept.
    pub(super) fn is_there(&self) -> bool {
        !matches!(*self.source.borrow(), Source::Gone)
    }

    /// Reads it and keeps it for the next reader. One beyond the limit is refused only when somebody asks what it says:
    /// that is a later check (step 9 of contract 1.8), and actions never ask.
    ///
    /// # Errors
    /// As [`read_bytes`], but for the limit.
    pub async fn buffer(&mut self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        match self.read_bytes(headers).await {
            Err(ApiError::BodyTooLarge) => Ok(Bytes::from_static(TOO_LARGE)),
            read => read,
        }
    }

    async fn read_bytes(&self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        let read = match self.source.replace(Source::Gone) {
            Source::Stream(payload) => read_bytes(headers, payload, self.limits).await,
            Source::Bytes(bytes) => Ok(bytes),
            Source::TooLarge => Err(ApiError::BodyTooLarge),
            Source::Gone => return Err(ApiError::Internal(anyhow::anyhow!("a body was read twice"))),
        };
        match &read {
            Ok(bytes) => *self.source.borrow_mut() = Source::Bytes(bytes.clone()),
            Err(ApiError::BodyTooLarge) => *self.source.borrow_mut() = Source::TooLarge,
            Err(_) => {}
        }
        read
    }
}
