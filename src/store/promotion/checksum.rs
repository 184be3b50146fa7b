//! Comparing both sides: a checksum of every row of a page, in the order of the key, made by the same code for each.
//!
//! Rows are read as a stream, so memory does not grow with the table.

use futures_util::{Stream, TryStreamExt as _};
use sea_orm::sqlx;
use sha2::{Digest as _, Sha256};

use super::cell::Cells;
use super::error::{BadCell, PromotionError};
use super::half::Half;
use super::page::Page;
use super::source::{Embedded, hex};
use super::tables::Table;
use super::unit::Unit;

/// The rows of a page, with their count and checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageSum {
    pub(super) rows: u64,
    pub(super) sum: [u8; 32],
}

enum Failure {
    Driver(sqlx::Error),
    Cell(BadCell),
}

/// Compares a page; returns the sum, which is the same on both sides.
///
/// # Errors
/// When they differ, or a side fails.
pub(super) async fn compare_page(
    source: &mut Embedded,
    half: &mut Half,
    (unit, page): (&Unit, &Page),
) -> Result<PageSum, PromotionError> {
    let here = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    let there = unit.target_rows().postgres(page).fetch(&mut half.connection);
    let (here, there) = tokio::join!(sum(here, &unit.table), sum(there, &unit.table));
    let here = here.map_err(|failure| match failure {
        Failure::Driver(error) => PromotionError::Source(error),
        Failure::Cell(bad) => bad.in_page(unit, page),
    })?;
    let there = there.map_err(|failure| match failure {
        Failure::Driver(error) => half.failed(error),
        Failure::Cell(bad) => bad.in_page(unit, page),
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

/// Reads a page of the embedded installation alone, and checks that PostgreSQL takes its rows.
///
/// # Errors
/// When a row is unfit or cannot be read.
pub(super) async fn read_page(
    source: &mut Embedded,
    (unit, page): (&Unit, &Page),
) -> Result<PageSum, PromotionError> {
    let rows = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    sum(rows, &unit.table).await.map_err(|failure| match failure {
        Failure::Driver(error) => PromotionError::Source(error),
        Failure::Cell(bad) => bad.in_page(unit, page),
    })
}

async fn sum<R: Cells>(
    rows: impl Stream<Item = Result<R, sqlx::Error>>,
    table: &Table,
) -> Result<PageSum, Failure> {
    let mut rows = std::pin::pin!(rows);
    let (mut sum, mut count) = (Sha256::new(), 0);
    while let Some(row) = rows.try_next().await.map_err(Failure::Driver)? {
        count += 1;
        for (place, column) in table.columns.iter().enumerate() {
            let cell = row.cell(place, column.kind);
            let cell = cell.map_err(|unfit| Failure::Cell(BadCell { column: column.name, unfit }))?;
            cell.digest(&mut sum);
        }
    }
    Ok(PageSum { rows: count, sum: sum.finalize().into() })
}
