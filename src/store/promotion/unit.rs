//! The unit of moving: a table, or the part of a table in one segment.

use super::page::RowQuery;
use super::tables::TableLayout;
use crate::store::history::segments::SegmentId;

/// The part of an installation that has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallationPart {
    /// The main database.
    Main,
    /// The history database.
    History,
    /// A segment of the history: a file here, a pair of partitions there.
    Segment(SegmentId),
}

/// A table, or the part of it in one segment.
#[derive(Clone, Debug)]
pub struct PromotionUnit {
    /// Database or segment that has the table.
    pub part: InstallationPart,
    /// Name and columns of the table.
    pub table: TableLayout,
    /// The rows that count.
    pub(super) filter: Option<String>,
    /// Its name in the target.
    pub(super) target: String,
}

impl PromotionUnit {
    pub(super) fn whole(part: InstallationPart, table: TableLayout) -> Self {
        let target = format!("\"{}\"", table.name);
        Self { part, table, filter: None, target }
    }

    /// Rows of later batches are leftovers of a seal that was cut off.
    pub(super) fn of_segment(id: SegmentId, table: TableLayout, sealed_batch: i64) -> Self {
        let (filter, target) = (format!("batch <= {sealed_batch}"), format!("{}_{id}", table.name));
        Self { part: InstallationPart::Segment(id), table, filter: Some(filter), target }
    }

    /// The name for stored progress and errors.
    #[must_use]
    pub fn name(&self) -> String {
        match self.part {
            InstallationPart::Segment(id) => format!("{}_{id}", self.table.name),
            _ => self.table.name.to_owned(),
        }
    }

    /// Its rows in the embedded installation.
    pub(super) fn source_rows(&self) -> RowQuery<'_> {
        RowQuery { from: self.table.name, table: &self.table, filter: self.filter.as_deref() }
    }

    /// All rows in its target, so that additional ones are detected.
    pub(super) fn target_rows(&self) -> RowQuery<'_> {
        RowQuery { from: &self.target, table: &self.table, filter: None }
    }
}
