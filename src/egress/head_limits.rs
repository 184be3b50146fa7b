//! How large the head of a response may be.

/// Most bytes of the head of a response. Browsers allow about as many.
pub(crate) const HEAD_MAX_BYTES: usize = 256 * 1024;
/// Most lines of the head of a response: room for the shortest ones within the bytes would cost too much memory.
pub(crate) const HEAD_MAX_LINES: usize = 4_096;
