//! The window of rows that one page of a list contains.

/// The window of rows that one page of a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWindow {
    /// Number of rows that precede the page.
    pub offset: u64,
    /// Maximum number of rows in the page.
    pub limit: u64,
}
