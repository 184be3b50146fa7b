//! Segments: the units in which sealed results are kept and dropped.
//!
//! A segment holds the checks of some span of time whose services keep their history equally long. The catalogue of
//! segments lies in the history database; what they hold lies beside it ([`storage`]): a file each on SQLite, a pair of
//! partitions each on PostgreSQL. A row of a segment counts only once the catalogue says that its batch is sealed, so that
//! one commit of the history database moves results from rows into blocks.

pub mod storage;

use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::history_segment::{ActiveModel, Column, Entity, Model};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::rollup;
use crate::store::StoreError;

/// How many days of retention are told apart: what is to be kept in between is kept as long as the next one says.
const RETENTION_CLASSES: [u32; 6] = [1, 7, 30, 90, 365, 3_650];

/// Number of a segment.
pub type SegmentId = i32;

/// How far the blocks of a segment have been put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i16)]
pub enum SegmentLevel {
    /// One day, in blocks as they were sealed; rollups of hours and their minutes.
    Day = 1,
    /// A longer period, in large blocks; rollups of days and their hours.
    Period = 2,
}

/// How long something is kept: one of a few classes, so that segments are few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Retention {
    days: u32,
}

/// What a segment is for: no two visible segments have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose {
    /// How far its blocks have been put together.
    pub level: SegmentLevel,
    /// How long its checks are kept.
    pub retention: Retention,
    /// Start of its time, inclusive.
    pub from: Timestamp,
    /// End of its time, exclusive.
    pub to: Timestamp,
}

/// A segment of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub id: SegmentId,
    /// What it is for.
    pub purpose: Purpose,
    /// Rows of this and earlier batches count.
    pub sealed_batch: i64,
    /// Since when nobody new reads it.
    pub retired_at: Option<Timestamp>,
}

impl SegmentLevel {
    /// What one rollup in such a segment sums up.
    #[must_use]
    pub const fn rollups(self) -> rollup::Level {
        match self {
            Self::Day => rollup::Level::Hour,
            Self::Period => rollup::Level::Day,
        }
    }
}

impl Retention {
    /// The class that keeps checks at least `days` days.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        let longest = RETENTION_CLASSES[RETENTION_CLASSES.len() - 1];
        Self { days: RETENTION_CLASSES.into_iter().find(|class| *class >= days).unwrap_or(longest) }
    }

    /// How many days checks of this class are kept.
    #[must_use]
    pub const fn days(self) -> u32 {
        self.days
    }

    /// Days in a period: about a twelfth of the retention, so that little is kept longer than it must, in few segments.
    const fn period_days(self) -> i64 {
        match self.days {
            0..=7 => 1,
            8..=30 => 3,
            31..=90 => 7,
            _ => 28,
        }
    }
}

impl Purpose {
    /// The segment in which a check of this moment is kept.
    #[must_use]
    pub const fn of(level: SegmentLevel, retention: Retention, moment: Timestamp) -> Self {
        let length_ms = DAY_MS
            * match level {
                SegmentLevel::Day => 1,
                SegmentLevel::Period => retention.period_days(),
            };
        let from = Timestamp::from_ms(moment.ms().div_euclid(length_ms) * length_ms);
        Self { level, retention, from, to: from.plus_ms(length_ms) }
    }

    /// When everything in it has been kept long enough.
    #[must_use]
    pub const fn ends_at(&self) -> Timestamp {
        self.to.plus_ms(self.retention.days as i64 * DAY_MS)
    }
}

/// The segments that count, those of the newest time first. One that has been entered and was given nothing yet is not
/// among them: it may not even have its tables.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn visible(connection: &impl ConnectionTrait) -> Result<Vec<Segment>, StoreError> {
    let mut segments = entered(connection).await?;
    segments.retain(|segment| segment.sealed_batch > 0);
    Ok(segments)
}

/// The segments that may be written to, also those that hold nothing that counts, those of the newest time first.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn entered(connection: &impl ConnectionTrait) -> Result<Vec<Segment>, StoreError> {
    let query = Entity::find().filter(Column::RetiredAt.is_null());
    let rows = query.order_by_desc(Column::ToAt).order_by_desc(Column::Id).all(connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// A segment as it is now; `None` when it does not count, or not any more.
///
/// # Errors
/// When the database fails or its row cannot be read.
pub async fn visible_one(
    connection: &impl ConnectionTrait,
    id: SegmentId,
) -> Result<Option<Segment>, StoreError> {
    let row = Entity::find_by_id(id).filter(Column::RetiredAt.is_null()).one(connection).await?;
    let segment = row.map(Segment::try_from).transpose()?;
    Ok(segment.filter(|segment| segment.sealed_batch > 0))
}

/// The segments that do not count any more and are still there.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn retired(connection: &impl ConnectionTrait) -> Result<Vec<Segment>, StoreError> {
    let rows = Entity::find().filter(Column::RetiredAt.is_not_null()).all(connection).await?;
    rows.into_iter().map(Segment::try_from).collect()
}

