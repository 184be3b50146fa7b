//! Where an export gets the parts of a page from.

use bytes::Bytes;

/// A source of the parts of one page.
pub trait PartSource {
    /// Requests a part. `target` is its path, with the query if there is one.
    ///
    /// # Errors
    /// When there is no answer; the message is one line.
    fn part(&self, target: &str) -> impl Future<Output = Result<ServedPart, String>>;
}

/// An answer with a part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedPart {
    /// Status code.
    pub status: u16,
    /// Media type, with its parameters.
    pub content_type: String,
    /// Content security policy.
    pub policy: String,
    /// The content.
    pub body: Bytes,
}
