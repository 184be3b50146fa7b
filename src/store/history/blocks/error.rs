//! Errors of reading a body, and the bound on the memory that a damaged body can cost.

/// Maximum number of checks in a block. Bounds the memory that a reader allocates for a damaged count.
pub const MAX_CHECKS: usize = 8_192;

/// The reason why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The body was written by a newer version of the program, or is not a block.
    #[error("unknown block version {0}")]
    Version(u8),
    /// The checksum does not match: bytes were changed or lost.
    #[error("the block's checksum does not fit")]
    Checksum,
    /// The checksum matches, but the content is inconsistent.
    #[error("the block is malformed: {0}")]
    Malformed(&'static str),
}
