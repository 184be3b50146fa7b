//! Requests that cannot be parsed (400), with the message for the client.
//!
//! Errors in requests that can be parsed are reported by field (`rule`).

/// The part of a request that cannot be parsed (400).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// The body is not JSON, not UTF-8, or nested too deeply.
    #[error("The request body is not valid JSON.")]
    Json,
    /// The body is JSON, but not an object.
    #[error("The request body must be a JSON object.")]
    NoObject,
    /// The request has a content type other than JSON, or a content encoding.
    #[error("Send the request body as application/json.")]
    ContentType,
    /// The request has a content type other than a form with a file.
    #[error("Send the file as multipart/form-data.")]
    FileContentType,
    /// The request has no host, more than one, or an invalid one.
    #[error("The request must name one valid host, in its Host header or its target.")]
    Host,
    /// `Last-Event-ID` is not an event id of this organisation.
    #[error("The Last-Event-ID header is not the id of an event.")]
    LastEventId,
    /// `Idempotency-Key` is invalid.
    #[error("The Idempotency-Key header must have 1 to 255 visible ASCII characters.")]
    IdempotencyKey,
}
