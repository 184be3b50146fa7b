//! Promotion: copies an embedded installation to PostgreSQL, with both SQLite databases and the segment files, row by row,
//! keeping all keys.
//!
//! - **The source is only read**, as a snapshot ([`EmbeddedInstallation`]). No server may run on it meanwhile: the
//!   promotion holds the lock of the data folder.
//! - **Tables** are copied in the order of foreign keys ([`tables`]); a test compares the lists with the schemas. Rows
//!   keep their keys, and new keys in the target are larger than every key that was ever used.
//! - **A segment file becomes a pair of table partitions.** The catalogue and the numbers of segments and batches stay the
//!   same; retired segments and batches that were never published are left out.
//! - **Pages** of bounded size are copied, one per transaction, which also stores the key up to which the table is copied.
//!   If a promotion is interrupted, the next run continues after this key. A marker in the target names the installation;
//!   while it exists, no server starts on the target.
//! - **Verification** compares counts and checksums of each page on both sides, over all rows, computed by the same code.
//!
//! Secrets stay sealed, so the target needs the same secret key. Idempotency keys and their leases, the clock mark and
//! pending erasures are copied like all other rows.
//!
//! Functions fail with [`PromotionError`] when the source cannot be read, or the target fails.

mod cell;
mod checksum;
mod copy;
mod error;
mod page;
mod source;
pub mod tables;
mod target;
mod target_database;
mod unit;

use sha2::{Digest as _, Sha256};

pub use error::PromotionError;
use page::{KeyPosition, TablePage};
pub use source::EmbeddedInstallation;
pub use target::PromotionTarget;
pub use target_database::TargetState;
pub use unit::{InstallationPart, PromotionUnit};

/// Callback for progress, called after each page with the unit and the number of rows in the page.
pub type CopyProgress<'w> = &'w mut dyn FnMut(&PromotionUnit, u64);

/// A unit with the number of its rows in the embedded installation.
#[derive(Clone, Debug)]
pub struct CountedUnit {
    /// The table, or the part of it in one segment.
    pub unit: PromotionUnit,
    /// Number of rows in the unit.
    pub rows: u64,
}

/// A table whose rows are the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedTable {
    /// Name of the table.
    pub table: &'static str,
    /// Number of rows in the table.
    pub rows: u64,
    /// SHA-256 over the checksums of the table's pages, in hexadecimal.
    pub checksum: String,
}

/// An embedded installation and its units to copy.
#[derive(Debug)]
pub struct Promotion {
    source: EmbeddedInstallation,
    counted: Vec<CountedUnit>,
    installation: String,
    state: String,
}

impl Promotion {
    /// Counts the rows of all units. Changes nothing.
    pub async fn plan(mut source: EmbeddedInstallation) -> Result<Self, PromotionError> {
        let mut counted = Vec::new();
        for unit in source.units().await? {
            let rows = source.count(&unit).await?;
            counted.push(CountedUnit { unit, rows });
        }
        let installation = source.id().await?;
        let state = source.state();
        Ok(Self { source, counted, installation, state })
    }

    /// The units to copy, with the number of their rows.
    #[must_use]
    pub fn counted(&self) -> &[CountedUnit] {
        &self.counted
    }

    /// The state of a target, from the view of this installation.
    ///
    /// # Errors
    ///
    /// When the target contains something else, or fails.
    pub async fn state_of(&self, target: &mut PromotionTarget) -> Result<TargetState, PromotionError> {
        target.state(&self.installation, &self.state).await
    }

    /// Reads all rows and checks that PostgreSQL accepts them; returns the obstacles as messages.
    pub async fn check(&mut self, report_progress: CopyProgress<'_>) -> Result<Vec<String>, PromotionError> {
        let mut problems = self.source.dangling().await?;
        for CountedUnit { unit, .. } in &self.counted {
            let mut after = None;
            loop {
                let page = next_page(&mut self.source, unit, after).await?;
                match checksum::read_page(&mut self.source, unit, &page).await {
                    Ok(sum) => report_progress(unit, sum.rows),
                    Err(error @ PromotionError::Unfit { .. }) => problems.push(error.to_string()),
                    Err(error) => return Err(error),
                }
                let Some(upto) = page.upto else { break };
                after = Some(upto);
            }
        }
        Ok(problems)
    }

