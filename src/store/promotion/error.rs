//! Errors of a promotion, in words for the operator.

use sea_orm::sqlx;

use super::cell::UnfitValue;
use crate::store::file_trouble::FileTrouble;
use crate::store::open_error::OpenError;

/// An error of a promotion. In every case the embedded installation is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The embedded databases cannot be read.
    #[error("the embedded installation cannot be read: {}", source_text(.0))]
    Source(sqlx::Error),
    /// The target does not answer, or refuses.
    #[error("{url}: {problem}")]
    Target {
        /// Address without credentials.
        url: String,
        /// The error of the driver.
        problem: sqlx::Error,
    },
    /// The target's schema cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An obstacle that must be removed first.
    #[error("{0}")]
    Refused(String),
    /// A row has a value that PostgreSQL does not take.
    #[error("{table}, {rows}: the column {column} of a row {problem}")]
    Unfit {
        /// Name of the table.
        table: String,
        /// The page of the row.
        rows: String,
        /// Name of the column.
        column: &'static str,
        /// The problem of the value.
        problem: String,
    },
    /// Both sides differ.
    #[error(
        "{table}, {rows}: {there} rows in the target with checksum {target_sum}, {here} rows in the embedded installation with \
        checksum {source_sum}; do not use the target: empty it and promote again (the embedded installation is untouched)"
    )]
    Differs {
        /// Name of the table.
        table: String,
        /// The rows of the page that differs.
        rows: String,
        /// Rows of the page in the embedded installation.
        here: u64,
        /// Rows of the page in the target.
        there: u64,
        /// Checksum of the page in the embedded installation.
        source_sum: String,
        /// Checksum of the page in the target.
        target_sum: String,
    },
}

fn source_text(problem: &sqlx::Error) -> String {
    match FileTrouble::of_driver(problem) {
        Some(trouble) => trouble.describe(&"a file of it ('watchkeeper doctor' says which)"),
        None => problem.to_string(),
    }
}

impl PromotionError {
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}

/// An error of a row, before its position is known.
#[derive(Debug)]
pub(super) struct BadCell {
    pub(super) column: &'static str,
    pub(super) unfit: UnfitValue,
}
