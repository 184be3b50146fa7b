//! Positions of the readers of status changes, for each partition of the services.
//!
//! A position is moved in the transaction that stores the effects of the changes up to it, and only from the value that
//! the reader expects. If two readers believe that they own a partition, one of them is thus refused.

use std::collections::BTreeMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter};
use watchkeeper_entities::feed_position::{ActiveModel, Column, Entity};

use crate::model::partition::{Partition, PartitionSet};
use crate::store::error::MainError;

/// Number of the last status change that a reader has processed, by partition.
pub type Positions = BTreeMap<Partition, i64>;

/// The positions of a reader in these partitions; a partition that the reader has never read is not in the result.
pub async fn find(
    connection: &dyn StoreConnection,
    reader: &str,
    partitions: PartitionSet,
) -> Result<Positions, MainError> {
    let rows = Entity::find().filter(Column::Reader.eq(reader)).all(&connection).await?;
    let position = |row: watchkeeper_entities::feed_position::Model| {
        let partition = u8::try_from(row.partition).ok().and_then(Partition::new)?;
        partitions.contains(partition).then_some((partition, row.position))
    };
    Ok(rows.into_iter().filter_map(position).collect())
}

/// Lets a reader start in these partitions after the change with the number `position`. A partition that has a position
/// keeps it.
pub async fn begin(
    connection: &dyn StoreConnection,
    reader: &str,
    partitions: impl IntoIterator<Item = Partition>,
    position: i64,
) -> Result<(), MainError> {
    let row = |partition: Partition| ActiveModel {
        reader: Set(reader.to_owned()),
        partition: Set(partition.number().into()),
        position: Set(position),
    };
    let rows: Vec<ActiveModel> = partitions.into_iter().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let unchanged = OnConflict::columns([Column::Reader, Column::Partition]).do_nothing().to_owned();
    Entity::insert_many(rows).on_conflict(unchanged).exec_without_returning(&connection).await?;
    Ok(())
}

/// Moves the position of a reader in a partition. Returns false, and changes nothing, if it is not at `from`.
pub async fn advance(
    connection: &dyn StoreConnection,
    reader: &str,
    partition: Partition,
    from: i64,
    to: i64,
) -> Result<bool, MainError> {
    let moved = Entity::update_many()
        .col_expr(Column::Position, Expr::value(to))
        .filter(Column::Reader.eq(reader))
        .filter(Column::Partition.eq(i32::from(partition.number())))
        .filter(Column::Position.eq(from))
        .exec(&connection)
        .await?;
    Ok(moved.rows_affected == 1)
}

/// Moves these positions of a reader to the number `to`, in one statement. A position that is not at the believed value
/// stays.
pub async fn move_along(
    connection: &dyn StoreConnection,
    reader: &str,
    believed: &Positions,
    to: i64,
) -> Result<(), MainError> {
    let is_believed = believed.iter().fold(Condition::any(), |any, (partition, position)| {
        let number = i32::from(partition.number());
        any.add(Column::Partition.eq(number).and(Column::Position.eq(*position)))
    });
    Entity::update_many()
        .col_expr(Column::Position, Expr::value(to))
        .filter(Column::Reader.eq(reader))
        .filter(is_believed)
        .exec(&connection)
        .await?;
    Ok(())
}