/// Enters a new segment; nothing in it counts yet.
///
/// # Errors
/// When the database fails.
pub async fn enter(connection: &impl ConnectionTrait, purpose: Purpose) -> Result<Segment, StoreError> {
    let row = ActiveModel {
        level: Set(purpose.level as i16),
        retention_days: Set(i32::try_from(purpose.retention.days).unwrap_or(i32::MAX)),
        from_at: Set(purpose.from.ms()),
        to_at: Set(purpose.to.ms()),
        sealed_batch: Set(0),
        retired_at: Set(None),
        ..ActiveModel::default()
    };
    let id = Entity::insert(row).exec(connection).await?.last_insert_id;
    Ok(Segment { id, purpose, sealed_batch: 0, retired_at: None })
}

/// From this commit on the rows of `batch` count.
///
/// # Errors
/// When it is not the batch after the last one that counts, or the database fails.
pub async fn publish(connection: &impl ConnectionTrait, id: SegmentId, batch: i64) -> Result<(), StoreError> {
    let change = Entity::update_many().col_expr(Column::SealedBatch, Expr::value(batch));
    let change = change.filter(Column::Id.eq(id)).filter(Column::SealedBatch.eq(batch - 1));
    match change.exec(connection).await?.rows_affected {
        1 => Ok(()),
        _ => Err(StoreError::Overtaken(format!("batch {batch} of segment {id} is not the next one"))),
    }
}

/// From this commit on the segment does not count any more.
///
/// # Errors
/// When it is not as it was read: it holds a later batch, or does not count already. When the database fails.
pub async fn retire(
    connection: &impl ConnectionTrait,
    segment: &Segment,
    now: Timestamp,
) -> Result<(), StoreError> {
    let change = Entity::update_many().col_expr(Column::RetiredAt, Expr::value(now.ms()));
    let change = change.filter(Column::Id.eq(segment.id)).filter(Column::RetiredAt.is_null());
    let change = change.filter(Column::SealedBatch.eq(segment.sealed_batch));
    match change.exec(connection).await?.rows_affected {
        1 => Ok(()),
        _ => Err(StoreError::Overtaken(format!("segment {} was written to meanwhile", segment.id))),
    }
}

/// Takes a segment that has been dropped out of the catalogue.
///
/// # Errors
/// When the database fails.
pub async fn forget(connection: &impl ConnectionTrait, id: SegmentId) -> Result<(), StoreError> {
    Entity::delete_by_id(id).exec(connection).await?;
    Ok(())
}

impl TryFrom<Model> for Segment {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        let corrupt = |problem: &str| StoreError::corrupt("history_segment", &row.id, &problem);
        let level = match row.level {
            1 => SegmentLevel::Day,
            2 => SegmentLevel::Period,
            _ => return Err(corrupt("unknown level")),
        };
        let days = u32::try_from(row.retention_days).map_err(|_| corrupt("negative retention"))?;
        let (from, to) = (Timestamp::from_ms(row.from_at), Timestamp::from_ms(row.to_at));
        Ok(Self {
            id: row.id,
            purpose: Purpose { level, retention: Retention { days }, from, to },
            sealed_batch: row.sealed_batch,
            retired_at: row.retired_at.map(Timestamp::from_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(1, 1)]
    #[case(2, 7)]
    #[case(7, 7)]
    #[case(8, 30)]
    #[case(90, 90)]
    #[case(366, 3_650)]
    #[case(u32::MAX, 3_650)]
    fn a_retention_is_rounded_up_to_a_class(#[case] days: u32, #[case] class: u32) {
        assert_eq!(Retention::of_days(days).days(), class);
    }

    #[rstest]
    #[case(SegmentLevel::Day, 90, 10, 10, 11)]
    #[case(SegmentLevel::Period, 90, 10, 7, 14)]
    #[case(SegmentLevel::Period, 90, -1, -7, 0)]
    #[case(SegmentLevel::Period, 365, 29, 28, 56)]
    #[case(SegmentLevel::Period, 7, 29, 29, 30)]
    fn a_check_has_one_segment(
        #[case] level: SegmentLevel,
        #[case] retention: u32,
        #[case] day: i64,
        #[case] from: i64,
        #[case] to: i64,
    ) {
        let moment = Timestamp::from_ms(day * DAY_MS + 5);
        let purpose = Purpose::of(level, Retention::of_days(retention), moment);
        assert_eq!((purpose.from.ms(), purpose.to.ms()), (from * DAY_MS, to * DAY_MS));
    }
}