    /// Copies everything that is not in the target yet.
    ///
    /// # Errors
    ///
    /// When there is an obstacle, or a side fails. Copied rows stay, and the next run continues after them.
    pub async fn copy(
        &mut self,
        target: &mut PromotionTarget,
        report_progress: CopyProgress<'_>,
    ) -> Result<(), PromotionError> {
        let dangling = self.source.dangling().await?;
        if let Some(first) = dangling.first() {
            return Err(PromotionError::refused(first.as_str()));
        }
        target.claim(&self.installation, &self.state).await?;
        let segments = self.source.segment_ids().await?;
        target.make_partitions(&segments).await?;
        for CountedUnit { unit, .. } in &self.counted {
            let half = target.half(unit.part);
            let mut progress = half.progress(unit).await?;
            report_progress(unit, progress.rows);
            while !progress.is_done {
                let page = next_page(&mut self.source, unit, progress.position.clone()).await?;
                let next = copy::copy_page(&mut self.source, half, unit, &page, &progress).await?;
                report_progress(unit, next.rows - progress.rows);
                progress = next;
            }
        }
        target.analyze(self.counted.iter().map(|counted| &counted.unit)).await
    }

    /// Compares all rows of both sides; returns one entry per table.
    ///
    /// # Errors
    ///
    /// When the sides differ (the error names table and keys), or one of them fails.
    pub async fn verify(
        &mut self,
        target: &mut PromotionTarget,
        report_progress: CopyProgress<'_>,
    ) -> Result<Vec<VerifiedTable>, PromotionError> {
        let mut sums: Vec<(VerifiedTable, Sha256)> = Vec::new();
        for CountedUnit { unit, .. } in &self.counted {
            let table = unit.table.name;
            let index = sums.iter().position(|(verified, _)| verified.table == table).unwrap_or(sums.len());
            if index == sums.len() {
                sums.push((VerifiedTable { table, rows: 0, checksum: String::new() }, Sha256::new()));
            }
            let (verified, table_sum) = &mut sums[index];
            let half = target.half(unit.part);
            let mut after = None;
            loop {
                let page = next_page(&mut self.source, unit, after).await?;
                let compared = checksum::compare_page(&mut self.source, half, unit, &page).await?;
                report_progress(unit, compared.rows);
                verified.rows += compared.rows;
                table_sum.update(compared.sum);
                let Some(upto) = page.upto else { break };
                after = Some(upto);
            }
        }
        let sums = sums
            .into_iter()
            .map(|(verified, sum)| VerifiedTable { checksum: source::hex(&sum.finalize()), ..verified });
        Ok(sums.collect())
    }

    /// Ends the promotion, so that a server can use the target.
    ///
    /// # Errors
    ///
    /// When the source was written to since it was opened, or the target fails.
    pub async fn finish(&mut self, target: &mut PromotionTarget) -> Result<(), PromotionError> {
        self.source.require_unchanged().await?;
        target.finish(&self.installation, &self.state).await?;
        // Checked again, because a command may have written to the source since the first check.
        self.source.require_unchanged().await
    }

    /// Removes leftovers in the history of a promotion that was interrupted just before its end.
    pub async fn tidy_up(&self, target: &mut PromotionTarget) -> Result<(), PromotionError> {
        target.finish_history(&self.installation, &self.state).await
    }

    /// Closes the connections to the embedded installation.
    pub async fn close(self) {
        self.source.close().await;
    }
}

/// The next page of a unit, after this key.
async fn next_page(
    source: &mut EmbeddedInstallation,
    unit: &PromotionUnit,
    after: Option<KeyPosition>,
) -> Result<TablePage, PromotionError> {
    let Some(rows) = unit.table.page_rows else { return Ok(TablePage { after, upto: None }) };
    let query = unit.source_rows().page_end(after.as_ref(), rows);
    let end = query.fetch_optional(source.connection(unit).await?).await.map_err(PromotionError::Source)?;
    let end = end.map(|row| KeyPosition::of_key(&unit.table, &row)).transpose();
    let upto = end.map_err(|unfit| {
        let page = TablePage { after: after.clone(), upto: None };
        error::BadCell { column: "of the key", unfit }.in_page(unit, &page)
    })?;
    Ok(TablePage { after, upto })
}
