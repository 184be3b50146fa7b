//! Segments: the units in which sealed results are kept and dropped.
//!
//! A segment holds the checks of some span of time whose services keep their history equally long. The catalogue of
//! segments is in the history database; their contents are beside it ([`storage`]): a file each on SQLite, a pair of
//! partitions each on PostgreSQL. A row of a segment counts only once the catalogue lists its batch as sealed, so
//! that one commit of the history database moves results from rows into blocks.

pub mod folder_lock;
pub mod storage;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::history_segment::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
pub use crate::model::segment::{RetentionClass, SegmentLevel, SegmentScope};
use crate::store::error::HistoryError;

/// Number of a segment, from the catalogue.
pub type SegmentId = i32;

/// A segment of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment.
    pub id: SegmentId,
    /// The purpose of the segment.
    pub purpose: SegmentScope,
    /// Rows of this and earlier batches count.
    pub sealed_batch: i64,
    /// The time of retirement, from which on it has no new readers.
    pub retired_at: Option<Timestamp>,
}

/// The segments that count, those of the newest time first. A new one without a published batch is not among them: it
/// may not even have its tables.
pub async fn visible(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let mut segments = entered(connection).await?;
    segments.retain(|segment| segment.sealed_batch > 0);
    Ok(segments)
}

/// The segments that may be written to, including those without a published batch, those of the newest time first.
pub async fn entered(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let query = Entity::find().filter(Column::RetiredAt.is_null());
    let rows = query.order_by_desc(Column::ToAt).order_by_desc(Column::Id).all(&connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// A segment as it is now; `None` when it does not count, or not any more.
pub async fn visible_one(
    connection: &dyn StoreConnection,
    id: SegmentId,
) -> Result<Option<Segment>, HistoryError> {
    let row = Entity::find_by_id(id).filter(Column::RetiredAt.is_null()).one(&connection).await?;
    let segment = row.map(Segment::try_from).transpose()?;
    Ok(segment.filter(|segment| segment.sealed_batch > 0))
}

/// The segments that do not count any more and were not dropped yet.
pub async fn retired(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let rows = Entity::find().filter(Column::RetiredAt.is_not_null()).all(&connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// Enters a new segment; nothing in it counts yet.
pub async fn enter(connection: &dyn StoreConnection, purpose: SegmentScope) -> Result<Segment, HistoryError> {
    let row = ActiveModel {
        level: Set(purpose.level as i16),
        retention_days: Set(i32::try_from(purpose.retention.days()).unwrap_or(i32::MAX)),
        from_at: Set(purpose.from.ms()),
        to_at: Set(purpose.to.ms()),
        sealed_batch: Set(0),
        retired_at: Set(None),
        ..ActiveModel::default()
    };
    let id = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Segment { id, purpose, sealed_batch: 0, retired_at: None })
}

/// From this commit on the rows of `batch` count.
///
/// # Errors
///
/// Also when `batch` is not the one after the last published batch.
pub async fn publish(
    connection: &dyn StoreConnection,
    id: SegmentId,
    batch: i64,
) -> Result<(), HistoryError> {
    let change = Entity::update_many().col_expr(Column::SealedBatch, Expr::value(batch));
    let change = change.filter(Column::Id.eq(id)).filter(Column::SealedBatch.eq(batch - 1));
    match change.exec(&connection).await?.rows_affected {
        1 => Ok(()),
        _ => Err(HistoryError::Overtaken(format!("batch {batch} of segment {id} is not the next one"))),
    }
}

/// From this commit on the segment does not count any more.
///
/// # Errors
///
/// Also when the segment is not as it was read: it has a later batch, or is already retired.
pub async fn retire(
    connection: &dyn StoreConnection,
    segment: &Segment,
    now: Timestamp,
) -> Result<(), HistoryError> {
    let change = Entity::update_many().col_expr(Column::RetiredAt, Expr::value(now.ms()));
    let change = change.filter(Column::Id.eq(segment.id)).filter(Column::RetiredAt.is_null());
    let change = change.filter(Column::SealedBatch.eq(segment.sealed_batch));
    match change.exec(&connection).await?.rows_affected {
        1 => Ok(()),
        _ => Err(HistoryError::Overtaken(format!("segment {} was written to meanwhile", segment.id))),
    }
}

/// Removes a dropped segment from the catalogue.
pub async fn forget(connection: &dyn StoreConnection, id: SegmentId) -> Result<(), HistoryError> {
    Entity::delete_by_id(id).exec(&connection).await?;
    Ok(())
}

impl TryFrom<Model> for Segment {
    type Error = HistoryError;

    fn try_from(row: Model) -> Result<Self, HistoryError> {
        let corrupt = |problem: &str| HistoryError::corrupt("history_segment", &row.id, &problem);
        let level = match row.level {
            1 => SegmentLevel::Day,
            2 => SegmentLevel::Period,
            _ => return Err(corrupt("unknown level")),
        };
        let days = u32::try_from(row.retention_days).map_err(|_| corrupt("negative retention"))?;
        let (from, to) = (Timestamp::from_ms(row.from_at), Timestamp::from_ms(row.to_at));
        Ok(Self {
            id: row.id,
            purpose: SegmentScope { level, retention: RetentionClass::of_days(days), from, to },
            sealed_batch: row.sealed_batch,
            retired_at: row.retired_at.map(Timestamp::from_ms),
        })
    }
}
