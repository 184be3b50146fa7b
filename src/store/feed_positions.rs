//! Positions of a reader of the status changes, for each partition of services.
//!
//! A position is moved in the transaction of the effects of the changes up to it, and only from the value that the
//! reader expects: of two readers that believe they own a partition, one is refused.

use std::collections::BTreeMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter};
use watchkeeper_entities::feed_position::{ActiveModel, Column, Entity};

use crate::model::partition::{Partition, PartitionSet};
use crate::store::error::MainError;

/// Numbers of the last changes that a reader has taken in, by partition.
pub type Positions = BTreeMap<Partition, i64>;

/// The positions of a reader in these partitions; those that it has never read are missing.
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

/// Starts reading these partitions after this change. A partition with a position keeps it.
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

/// Moves the position of a reader in a partition; `false` when it is not at the expected value.
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

/// Moves all of these positions to the same number, in one statement; those that are not at the expected value stay.
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
