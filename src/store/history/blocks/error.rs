//! The refusal of a body that cannot be read, and the bound that keeps a damaged one from costing memory.

/// Maximum number of checks of one block. Bounds the memory that a reader allocates for a damaged count.
pub const MAX_CHECKS: usize = 8_192;

/// A body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Written by a newer version, or not a block at all.
    #[error("unknown block version {0}")]
    Version(u8),
    /// The checksum does not fit: bytes were changed or lost.
    #[error("the block's checksum does not fit")]
    Checksum,
    /// The checksum fits, but the content makes no sense.
    #[error("the block is malformed: {0}")]
    Malformed(&'static str),
}
