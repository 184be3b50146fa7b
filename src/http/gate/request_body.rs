//! The body of a request, which is read once and kept for a write that must be run again.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::HeaderMap;
use actix_web::web::Bytes;
use futures_util::future::ready;
use futures_util::stream::{self, Stream};
use serde_json::{Map, Value};

use crate::http::kit::body::{BodyLimits, check_content_type, parse_object, read_bytes};
use crate::http::kit::error::ApiError;

/// The body of a request. Once read as a whole it is kept, so that a write can be run again.
#[derive(Clone)]
pub struct RequestBody {
    source: Rc<RefCell<BodySource>>,
    limits: BodyLimits,
}

enum BodySource {
    Stream(Payload),
    Bytes(Bytes),
    /// The body exceeds the limit, and was dropped.
    TooLarge,
    /// The body was consumed by a reader that does not keep it, or reading failed.
    Gone,
}

/// Stand-in for a body beyond the limit when requests are compared; it is not valid JSON.
const TOO_LARGE: &[u8] = b"\0";

impl RequestBody {
    /// Creates a body that must be read within `limits`.
    #[must_use]
    pub fn new(payload: Payload, limits: BodyLimits) -> Self {
        Self { source: Rc::new(RefCell::new(BodySource::Stream(payload))), limits }
    }

    /// Creates a body of bytes that are known already.
    #[must_use]
    pub fn of_bytes(bytes: Bytes, limits: BodyLimits) -> Self {
        Self { source: Rc::new(RefCell::new(BodySource::Bytes(bytes))), limits }
    }

    /// Creates an empty body.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Payload::None, BodyLimits { bytes: 0, timeout: Duration::ZERO })
    }

    /// Parses the body as a JSON object.
    ///
    /// # Errors
    /// 400 for another content type or anything but a JSON object; else as [`read_bytes`].
    pub async fn read_object(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        Ok(parse_object(&self.read_bytes(headers).await?)?)
    }

    /// Parses the body as a JSON object; an empty body counts as an empty object.
    ///
    /// # Errors
    /// As [`RequestBody::read_object`].
    pub async fn read_object_if_sent(self, headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
        check_content_type(headers)?;
        let bytes = self.read_bytes(headers).await?;
        if bytes.is_empty() { Ok(Map::new()) } else { Ok(parse_object(&bytes)?) }
    }

    /// Returns the unread payload, for a reader that has its own limits and does not keep the body.
    #[must_use]
    pub fn into_payload(self) -> Payload {
        match self.source.replace(BodySource::Gone) {
            BodySource::Stream(payload) => payload,
            BodySource::Bytes(bytes) => {
                let whole: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> =
                    Box::pin(stream::once(ready(Ok(bytes))));
                whole.into()
            }
            BodySource::TooLarge | BodySource::Gone => Payload::None,
        }
    }

    /// Returns true unless the body was read and not kept.
    pub(super) fn can_be_read(&self) -> bool {
        !matches!(*self.source.borrow(), BodySource::Gone)
    }

    /// Reads the body and keeps it for the next reader. A body beyond the limit is not refused here, but when its content is
    /// needed: that is a later check (step 9 of contract 1.8), and actions need no content.
    ///
    /// # Errors
    /// As [`read_bytes`], except that a body beyond the limit is no error.
    pub async fn buffer(&mut self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        match self.read_bytes(headers).await {
            Err(ApiError::BodyTooLarge) => Ok(Bytes::from_static(TOO_LARGE)),
            read => read,
        }
    }

    /// Returns the names of the members of a body that was read as a JSON object; none of any other body.
    #[must_use]
    pub fn members(&self) -> Vec<String> {
        match &*self.source.borrow() {
            BodySource::Bytes(bytes) => parse_object(bytes)
                .map(|members| members.into_iter().map(|(name, _)| name).collect())
                .unwrap_or_default(),
            BodySource::Stream(_) | BodySource::TooLarge | BodySource::Gone => Vec::new(),
        }
    }

    async fn read_bytes(&self, headers: &HeaderMap) -> Result<Bytes, ApiError> {
        let read = match self.source.replace(BodySource::Gone) {
            BodySource::Stream(payload) => read_bytes(headers, payload, self.limits).await,
            BodySource::Bytes(bytes) => Ok(bytes),
            BodySource::TooLarge => Err(ApiError::BodyTooLarge),
            BodySource::Gone => return Err(ApiError::Internal(anyhow::anyhow!("a body was read twice"))),
        };
        match &read {
            Ok(bytes) => *self.source.borrow_mut() = BodySource::Bytes(bytes.clone()),
            Err(ApiError::BodyTooLarge) => *self.source.borrow_mut() = BodySource::TooLarge,
            Err(_) => {}
        }
        read
    }
}
