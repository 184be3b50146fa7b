//! Moving a page: one transaction that writes the rows by `COPY`, and stores the progress.

use futures_util::TryStreamExt as _;
use sea_orm::sqlx::postgres::{PgConnection, PgCopyIn};
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _};

use super::cell::{Cells as _, Unfit};
use super::error::{BadCell, PromotionError};
use super::half::{Half, Progress};
use super::page::{Page, list, quoted};
use super::source::Embedded;
use super::tables::Table;
use super::unit::Unit;
use crate::store::binary_rows::{HEADER, TRAILER};

/// Bytes that are collected before they are sent.
const SEND_BYTES: usize = 256 * 1024;

/// Rows on their way to the server.
struct Copy<'c> {
    sent: PgCopyIn<&'c mut PgConnection>,
    waiting: Vec<u8>,
}

/// An error on the way, before it is known which row caused it.
enum Failure {
    Source(sqlx::Error),
    Target(sqlx::Error),
    Cell(BadCell),
}

/// Moves the rows of a page; returns the progress that was committed with them.
///
/// # Errors
/// When a side fails, a row is unfit, or the target is finished; then nothing of the page is there.
pub(super) async fn copy_page(
    source: &mut Embedded,
    half: &mut Half,
    (unit, page): (&Unit, &Page),
    before: &Progress,
) -> Result<Progress, PromotionError> {
    // A key that was used once is never used again, also when its row is deleted.
    let is_last = page.upto.is_none();
    let drawn = if is_last && unit.table.has_drawn_key { source.last_drawn(unit).await? } else { None };
    let rows = unit.source_rows().sqlite(page).fetch(source.connection(unit).await?);
    if page.after.is_none() && half.promoted().await?.is_some() {
        let why = format!("{} holds an installation whose promotion has ended", half.shown);
        return Err(PromotionError::refused(why));
    }
    let progress_text = half.progress_text();
    let moving = async {
        let mut transaction = half.connection.begin().await.map_err(Failure::Target)?;
        if page.after.is_none() {
            // Rows that the migrations inserted come from the source as well.
            let clear = format!("DELETE FROM {}", unit.target);
            sqlx::raw_sql(AssertSqlSafe(clear)).execute(&mut *transaction).await.map_err(Failure::Target)?;
        }
        let mut copy = Copy::begin(&mut transaction, unit).await.map_err(Failure::Target)?;
        let mut rows = rows;
        while let Some(row) = rows.try_next().await.map_err(Failure::Source)? {
            copy.push(&row, &unit.table).map_err(Failure::Cell)?;
            copy.send_if_full().await.map_err(Failure::Target)?;
        }
        let moved = copy.finish().await.map_err(Failure::Target)?;
        let after = Progress { position: page.upto.clone(), rows: before.rows + moved, is_done: is_last };
        sqlx::query(AssertSqlSafe(progress_text))
            .bind(unit.name())
            .bind(after.position.as_ref().map(super::page::Position::to_json))
            .bind(i64::try_from(after.rows).unwrap_or(i64::MAX))
            .bind(after.is_done)
            .execute(&mut *transaction)
            .await
            .map_err(Failure::Target)?;
        if let Some(drawn) = drawn.filter(|drawn| *drawn > 0) {
            let key = unit.table.key_columns().next().map_or("", |column| column.name);
            let text = "SELECT setval(pg_get_serial_sequence($1, $2), $3)";
            let set = sqlx::query(text).bind(&unit.target).bind(key).bind(drawn);
            set.execute(&mut *transaction).await.map_err(Failure::Target)?;
        }
        transaction.commit().await.map_err(Failure::Target)?;
        Ok(after)
    };
    let moved = moving.await;
    moved.map_err(|failure| match failure {
        Failure::Source(error) => PromotionError::Source(error),
        Failure::Target(error) => half.failed(error),
        Failure::Cell(bad) => bad.in_page(unit, page),
    })
}

impl<'c> Copy<'c> {
    async fn begin(connection: &'c mut PgConnection, unit: &Unit) -> Result<Self, sqlx::Error> {
        let columns = list(unit.table.columns.iter(), quoted);
        let text = format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", unit.target);
        Ok(Self { sent: connection.copy_in_raw(&text).await?, waiting: HEADER.to_vec() })
    }

    fn push(&mut self, row: &SqliteRow, table: &Table) -> Result<(), BadCell> {
        let width = i16::try_from(table.columns.len()).unwrap_or(i16::MAX);
        self.waiting.extend(width.to_be_bytes());
        for (place, column) in table.columns.iter().enumerate() {
            let cell = row.cell(place, column.kind);
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
    pub(super) fn in_page(self, unit: &Unit, page: &Page) -> PromotionError {
        let problem = match self.unfit {
            Unfit::Unreadable(error) => format!("cannot be read: {error}"),
            Unfit::NotAllowed(problem) => problem,
        };
        PromotionError::Unfit { table: unit.name(), rows: page.to_string(), column: self.column, problem }
    }
}
