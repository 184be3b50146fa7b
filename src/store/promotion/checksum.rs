//! Compares source and target: the same code computes a checksum over all rows of a page on both sides, in key order.
//!
//! Rows are read as a stream, so the memory needed does not grow with the table.

use futures_util::{Stream, TryStreamExt as _};
use sea_orm::sqlx;
use sha2::{Digest as _, Sha256};

use super::cell::CellRow;
use super::error::{BadCell, PromotionError};
use super::page::TablePage;
use super::source::{EmbeddedInstallation, hex};
use super::tables::TableLayout;
use super::target_database::TargetDatabase;
use super::unit::PromotionUnit;

/// Number of rows in a page, and the SHA-256 over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageChecksum {
    pub(super) rows: u64,
    pub(super) sum: [u8; 32],
}

enum ChecksumFailure {
    Driver(sqlx::Error),
    Cell(BadCell),
}

/// Compares a page on both sides; returns its checksum, which is the same on both.
///
/// # Errors
///
/// When the two sides differ, or one of them fails.
pub(super) async fn compare_page(
    source: &mut EmbeddedInstallation,
    half: &mut TargetDatabase,
    unit: &PromotionUnit,
    page: &TablePage,
) -> Result<PageChecksum, PromotionError> {
    let here = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    let there = unit.target_rows().postgres(page).fetch(&mut half.connection);
    let (here, there) = tokio::join!(sum(here, &unit.table), sum(there, &unit.table));
    let here = here.map_err(|failure| match failure {
        ChecksumFailure::Driver(error) => PromotionError::Source(error),
        ChecksumFailure::Cell(bad) => bad.in_page(unit, page),
    })?;
    let there = there.map_err(|failure| match failure {
        ChecksumFailure::Driver(error) => half.failed(error),
        ChecksumFailure::Cell(bad) => bad.in_page(unit, page),
    })?;
    if here == there {
        return Ok(here);
    }
    Err(PromotionError::Differs {
        table: unit.name(),
        rows: page.to_string(),
        here: here.rows,
        there: there.rows,
        source_sum: hex(&here.sum[..8]),
        target_sum: hex(&there.sum[..8]),
    })
}

/// Computes the checksum of a page in the embedded installation alone, and checks that PostgreSQL accepts its rows.
///
/// # Errors
///
/// When PostgreSQL would not accept a row, or a row cannot be read.
pub(super) async fn read_page(
    source: &mut EmbeddedInstallation,
    unit: &PromotionUnit,
    page: &TablePage,
) -> Result<PageChecksum, PromotionError> {
    let rows = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    sum(rows, &unit.table).await.map_err(|failure| match failure {
        ChecksumFailure::Driver(error) => PromotionError::Source(error),
        ChecksumFailure::Cell(bad) => bad.in_page(unit, page),
    })
}

async fn sum<R: CellRow>(
    rows: impl Stream<Item = Result<R, sqlx::Error>>,
    table: &TableLayout,
) -> Result<PageChecksum, ChecksumFailure> {
    let mut rows = std::pin::pin!(rows);
    let (mut sum, mut count) = (Sha256::new(), 0);
    while let Some(row) = rows.try_next().await.map_err(ChecksumFailure::Driver)? {
        count += 1;
        for (index, column) in table.columns.iter().enumerate() {
            let cell = row.cell(index, column.kind);
            let cell = cell.map_err(|unfit| ChecksumFailure::Cell(BadCell { column: column.name, unfit }))?;
            cell.digest(&mut sum);
        }
    }
    Ok(PageChecksum { rows: count, sum: sum.finalize().into() })
}
