//! Copies a page of rows to the target in one transaction, which also stores the progress.

use futures_util::TryStreamExt as _;
use sea_orm::sqlx::postgres::{PgConnection, PgCopyIn};
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _};

use super::cell::{CellRow as _, UnfitValue};
use super::error::{BadCell, PromotionError};
use super::page::{TablePage, list, quoted};
use super::source::EmbeddedInstallation;
use super::tables::TableLayout;
use super::target_database::{TargetDatabase, UnitProgress};
use super::unit::PromotionUnit;
use crate::store::binary_rows::{HEADER, TRAILER};

/// Number of bytes that are collected before they are sent.
const SEND_BYTES: usize = 256 * 1024;

/// A running `COPY` of rows to the server.
struct PageCopy<'c> {
    sent: PgCopyIn<&'c mut PgConnection>,
    waiting: Vec<u8>,
}

/// An error while a page is copied, without the position of the row that caused it.
enum CopyFailure {
    Source(sqlx::Error),
    Target(sqlx::Error),
    Cell(BadCell),
}

/// Copies the rows of a page; returns the progress that was committed with them.
///
/// # Errors
///
/// When a side fails, PostgreSQL would not accept a row, or the promotion to the target has already ended. In these cases
/// nothing of the page is written.
pub(super) async fn copy_page(
    source: &mut EmbeddedInstallation,
    half: &mut TargetDatabase,
    unit: &PromotionUnit,
    page: &TablePage,
    before: &UnitProgress,
) -> Result<UnitProgress, PromotionError> {
    // A key that was ever used must not be used again, even if its row was deleted.
    let is_last = page.upto.is_none();
    let drawn = if is_last && unit.table.has_drawn_key { source.last_drawn(unit).await? } else { None };
    let rows = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    if page.after.is_none() && half.promoted().await?.is_some() {
        let why = format!("{} holds an installation whose promotion has ended", half.shown);
        return Err(PromotionError::refused(why));
    }
    let progress_text = half.progress_text();
    let moving = async {
        let mut transaction = half.connection.begin().await.map_err(CopyFailure::Target)?;
        if page.after.is_none() {
            // Rows that the migrations inserted into the target are replaced by the rows of the source.
            let clear = format!("DELETE FROM {}", unit.target);
            sqlx::raw_sql(AssertSqlSafe(clear))
                .execute(&mut *transaction)
                .await
                .map_err(CopyFailure::Target)?;
        }
        let mut copy = PageCopy::begin(&mut transaction, unit).await.map_err(CopyFailure::Target)?;
        let mut rows = rows;
        while let Some(row) = rows.try_next().await.map_err(CopyFailure::Source)? {
            copy.push(&row, &unit.table).map_err(CopyFailure::Cell)?;
            copy.send_if_full().await.map_err(CopyFailure::Target)?;
        }
        let moved = copy.finish().await.map_err(CopyFailure::Target)?;
        let after = UnitProgress { position: page.upto.clone(), rows: before.rows + moved, is_done: is_last };
        sqlx::query(AssertSqlSafe(progress_text))
            .bind(unit.name())
            .bind(after.position.as_ref().map(super::page::KeyPosition::to_json))
            .bind(i64::try_from(after.rows).unwrap_or(i64::MAX))
            .bind(after.is_done)
            .execute(&mut *transaction)
            .await
            .map_err(CopyFailure::Target)?;
        if let Some(drawn) = drawn.filter(|drawn| *drawn > 0) {
            let key = unit.table.key_columns().next().map_or("", |column| column.name);
            let text = "SELECT setval(pg_get_serial_sequence($1, $2), $3)";
            let set = sqlx::query(text).bind(&unit.target).bind(key).bind(drawn);
            set.execute(&mut *transaction).await.map_err(CopyFailure::Target)?;
        }
        transaction.commit().await.map_err(CopyFailure::Target)?;
        Ok(after)
    };
    let moved = moving.await;
    moved.map_err(|failure| match failure {
        CopyFailure::Source(error) => PromotionError::Source(error),
        CopyFailure::Target(error) => half.failed(error),
        CopyFailure::Cell(bad) => bad.in_page(unit, page),
    })
}

impl<'c> PageCopy<'c> {
    async fn begin(connection: &'c mut PgConnection, unit: &PromotionUnit) -> Result<Self, sqlx::Error> {
        let columns = list(unit.table.columns.iter(), quoted);
        let text = format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", unit.target);
        Ok(Self { sent: connection.copy_in_raw(&text).await?, waiting: HEADER.to_vec() })
    }

    fn push(&mut self, row: &SqliteRow, table: &TableLayout) -> Result<(), BadCell> {
        let width = i16::try_from(table.columns.len()).unwrap_or(i16::MAX);
        self.waiting.extend(width.to_be_bytes());
        for (index, column) in table.columns.iter().enumerate() {
            let cell = row.cell(index, column.kind);
            let written = cell.and_then(|cell| cell.write(column.kind, &mut self.waiting));
            written.map_err(|unfit| BadCell { column: column.name, unfit })?;
        }
        Ok(())
    }

    async fn send_if_full(&mut self) -> Result<(), sqlx::Error> {
        if self.waiting.len() >= SEND_BYTES {
            self.sent.send(self.waiting.as_slice()).await?;
            self.waiting.clear();
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<u64, sqlx::Error> {
        self.waiting.extend(TRAILER);
        self.sent.send(self.waiting.as_slice()).await?;
        self.sent.finish().await
    }
}

impl BadCell {
    pub(super) fn in_page(self, unit: &PromotionUnit, page: &TablePage) -> PromotionError {
        let problem = match self.unfit {
            UnfitValue::Unreadable(error) => format!("cannot be read: {error}"),
            UnfitValue::NotAllowed(problem) => problem,
        };
        PromotionError::Unfit { table: unit.name(), rows: page.to_string(), column: self.column, problem }
    }
}
