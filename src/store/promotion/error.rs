//! Errors of a promotion, with messages for the operator.

use sea_orm::sqlx;

use super::cell::UnfitValue;
use crate::store::file_trouble::FileTrouble;
use crate::store::open_error::OpenError;

/// An error of a promotion. Whatever the error, the embedded installation is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The embedded databases cannot be read.
    #[error("the embedded installation cannot be read: {}", source_text(.0))]
    Source(sqlx::Error),
    /// The target does not answer, or refuses a statement.
    #[error("{url}: {problem}")]
    Target {
        /// Address without credentials.
        url: String,
        /// The error of the driver.
        problem: sqlx::Error,
    },
    /// The schema of the target cannot be created.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An obstacle that the operator must remove first.
    #[error("{0}")]
    Refused(String),
    /// A row contains a value that PostgreSQL would not accept.
    #[error("{table}, {rows}: the column {column} of a row {problem}")]
    Unfit {
        /// Name of the table.
        table: String,
        /// Key range of the page with the row.
        rows: String,
        /// Name of the column.
        column: &'static str,
        /// Problem of the value, as the end of a sentence.
        problem: String,
    },
    /// The rows of a page differ between both sides.
    #[error(
        "{table}, {rows}: {there} rows in the target with checksum {target_sum}, {here} rows in the embedded installation with \
        checksum {source_sum}; do not use the target: empty it and promote again (the embedded installation is untouched)"
    )]
    Differs {
        /// Name of the table.
        table: String,
        /// Key range of the page.
        rows: String,
        /// Number of rows of the page in the embedded installation.
        here: u64,
        /// Number of rows of the page in the target.
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

/// A value that cannot be promoted, without the position of its row.
#[derive(Debug)]
pub(super) struct BadCell {
    pub(super) column: &'static str,
    pub(super) unfit: UnfitValue,
}
