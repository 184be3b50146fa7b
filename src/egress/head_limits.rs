//! The limits for the head of a response.

/// Maximum size of the head of a response in bytes. Browsers have about the same limit.
pub(crate) const HEAD_MAX_BYTES: usize = 256 * 1024;
/// Maximum number of lines of the head of a response: [`HEAD_MAX_BYTES`] of the shortest lines would cost too much memory.
pub(crate) const HEAD_MAX_LINES: usize = 4_096;
