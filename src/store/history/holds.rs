//! Holds on partitions: the fencing tokens of engine nodes, checked on every write.
//!
//! A node that takes a partition records it here first. Later writes of an earlier holder find a newer token and are
//! refused. Each write reads the rows of its partitions under a shared lock, so no hold changes before the write commits.

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

/// A node's hold on a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionHold {
    /// Id of the data folder of the holding node; `None` if it cannot be read, or for a hold without holder.
    pub holder: Option<Id>,
    /// Fencing token of the holder.
    pub fence: FencingToken,
    /// Time at which the partition was taken.
    pub taken_at: Timestamp,
}

/// Maximum idle time of a transaction that uses a token, in milliseconds. If its node is suspended or gone, its partitions
/// cannot be taken before this time has passed.
const IDLE_MS: u32 = 3_000;

/// Takes partitions for a node. A hold with a newer token is left unchanged.
///
/// # Errors
///
/// [`HistoryError::Overtaken`] when one of the partitions is held with a newer token.
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

/// Terminates connections that are stalled in the middle of a `COPY` statement. They hold the lock of a node that is
/// suspended or gone, and PostgreSQL has no time limit for this case.
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

/// The newest fencing token; `None` if no hold is stored.
pub async fn newest(connection: &dyn StoreConnection) -> Result<Option<FencingToken>, HistoryError> {
    let rows = Entity::find().all(&connection).await?;
    Ok(rows.into_iter().map(|row| FencingToken { epoch: row.epoch, revision: row.revision }).max())
}

/// Returns the current holds on these partitions, without locking them.
pub async fn read(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<BTreeMap<Partition, PartitionHold>, HistoryError> {
    let rows = Entity::find().filter(Column::Partition.is_in(numbers(partitions))).all(&connection).await?;
    Ok(rows.iter().filter_map(from_row).collect())
}

/// Deletes all holds, so that the next writer needs no token.
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

/// Returns the holds on these partitions and locks them: no hold changes until the transaction ends.
pub async fn lock_shared(
    transaction: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<BTreeMap<Partition, PartitionHold>, HistoryError> {
    // In the same order as `take`, so that two transactions never wait for each other.
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
