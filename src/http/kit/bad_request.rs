//! Requests that cannot be parsed (400), with the client's message.
//!
//! Errors in parsed requests are reported by field (`rule`).

/// The part of a request that cannot be parsed (400).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// Not JSON, not UTF-8, or nested too deeply.
    #[error("The request body is not valid JSON.")]
    Json,
    /// JSON, but not an object.
    #[error("The request body must be a JSON object.")]
    NoObject,
    /// A content type other than JSON, or a content encoding.
    #[error("Send the request body as application/json.")]
    ContentType,
    /// A content type other than a form with a file.
    #[error("Send the file as multipart/form-data.")]
    FileContentType,
    /// No host, more than one, or one of a wrong form.
    #[error("The request must name one valid host, in its Host header or its target.")]
    Host,
    /// Not an event id of this organisation.
    #[error("The Last-Event-ID header is not the id of an event.")]
    LastEventId,
    /// An invalid `Idempotency-Key`.
    #[error("The Idempotency-Key header must have 1 to 255 visible ASCII characters.")]
    IdempotencyKey,
}
