//! Requests that cannot be read (400): the part that is wrong, and what a client reads about it.
//!
//! What can be read and is wrong is told by field (`rule`).

/// The part of a request that cannot be read (400).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not JSON, not UTF-8, or nested too deep.
    #[error("The request body is not valid JSON.")]
    Json,
    /// JSON, but no object.
    #[error("The request body must be a JSON object.")]
    NoObject,
    /// Another content type than JSON, or a content encoding.
    #[error("Send the request body as application/json.")]
    ContentType,
    /// Another content type than a form with a file.
    #[error("Send the file as multipart/form-data.")]
    FileContentType,
    /// No id of an event that this organisation was sent.
    #[error("The Last-Event-ID header is not the id of an event.")]
    LastEventId,
    /// The form of `Idempotency-Key`.
    #[error("The Idempotency-Key header must have 1 to 255 visible ASCII characters.")]
    IdempotencyKey,
}
