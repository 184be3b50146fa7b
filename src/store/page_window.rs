//! The part of a list that one answer has.

/// The rows of one page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWindow {
    /// Number of rows before the page.
    pub offset: u64,
    /// Rows of it, at most.
    pub limit: u64,
}
