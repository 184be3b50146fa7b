//! Status changes in the order in which they were recorded, for whoever reacts to them.
//!
//! Numbers rise in that order within a partition of services, because one process at a time records the changes of a
//! partition and has committed each before the next.

use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::status_change::{Column, Entity};

use crate::model::history::StatusChange;
use crate::model::partition::{PARTITIONS, Partitions};
use crate::store::HistoryError;
use crate::store::history::changes::from_row;

/// A change and its place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedChange {
    /// Its number.
    pub number: i64,
    /// The change.
    pub change: StatusChange,
}

/// The first changes of services of these partitions behind this number.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn after(
    connection: &impl ConnectionTrait,
    number: i64,
    partitions: Partitions,
    limit: u64,
) -> Result<Vec<NumberedChange>, HistoryError> {
    let mut query = Entity::find().filter(Column::Id.gt(number));
    if partitions != Partitions::ALL {
        let numbers = partitions.iter().map(|partition| i64::from(partition.number()));
        query = query.filter(Expr::col(Column::ServiceId).modulo(PARTITIONS).is_in(numbers));
    }
    let rows = query.order_by_asc(Column::Id).limit(limit).all(connection).await?;
    rows.iter().map(|row| Ok(NumberedChange { number: row.id, change: from_row(row)? })).collect()
}

/// The number of the newest change; 0 when there is none.
///
/// # Errors
/// When the database fails.
pub async fn newest(connection: &impl ConnectionTrait) -> Result<i64, HistoryError> {
    let newest = Entity::find().order_by_desc(Column::Id).one(connection).await?;
    Ok(newest.map_or(0, |row| row.id))
}
