//! A request that has passed the gate: what a handler gets to see.
//!
//! It is authenticated and permitted as far as route and query can tell. What the body asks for beyond that is the
//! handler's to check.

use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use serde_json::{Map, Value};

use crate::http::auth::Caller;
use crate::http::body::{BodyLimits, read_object};
use crate::http::error::ApiError;
use crate::http::path::PathValues;
use crate::http::query::Query;
use crate::http::write::Effect;

/// One request of one caller.
pub struct Call<S> {
    /// The application behind the API.
    pub state: Arc<S>,
    /// Who asks.
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
    payload: Payload,
    limits: BodyLimits,
}

impl RequestBody {
    /// A body that is read within `limits`.
    #[must_use]
    pub const fn new(payload: Payload, limits: BodyLimits) -> Self {
        Self { payload, limits }
    }

    /// Reads it as a JSON object.
    ///
    /// # Errors
    /// As [`read_object`].
    pub async fn read_object(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        read_object(headers, self.payload, self.limits).await
    }
}
