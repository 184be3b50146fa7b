//! Queries and updates of the outbox for the courier, which delivers the messages of all organisations. Handlers of client
//! requests must not use them.

use std::collections::{BTreeMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, LockType, Query};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany};
use watchkeeper_entities::notification_delivery::{Column, Entity};
use watchkeeper_entities::notification_try::Column as TryColumn;
use watchkeeper_entities::{incident, notice, notification_try};

use crate::clock::Timestamp;
use crate::model::notification::delivery::{DeliveryOutcome, LONGEST_WAIT_MS};
use crate::model::notification::ordering_scope::OrderingScope;
use crate::store::advisory_lock::AdvisoryLock;
use crate::store::database::Database;
use crate::store::error::MainError;
pub use crate::store::notifications::finished_try::TryRecord;
use crate::store::notifications::order::release_after;
use crate::store::notifications::to_try_row;

/// Number of rows per statement.
const CHUNK: usize = 500;

/// The queues of messages. Each is delivered by one process at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryQueue {
    /// Messages to the notification channels of operators.
    Alerts,
    /// Messages to subscribers of status pages.
    Subscribers,
}

impl DeliveryQueue {
    /// Key of the advisory lock that the process which delivers the queue holds.
    const fn lock(self) -> i64 {
        match self {
            Self::Alerts => 0x5741_5443_484b_434f,
            Self::Subscribers => 0x5741_5443_484b_5355,
        }
    }
}

/// Takes the right to deliver the messages of a queue, which one process at a time has, so that messages about a subject stay
/// in order and are not sent twice. `None` if another process has it.
pub async fn take_courier_lock(
    main: &Database,
    queue: DeliveryQueue,
) -> Result<Option<AdvisoryLock>, MainError> {
    AdvisoryLock::take(main, queue.lock()).await
}

/// Stores finished attempts and their consequences. When a message ends, the next one about the same subject becomes due.
pub async fn store_tries(connection: &dyn StoreConnection, ended: &[TryRecord]) -> Result<(), MainError> {
    let known = lock_existing(connection, ended).await?;
    let ended: Vec<TryRecord> =
        ended.iter().filter(|ended| known.contains(&ended.delivery)).cloned().collect();
    for some in ended.chunks(CHUNK) {
        let tries = some.iter().map(|ended| to_try_row(ended.delivery, &ended.attempt));
        notification_try::Entity::insert_many(tries).exec_without_returning(&connection).await?;
    }
    for some in group_by_outcome(&ended) {
        for some in some.chunks(CHUNK) {
            store_ends(connection, some).await?;
            release_after(connection, some).await?;
        }
    }
    Ok(())
}

/// Keys of the messages that still exist, locked until the transaction ends: a channel or contact may have been deleted
/// while a message was being sent.
async fn lock_existing(
    connection: &dyn StoreConnection,
    ended: &[TryRecord],
) -> Result<HashSet<i64>, MainError> {
    let mut known = HashSet::with_capacity(ended.len());
    for some in ended.chunks(CHUNK) {
        let keys: Vec<i64> = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(some.iter().map(|ended| ended.delivery)))
            .order_by_asc(Column::Id)
            .lock(LockType::KeyShare)
            .into_tuple()
            .all(&connection)
            .await?;
        known.extend(keys);
    }
    Ok(known)
}

/// Groups attempts with equal consequences, so that one statement updates all messages of a group.
fn group_by_outcome(ended: &[TryRecord]) -> Vec<Vec<&TryRecord>> {
    let mut groups: BTreeMap<_, Vec<&TryRecord>> = BTreeMap::new();
    for ended in ended {
        let is_whole = ended.line == OrderingScope::Whole;
        let meaning = (ended.status().as_str(), ended.attempt.number, ended.due_at(), ended.at, is_whole);
        groups.entry(meaning).or_default().push(ended);
    }
    groups.into_values().collect()
}

