//! The unit of copying: a table, or the part of a table in one segment.

use super::page::RowQuery;
use super::tables::TableLayout;
use crate::store::history::segments::SegmentId;

/// The part of an installation to which a table belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallationPart {
    /// The main database.
    Main,
    /// The history database.
    History,
    /// A segment of the history: a file in the source, a pair of table partitions in the target.
    Segment(SegmentId),
}

/// A table, or the part of it in one segment.
#[derive(Clone, Debug)]
pub struct PromotionUnit {
    /// The database or segment to which the table belongs.
    pub part: InstallationPart,
    /// Layout of the table.
    pub table: TableLayout,
    /// SQL condition for the rows to copy; `None` = all rows.
    pub(super) filter: Option<String>,
    /// Name of the table in the target, quoted where needed.
    pub(super) target: String,
}

impl PromotionUnit {
    pub(super) fn whole(part: InstallationPart, table: TableLayout) -> Self {
        let target = format!("\"{}\"", table.name);
        Self { part, table, filter: None, target }
    }

    /// The part of a table in one segment. Rows of batches above `sealed_batch` are left out: they were never published.
    pub(super) fn of_segment(id: SegmentId, table: TableLayout, sealed_batch: i64) -> Self {
        let (filter, target) = (format!("batch <= {sealed_batch}"), format!("{}_{id}", table.name));
        Self { part: InstallationPart::Segment(id), table, filter: Some(filter), target }
    }

    /// The name of the unit in stored progress and in errors.
    #[must_use]
    pub fn name(&self) -> String {
        match self.part {
            InstallationPart::Segment(id) => format!("{}_{id}", self.table.name),
            _ => self.table.name.to_owned(),
        }
    }

    /// The query for the rows of the unit in the embedded installation.
    pub(super) fn source_rows(&self) -> RowQuery<'_> {
        RowQuery { from: self.table.name, table: &self.table, filter: self.filter.as_deref() }
    }

    /// The query for all rows of the unit in the target, without a condition, so that additional rows are detected.
    pub(super) fn target_rows(&self) -> RowQuery<'_> {
        RowQuery { from: &self.target, table: &self.table, filter: None }
    }
}
