//! A request that has passed the gate: what a handler gets to see.
//!
//! It is authenticated and permitted as far as route and query can tell. What the body asks for beyond that is the
//! handler's to check.

use std::pin::Pin;
use std::sync::Arc;

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
use crate::http::kit::path::PathValues;
use crate::http::kit::query::Query;

/// One request of one caller.
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
    /// The key to what it may change.
    pub effect: Effect,
}

/// The body of a request, to be read at most once.
pub struct RequestBody {
    source: Source,
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
}

/// The stand-in for a body beyond the limit when requests are compared; no JSON is this.
const TOO_LARGE: &[u8] = b"\0";

impl RequestBody {
    /// A body that is read within `limits`.
    #[must_use]
    pub const fn new(payload: Payload, limits: BodyLimits) -> Self {
        Self { source: Source::Stream(payload), limits }
    }

    /// Reads it as a JSON object.
    ///
    /// # Errors
    /// 400 for another content type or what is no JSON object; else as [`read_bytes`].
    pub async fn read_object(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        Ok(parse_object(&self.read_bytes(headers).await?)?)
    }

    /// The bytes as they arrive, for a reader with limits of its own.
    #[must_use]
    pub fn into_payload(self) -> Payload {
        match self.source {
            Source::Stream(payload) => payload,
            Source::Bytes(bytes) => {
                let whole: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> =
                    Box::pin(stream::once(ready(Ok(bytes))));
                whole.into()
            }
            Source::TooLarge => Payload::None,
        }
    }

    /// Reads it and keeps it for the next reader. One beyond the limit is refused only when somebody asks what it says:
    /// that is a later check (step 9 of contract 1.8), and actions never ask.
    ///
    /// # Errors
    /// As [`read_bytes`], but for the limit.
    pub async fn buffer(&mut self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        let unread = std::mem::replace(&mut self.source, Source::TooLarge);
        match (Self { source: unread, limits: self.limits }).read_bytes(headers).await {
            Ok(bytes) => {
                self.source = Source::Bytes(bytes.clone());
                Ok(bytes)
            }
            Err(ApiError::BodyTooLarge) => Ok(Bytes::from_static(TOO_LARGE)),
            Err(error) => Err(error),
        }
    }

    async fn read_bytes(self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        match self.source {
            Source::Stream(payload) => read_bytes(headers, payload, self.limits).await,
            Source::Bytes(bytes) => Ok(bytes),
            Source::TooLarge => Err(ApiError::BodyTooLarge),
        }
    }
}