/// Stores the consequences of attempts that were grouped by `group_by_outcome`.
async fn store_ends(connection: &dyn StoreConnection, alike: &[&TryRecord]) -> Result<(), MainError> {
    let Some(one) = alike.first() else { return Ok(()) };
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(one.status().as_str()))
        .col_expr(Column::Tries, Expr::value(i32::try_from(one.attempt.number).unwrap_or(i32::MAX)))
        .col_expr(Column::DueAt, Expr::value(one.due_at()))
        .col_expr(Column::EndedAt, Expr::value(one.is_over().then(|| one.at.ms())))
        .filter(Column::Id.is_in(alike.iter().map(|ended| ended.delivery)))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Makes all messages of a channel due at `to` that wait for a later attempt. Held messages are skipped, and so are
/// messages whose last attempt is unconfirmed, because the receiver may have accepted them.
pub async fn bring_forward(
    connection: &dyn StoreConnection,
    channel: i64,
    to: Timestamp,
) -> Result<(), MainError> {
    later_tries(to).filter(Column::ChannelId.eq(channel)).exec(&connection).await?;
    Ok(())
}

/// Like `bring_forward` for all channels. Used when a courier starts, because its circuit breakers are all closed then.
/// Returns the number of messages.
pub async fn bring_all_forward(connection: &dyn StoreConnection, to: Timestamp) -> Result<u64, MainError> {
    Ok(later_tries(to).exec(&connection).await?.rows_affected)
}

fn later_tries(to: Timestamp) -> UpdateMany<Entity> {
    let unconfirmed = Query::select()
        .expr(Expr::value(1))
        .from(notification_try::Entity)
        .and_where(Expr::col((notification_try::Entity, TryColumn::DeliveryId)).equals((Entity, Column::Id)))
        .and_where(Expr::col((notification_try::Entity, TryColumn::Number)).equals((Entity, Column::Tries)))
        .and_where(TryColumn::Outcome.eq(DeliveryOutcome::Unconfirmed.as_str()))
        .to_owned();
    // A due time beyond any possible postponement was written by a clock that was ahead.
    let latest = to.plus_ms(2 * LONGEST_WAIT_MS);
    let is_certain = Expr::exists(unconfirmed).not().or(Expr::col((Entity, Column::DueAt)).gt(latest.ms()));
    Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(to.ms()))
        .filter(Column::DueAt.gt(to.ms()))
        .filter(Condition::any().add(Column::HeldUntil.is_null()).add(Column::HeldUntil.lte(to.ms())))
        .filter(is_certain)
}

/// Deletes messages that ended before this time; returns their number. Messages about open incidents and notices are kept,
/// because later messages about them go to the same recipients.
pub async fn forget(connection: &dyn StoreConnection, ended_before: Timestamp) -> Result<u64, MainError> {
    let open = Query::select()
        .column(incident::Column::PublicId)
        .from(incident::Entity)
        .and_where(incident::Column::ResolvedAt.is_null())
        .to_owned();
    let lasting = Query::select()
        .column(notice::Column::PublicId)
        .from(notice::Entity)
        .and_where(notice::Column::EndedAt.is_null())
        .to_owned();
    let old = Entity::delete_many()
        .filter(Column::EndedAt.lt(ended_before.ms()))
        .filter(Column::Subject.not_in_subquery(open))
        .filter(Column::Subject.not_in_subquery(lasting));
    Ok(old.exec(&connection).await?.rows_affected)
}

/// Number and age of the messages that wait at `now` and are not held.
pub async fn backlog(connection: &dyn StoreConnection, now: Timestamp) -> Result<OutboxBacklog, MainError> {
    let waiting = Entity::find()
        .select_only()
        .column_as(Column::Id.count(), "waiting")
        .column_as(Column::CreatedAt.min(), "oldest")
        .filter(Column::EndedAt.is_null())
        .filter(Condition::any().add(Column::HeldUntil.is_null()).add(Column::HeldUntil.lte(now.ms())));
    let row: Option<(i64, Option<i64>)> = waiting.into_tuple().one(&connection).await?;
    let (waiting, oldest) = row.unwrap_or_default();
    Ok(OutboxBacklog {
        waiting: u64::try_from(waiting).unwrap_or_default(),
        oldest: oldest.map(Timestamp::from_ms),
    })
}

/// Number and age of the waiting messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxBacklog {
    /// Number of waiting messages.
    pub waiting: u64,
    /// Time at which the oldest waiting message was written; `None` if no message waits.
    pub oldest: Option<Timestamp>,
}
