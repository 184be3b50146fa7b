//! Holds of partitions: the fencing tokens of engine nodes, checked on every write.
//!
//! A node that takes a partition records it here first. From then on a write of an earlier holder finds that it is
//! stale: a write reads the rows of its partitions with a shared lock, so no hold changes before it is committed.

use std::collections::BTreeMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use watchkeeper_entities::partition_hold::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::ledger::FencingToken;
use crate::model::partition::{Partition, PartitionSet};
use crate::store::error::HistoryError;

/// A hold of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionHold {
    /// The data folder of the node that holds it; `None` = there is none, or it cannot be read.
    pub holder: Option<Id>,
    /// Fencing token of the holder.
    pub fence: FencingToken,
    /// The time at which it was taken.
    pub taken_at: Timestamp,
}

/// The time that a write with a token may stay open without a further statement, in milliseconds: its node may be
/// suspended or gone, and its partitions cannot be taken before.
const IDLE_MS: u32 = 3_000;

/// Takes partitions for a node. A hold with a later token stays as it is.
///
/// # Errors
///
/// [`HistoryError::Overtaken`] when a hold with a later token exists.
pub async fn take(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    hold: PartitionHold,
) -> Result<(), HistoryError> {
    let Some(holder) = hold.holder.filter(|_| !partitions.is_empty()) else { return Ok(()) };
    let row = |partition: Partition| ActiveModel {
        partition: Set(partition.number().into()),
        holder: Set(holder.to_string()),
        epoch: Set(hold.fence.epoch),
        revision: Set(hold.fence.revision),
        taken_at: Set(hold.taken_at.ms()),
    };
    let known = |column: Column| Expr::col((Entity, column));
    let is_earlier = known(Column::Epoch)
        .lt(hold.fence.epoch)
        .or(known(Column::Epoch).eq(hold.fence.epoch).and(known(Column::Revision).lt(hold.fence.revision)));
    let replace = OnConflict::column(Column::Partition)
        .update_columns([Column::Holder, Column::Epoch, Column::Revision, Column::TakenAt])
        .action_and_where(is_earlier)
        .to_owned();
    Entity::insert_many(partitions.iter().map(row))
        .on_conflict(replace)
        .exec_without_returning(&connection)
        .await?;
    let taken = lock_shared(connection, partitions).await?;
    let is_taken = |partition| taken.get(&partition).is_some_and(|known| known.fence == hold.fence);
    if partitions.iter().all(is_taken) {
        Ok(())
    } else {
        Err(HistoryError::Overtaken("the database knows a later holder of a partition".into()))
    }
}

/// Ends connections that are stalled in the middle of a `COPY`: they hold the lock of a node that is suspended or
/// gone, and no time limit of PostgreSQL applies there.
pub async fn terminate_stalled_copy_statements(connection: &dyn StoreConnection) -> Result<(), HistoryError> {
    if connection.get_database_backend() == DbBackend::Postgres {
        let text = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
            AND usename = current_user AND state = 'active' AND wait_event = 'ClientRead' \
            AND query LIKE 'COPY fresh_check%' AND query_start < now() - interval '{IDLE_MS} milliseconds'"
        );
        connection.execute_unprepared(&text).await?;
    }
    Ok(())
}

/// The newest token; `None` before the first.
pub async fn newest(connection: &dyn StoreConnection) -> Result<Option<FencingToken>, HistoryError> {
    let rows = Entity::find().all(&connection).await?;
    Ok(rows.into_iter().map(|row| FencingToken { epoch: row.epoch, revision: row.revision }).max())
}

/// Returns the present holds of these partitions, which may change at any time.
pub async fn read(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<BTreeMap<Partition, PartitionHold>, HistoryError> {
    let rows = Entity::find().filter(Column::Partition.is_in(numbers(partitions))).all(&connection).await?;
    Ok(rows.iter().filter_map(from_row).collect())
}

/// Deletes every hold: the next writer needs none.
pub async fn forget(connection: &dyn StoreConnection) -> Result<(), HistoryError> {
    Entity::delete_many().exec(&connection).await?;
    Ok(())
}

/// Limits the idle time of a transaction that is about to use a token, in case its node is suspended.
pub async fn limit_idling(transaction: &dyn StoreConnection) -> Result<(), HistoryError> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let text = format!("SET LOCAL idle_in_transaction_session_timeout = {IDLE_MS}");
        transaction.execute_unprepared(&text).await?;
    }
    Ok(())
}

/// Returns the holds of these partitions; none of them changes before the transaction ends.
pub async fn lock_shared(
    transaction: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<BTreeMap<Partition, PartitionHold>, HistoryError> {
    // In a fixed order, as they are taken: two transactions that lock them never wait for each other.
    let rows = Entity::find()
        .filter(Column::Partition.is_in(numbers(partitions)))
        .order_by_asc(Column::Partition)
        .lock_shared()
        .all(&transaction)
        .await?;
    Ok(rows.iter().filter_map(from_row).collect())
}

fn numbers(partitions: PartitionSet) -> impl Iterator<Item = i16> {
    partitions.iter().map(|partition| i16::from(partition.number())).collect::<Vec<_>>().into_iter()
}

fn from_row(row: &Model) -> Option<(Partition, PartitionHold)> {
    let partition = Partition::new(u8::try_from(row.partition).ok()?)?;
    let fence = FencingToken { epoch: row.epoch, revision: row.revision };
    let holder = row.holder.parse().ok();
    Some((partition, PartitionHold { holder, fence, taken_at: Timestamp::from_ms(row.taken_at) }))
}
