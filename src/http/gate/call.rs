//! A request that has passed the gate, as passed to handlers.
//!
//! The request is authenticated, and has the permissions that its route and query require. Permissions that depend on the
//! body are checked by the handler.

use std::sync::Arc;

use actix_web::http::header::HeaderMap;

use crate::http::gate::auth::Caller;
pub use crate::http::gate::request_body::RequestBody;
use crate::http::gate::write::WriteGrant;
use crate::http::kit::body::parse_object;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::known_input::{KnownBody, KnownInput};
use crate::http::kit::path::PathValues;
use crate::http::kit::query::QueryString;
use crate::http::kit::repeated_keys::repeated_keys;

/// One request of one caller. A clone is the same request, for a write that must be run again.
pub struct ApiCall<S> {
    /// State of the application.
    pub state: Arc<S>,
    /// Token, organisation and limits of the caller.
    pub caller: Caller,
    /// The values in the path.
    pub path: PathValues,
    /// Path of the resource, for links.
    pub canonical_path: String,
    /// The decoded query string.
    pub query: QueryString,
    /// The headers of the request.
    pub headers: HeaderMap,
    /// Request id for the log.
    pub request_id: String,
    /// The body, not read yet.
    pub body: RequestBody,
    /// Known parameters and members of the operation; set if this request is handled strictly.
    pub known_input: Option<Arc<KnownInput>>,
    /// The permission to write.
    pub effect: WriteGrant,
}

impl<S> Clone for ApiCall<S> {
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

impl<S> ApiCall<S> {
    /// Returns errors for query parameters that a strict request must not have.
    pub(super) fn refused_parameters(&self) -> FieldErrors {
        self.known_input.as_ref().map(|known| known.unknown_parameters(&self.query)).unwrap_or_default()
    }

    /// Returns errors for query parameters and body members that a strict request must not have. The body is kept for its
    /// reader, which also refuses anything but a JSON object.
    ///
    /// # Errors
    /// As [`RequestBody::buffer`].
    pub(super) async fn refused_input(&mut self) -> Result<FieldErrors, ApiError> {
        let mut refused = self.refused_parameters();
        let Some(known) = self.known_input.as_ref().filter(|known| known.body != KnownBody::Other) else {
            return Ok(refused);
        };
        let bytes = self.body.buffer(&self.headers).await?;
        if let Ok(members) = parse_object(&bytes) {
            refused.extend(known.unknown_members(&members));
            refused.extend(repeated_keys(&bytes));
        }
        Ok(refused)
    }
}
