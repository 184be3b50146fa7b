//! Segments: the units in which sealed results are stored and dropped.
//!
//! A segment contains the checks of a span of time for services with the same retention. The catalogue of segments is a
//! table of the history database. The contents are stored separately ([`storage`]): on SQLite in one file per segment, on
//! PostgreSQL in a pair of table partitions. The rows of a segment are valid only once the catalogue lists their batch as
//! sealed. A single commit of the history database thus moves results from rows into blocks.

pub mod folder_lock;
pub mod storage;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::history_segment::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
pub use crate::model::segment::{RetentionClass, SegmentLevel, SegmentScope};
use crate::store::error::HistoryError;

/// Number of a segment in the catalogue.
pub type SegmentId = i32;

/// An entry of the catalogue of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment.
    pub id: SegmentId,
    /// Time range, level and retention of the segment.
    pub purpose: SegmentScope,
    /// Number of the last published batch: rows of this and earlier batches are valid. 0 before the first one.
    pub sealed_batch: i64,
    /// Time from which the segment has no new readers; `None` while it is in use.
    pub retired_at: Option<Timestamp>,
}

/// The segments in use that have a published batch, newest time range first. A new segment without one is left out,
/// because its tables may not exist yet.
pub async fn visible(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let mut segments = entered(connection).await?;
    segments.retain(|segment| segment.sealed_batch > 0);
    Ok(segments)
}

/// All segments that are not retired, including new ones without a published batch, newest time range first.
pub async fn entered(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let query = Entity::find().filter(Column::RetiredAt.is_null());
    let rows = query.order_by_desc(Column::ToAt).order_by_desc(Column::Id).all(&connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// The current entry of a segment; `None` if it is retired, was dropped, or has no published batch.
pub async fn visible_one(
    connection: &dyn StoreConnection,
    id: SegmentId,
) -> Result<Option<Segment>, HistoryError> {
    let row = Entity::find_by_id(id).filter(Column::RetiredAt.is_null()).one(&connection).await?;
    let segment = row.map(Segment::try_from).transpose()?;
    Ok(segment.filter(|segment| segment.sealed_batch > 0))
}

/// The segments that are retired but not dropped yet.
pub async fn retired(connection: &dyn StoreConnection) -> Result<Vec<Segment>, HistoryError> {
    let rows = Entity::find().filter(Column::RetiredAt.is_not_null()).all(&connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// Adds a new segment to the catalogue, without a published batch.
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

/// Publishes a batch: with the commit of this change its rows become valid.
///
/// # Errors
///
/// Also when `batch` does not follow the last published batch.
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

/// Retires a segment: with the commit of this change it gets no new readers.
///
/// # Errors
///
/// Also when the segment has changed since it was read: it has a later batch, or is already retired.
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

/// Deletes a dropped segment from the catalogue.
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
