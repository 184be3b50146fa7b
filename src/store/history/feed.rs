//! Status changes in the order in which they were recorded, for readers that react to them (the feed).
//!
//! Within the partitions of a node, numbers rise in the order of recording: only the node's recorder writes the changes,
//! one transaction at a time. Changes that are found out later (from late results or an import) are stored by other
//! writers, and are not part of the feed. PostgreSQL assigns numbers before rows become visible. A writer of changes
//! therefore takes a shared lock on their partitions, and a reader that must be sure that no lower number appears later
//! waits for these locks.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::status_change::{Column, Entity};

use crate::model::history::{ChangeCause, StatusChange};
use crate::model::partition::{PARTITIONS, PartitionSet};
use crate::model::service::ServiceKey;
use crate::store::error::HistoryError;
use crate::store::history::changes::from_row;

/// A status change with its number in the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedChange {
    /// Number of the change; later changes have larger numbers.
    pub number: i64,
    /// The recorded status change.
    pub change: StatusChange,
}

/// First key of the PostgreSQL locks that announce changes; the second key is the partition.
const LOCK_CLASS: i32 = 1_464_551_009;

/// Maximum number of keys in one statement, because the number of bound values is limited.
const KEYS_AT_ONCE: usize = 1_000;

/// The first `limit` changes in these partitions with a number above `number`, in ascending order.
pub async fn after(
    connection: &dyn StoreConnection,
    number: i64,
    partitions: PartitionSet,
    limit: u64,
) -> Result<Vec<NumberedChange>, HistoryError> {
    let query = among(partitions).filter(Column::Id.gt(number));
    let rows = query.order_by_asc(Column::Id).limit(limit).all(&connection).await?;
    rows.iter().map(|row| Ok(NumberedChange { number: row.id, change: from_row(row)? })).collect()
}

/// The numbers above `number` of changes of these services, in ascending order: the lowest ones, at most `limit`.
pub async fn numbers_of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    number: i64,
    limit: u64,
) -> Result<Vec<i64>, HistoryError> {
    let mut numbers: Vec<i64> = Vec::new();
    for some in services.chunks(KEYS_AT_ONCE) {
        let query = among(PartitionSet::ALL).select_only().column(Column::Id);
        let query = query.filter(Column::ServiceId.is_in(some.iter().copied())).filter(Column::Id.gt(number));
        numbers
            .extend(query.order_by_asc(Column::Id).limit(limit).into_tuple::<i64>().all(&connection).await?);
        numbers.sort_unstable();
        numbers.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    Ok(numbers)
}

/// The changes with these numbers, in ascending order.
pub async fn with_numbers(
    connection: &dyn StoreConnection,
    numbers: &[i64],
) -> Result<Vec<NumberedChange>, HistoryError> {
    let query = Entity::find().filter(Column::Id.is_in(numbers.iter().copied()));
    let rows = query.order_by_asc(Column::Id).all(&connection).await?;
    rows.iter().map(|row| Ok(NumberedChange { number: row.id, change: from_row(row)? })).collect()
}

/// The number of the newest change in these partitions; 0 if there is none.
pub async fn newest(connection: &dyn StoreConnection, partitions: PartitionSet) -> Result<i64, HistoryError> {
    let newest = among(partitions).order_by_desc(Column::Id).one(&connection).await?;
    Ok(newest.map_or(0, |row| row.id))
}

/// The number of the newest row of any kind, including rows that are not part of the feed; 0 if there is none.
pub async fn last_number(connection: &dyn StoreConnection) -> Result<i64, HistoryError> {
    let newest = Entity::find().order_by_desc(Column::Id).one(&connection).await?;
    Ok(newest.map_or(0, |row| row.id))
}

/// Announces that this transaction is going to write changes of these partitions. Must be called before the writes.
///
/// # Errors
///
/// Also when the wait for a reader that holds the lock takes too long.
pub async fn announce(
    transaction: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<(), HistoryError> {
    lock(transaction, partitions, "pg_advisory_xact_lock_shared").await
}

/// Waits until no transaction is writing changes of these partitions. New writers must wait until this transaction ends.
///
/// # Errors
///
/// Also when the wait takes too long.
pub async fn wait_for_writers(
    transaction: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<(), HistoryError> {
    lock(transaction, partitions, "pg_advisory_xact_lock").await
}

/// Takes a lock on each partition. Does nothing on SQLite, which has one writer at a time and assigns numbers in the order
/// of its commits.
async fn lock(
    transaction: &dyn StoreConnection,
    partitions: PartitionSet,
    function: &str,
) -> Result<(), HistoryError> {
    if transaction.get_database_backend() != DbBackend::Postgres || partitions.is_empty() {
        return Ok(());
    }
    // In a fixed order, so that two transactions never wait for each other.
    let calls: Vec<String> =
        partitions.iter().map(|one| format!("{function}({LOCK_CLASS}, {})", one.number())).collect();
    transaction.execute_unprepared(&format!("SELECT {}", calls.join(", "))).await?;
    Ok(())
}

/// Selects the changes of these partitions that belong to the feed.
fn among(partitions: PartitionSet) -> Select<Entity> {
    let stored_later = [ChangeCause::Imported, ChangeCause::Filled].map(ChangeCause::code);
    let query = Entity::find().filter(Column::Cause.is_not_in(stored_later));
    if partitions == PartitionSet::ALL {
        return query;
    }
    let numbers = partitions.iter().map(|partition| i64::from(partition.number()));
    query.filter(Expr::col(Column::ServiceId).modulo(PARTITIONS).is_in(numbers))
}
