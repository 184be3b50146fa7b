//! What the courier asks of the outbox and writes into it, for every organisation at once; nothing that answers a client may use it.

use std::collections::{BTreeMap, HashSet};

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, LockType, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect, Statement, UpdateMany,
};
use watchkeeper_entities::notification_delivery::{Column, Entity};
use watchkeeper_entities::{incident, notice, notification_channel, notification_try};

use crate::clock::Timestamp;
use crate::model::notification::delivery::{Delivery, DeliveryStatus, Try, TryOutcome};
use crate::model::notification::line::Line;
use crate::model::notification::{ChannelKind, Event};
use crate::store::bounded::Bounded;
use crate::store::notifications::holds::due_from;
use crate::store::notifications::{from_row, to_try_row};
use crate::store::{Database, MainError};

/// The number of the advisory lock of PostgreSQL that the courier holds.
const COURIER_LOCK: i64 = 0x5741_5443_484b_434f;
/// Rows in one statement.
const CHUNK: usize = 500;

/// The right to deliver, of one process at a time: messages of a subject stay in order, and are not sent by several.
#[derive(Debug)]
pub struct CourierLock {
    /// The transaction that holds the advisory lock of PostgreSQL; a SQLite database belongs to one process.
    holder: Option<Bounded<DatabaseTransaction>>,
}

impl CourierLock {
    /// Takes it; `None` while another process holds it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take(main: &Database) -> Result<Option<Self>, MainError> {
        let reader = main.reader();
        if reader.get_database_backend() != DbBackend::Postgres {
            return Ok(Some(Self { holder: None }));
        }
        let holder = reader.begin().await?;
        // It is held for as long as this process lives.
        holder.execute_unprepared("SET LOCAL idle_in_transaction_session_timeout = 0").await?;
        let text = format!("SELECT pg_try_advisory_xact_lock({COURIER_LOCK}) AS got");
        let row = holder.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
        let is_taken: bool = row.map_or(Ok(false), |row| row.try_get("", "got"))?;
        Ok(is_taken.then_some(Self { holder: Some(holder) }))
    }

    /// Returns whether it is still held.
    pub async fn is_held(&self) -> bool {
        match &self.holder {
            None => true,
            Some(holder) => holder.execute_unprepared("SELECT 1").await.is_ok(),
        }
    }
}

/// The messages that are due, the longest due ones first, of channels that are not `busy`.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn due(
    connection: &impl ConnectionTrait,
    now: Timestamp,
    busy: &[i64],
    limit: u64,
) -> Result<Vec<Delivery>, MainError> {
    let mut wanted = Entity::find().filter(Column::DueAt.lte(now.ms()));
    if !busy.is_empty() {
        wanted = wanted.filter(Column::ChannelId.is_not_in(busy.iter().copied()));
    }
    let rows =
        wanted.order_by_asc(Column::DueAt).order_by_asc(Column::Id).limit(limit).all(connection).await?;
    rows.iter().map(from_row).collect()
}

/// A try that has ended, and what it means for its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Key of the delivery.
    pub delivery: i64,
    /// Key of its channel.
    pub channel: i64,
    /// The id of what it is about.
    pub subject: String,
    /// The line that it stood in.
    pub line: Line,
    /// True if it is a digest: everything that was written after it waits for it.
    pub is_digest: bool,
    /// The try.
    pub attempt: Try,
    /// The time of the next one; `None` when the message was delivered or is given up.
    pub next_at: Option<Timestamp>,
    /// Now.
    pub at: Timestamp,
}

/// Stores tries and what they mean. A message that ends makes way for the next one about the same subject.
///
/// # Errors
/// When the database fails.
pub async fn store_tries(connection: &impl ConnectionTrait, ended: &[Ended]) -> Result<(), MainError> {
    let known = known(connection, ended).await?;
    let ended: Vec<Ended> = ended.iter().filter(|ended| known.contains(&ended.delivery)).cloned().collect();
    for some in ended.chunks(CHUNK) {
        let tries = some.iter().map(|ended| to_try_row(ended.delivery, &ended.attempt));
        notification_try::Entity::insert_many(tries).exec_without_returning(connection).await?;
    }
    for some in alike(&ended) {
        for some in some.chunks(CHUNK) {
            store_ends(connection, some).await?;
            release_after(connection, some).await?;
        }
    }
    Ok(())
}

/// Those of the messages that are there still, kept until the transaction ends: a channel or a contact may have been deleted
/// while they were under way.
async fn known(connection: &impl ConnectionTrait, ended: &[Ended]) -> Result<HashSet<i64>, MainError> {
    let mut known = HashSet::with_capacity(ended.len());
    for some in ended.chunks(CHUNK) {
        let keys: Vec<i64> = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(some.iter().map(|ended| ended.delivery)))
            .order_by_asc(Column::Id)
            .lock(LockType::KeyShare)
            .into_tuple()
            .all(connection)
            .await?;
        known.extend(keys);
    }
    Ok(known)
}

/// Tries by what they mean: what is the same for many messages is one statement.
fn alike(ended: &[Ended]) -> Vec<Vec<&Ended>> {
    let mut groups: BTreeMap<_, Vec<&Ended>> = BTreeMap::new();
    for ended in ended {
        let is_whole = ended.line == Line::Whole;
        let meaning = (ended.status().as_str(), ended.attempt.number, ended.due_at(), ended.at, is_whole);
        groups.entry(meaning).or_default().push(ended);
    }
    groups.into_values().collect()
}

impl Ended {
    fn status(&self) -> DeliveryStatus {
        match (self.attempt.outcome, self.next_at) {
            (TryOutcome::Delivered, _) => DeliveryStatus::Delivered,
            (_, Some(_)) => DeliveryStatus::Waiting,
            (_, None) => DeliveryStatus::Dead,
        }
    }

    fn is_over(&self) -> bool {
        self.status() != DeliveryStatus::Waiting
    }

    fn due_at(&self) -> Option<i64> {
        self.next_at.map(Timestamp::ms).filter(|_| !self.is_over())
    }
}

/// Stores the ends of messages that end alike.
async fn store_ends(connection: &impl ConnectionTrait, alike: &[&Ended]) -> Result<(), MainError> {
    let Some(one) = alike.first() else { return Ok(()) };
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(one.status().as_str()))
        .col_expr(Column::Tries, Expr::value(i32::try_from(one.attempt.number).unwrap_or(i32::MAX)))
        .col_expr(Column::DueAt, Expr::value(one.due_at()))
        .col_expr(Column::EndedAt, Expr::value(one.is_over().then(|| one.at.ms())))
        .filter(Column::Id.is_in(alike.iter().map(|ended| ended.delivery)))
        .exec(connection)
        .await?;
    Ok(())
}

/// Makes the next messages due that wait behind those that are over; behind a digest, those about every subject.
async fn release_after(connection: &impl ConnectionTrait, alike: &[&Ended]) -> Result<(), MainError> {
    let over = || alike.iter().filter(|ended| ended.is_over());
    let Some(now) = over().next().map(|ended| ended.at) else { return Ok(()) };
    let channels = Column::ChannelId.is_in(over().map(|ended| ended.channel));
    let subjects = Column::Subject.is_in(over().map(|ended| ended.subject.as_str()));
    let lines = if alike.iter().all(|ended| ended.line == Line::Whole) { Lines::Whole } else { Lines::Own };
    release(connection, (now, lines), |stranded| stranded.filter(channels.and(subjects))).await?;
    let digests: Vec<i64> = over().filter(|ended| ended.is_digest).map(|ended| ended.channel).collect();
    if !digests.is_empty() {
        let of_channels = Column::ChannelId.is_in(digests);
        release(connection, (now, lines), |stranded| stranded.filter(of_channels)).await?;
    }
    Ok(())
}

/// Makes every message due that waits for no other: one that was written while the one before it ended, or is tried anew.
///
/// # Errors
/// When the database fails.
pub async fn release_stranded(connection: &impl ConnectionTrait, now: Timestamp) -> Result<u64, MainError> {
    let mails = || {
        Query::select()
            .column(notification_channel::Column::Id)
            .from(notification_channel::Entity)
            .and_where(notification_channel::Column::Kind.eq(ChannelKind::Email.as_str()))
            .to_owned()
    };
    let of_mails = Column::ChannelId.in_subquery(mails());
    let own = release(connection, (now, Lines::Own), |stranded| stranded.filter(of_mails)).await?;
    let of_others = Column::ChannelId.not_in_subquery(mails());
    Ok(own + release(connection, (now, Lines::Whole), |stranded| stranded.filter(of_others)).await?)
}

/// Which messages wait for each other, of those of a channel about one subject.
#[derive(Clone, Copy)]
enum Lines {
    /// All of them.
    Whole,
    /// Those for the same contact, or for nobody in particular.
    Own,
}

/// Makes those messages due that wait for no other, as far as they are `chosen`.
async fn release(
    connection: &impl ConnectionTrait,
    (now, lines): (Timestamp, Lines),
    chosen: impl FnOnce(UpdateMany<Entity>) -> UpdateMany<Entity>,
) -> Result<u64, MainError> {
    let stranded = Entity::update_many()
        .col_expr(Column::DueAt, due_from(now))
        .filter(Column::EndedAt.is_null())
        .filter(Column::DueAt.is_null())
        .filter(Expr::exists(in_front(InFront::SameSubject(lines))).not())
        .filter(Expr::exists(in_front(InFront::Digest)).not());
    Ok(chosen(stranded).exec(connection).await?.rows_affected)
}

/// What a message waits for.
#[derive(Clone, Copy)]
enum InFront {
    /// A message about the same subject in its line.
    SameSubject(Lines),
    /// A digest.
    Digest,
}

/// The earlier messages of the same channel that have not ended; each of the two is found by an index of its own.
fn in_front(what: InFront) -> SelectStatement {
    let earlier = Alias::new("earlier");
    let contact = || Expr::col((earlier.clone(), Column::ContactId));
    let same_contact = contact()
        .equals((Entity, Column::ContactId))
        .or(contact().is_null().and(Expr::col((Entity, Column::ContactId)).is_null()));
    let same_subject = Expr::col((earlier.clone(), Column::Subject)).equals((Entity, Column::Subject));
    let is_it = match what {
        InFront::SameSubject(Lines::Whole) => same_subject,
        InFront::SameSubject(Lines::Own) => same_subject.and(same_contact),
        InFront::Digest => Expr::col((earlier.clone(), Column::Event)).eq(Event::Digest.as_str()),
    };
    Query::select()
        .expr(Expr::value(1))
        .from_as(Entity, earlier.clone())
        .and_where(Expr::col((earlier.clone(), Column::ChannelId)).equals((Entity, Column::ChannelId)))
        .and_where(is_it)
        .and_where(Expr::col((earlier.clone(), Column::EndedAt)).is_null())
        .and_where(Expr::col((earlier, Column::Id)).lt(Expr::col((Entity, Column::Id))))
        .to_owned()
}

/// Puts off what is due of a channel that takes nothing just now.
///
/// # Errors
/// When the database fails.
pub async fn put_off(
    connection: &impl ConnectionTrait,
    channel: i64,
    until: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(until.ms()))
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::DueAt.lt(until.ms()))
        .exec(connection)
        .await?;
    Ok(())
}

/// Makes everything due that waits for a later try of a channel, but what is held.
///
/// # Errors
/// When the database fails.
pub async fn bring_forward(
    connection: &impl ConnectionTrait,
    channel: i64,
    to: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(to.ms()))
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::DueAt.gt(to.ms()))
        .filter(Condition::any().add(Column::HeldUntil.is_null()).add(Column::HeldUntil.lte(to.ms())))
        .exec(connection)
        .await?;
    Ok(())
}

/// Makes everything due that waits for a later try, of every channel, but what is held: whoever begins to deliver knows of no
/// circuit that is open.
///
/// # Errors
/// When the database fails.
pub async fn bring_all_forward(connection: &impl ConnectionTrait, to: Timestamp) -> Result<u64, MainError> {
    let late = Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(to.ms()))
        .filter(Column::DueAt.gt(to.ms()))
        .filter(Condition::any().add(Column::HeldUntil.is_null()).add(Column::HeldUntil.lte(to.ms())));
    Ok(late.exec(connection).await?.rows_affected)
}

/// Deletes messages that ended before this time, but those about incidents and notices that last still: who was told of one has
/// to be known to its end.
///
/// # Errors
/// When the database fails.
pub async fn forget(connection: &impl ConnectionTrait, ended_before: Timestamp) -> Result<u64, MainError> {
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
    Ok(old.exec(connection).await?.rows_affected)
}

/// The number of messages that wait, and the time at which the oldest of them was written that nothing holds by now.
///
/// # Errors
/// When the database fails.
pub async fn backlog(connection: &impl ConnectionTrait, now: Timestamp) -> Result<Backlog, MainError> {
    let waiting = Entity::find()
        .select_only()
        .column_as(Column::Id.count(), "waiting")
        .column_as(Column::CreatedAt.min(), "oldest")
        .filter(Column::EndedAt.is_null())
        .filter(Condition::any().add(Column::HeldUntil.is_null()).add(Column::HeldUntil.lte(now.ms())));
    let row: Option<(i64, Option<i64>)> = waiting.into_tuple().one(connection).await?;
    let (waiting, oldest) = row.unwrap_or_default();
    Ok(Backlog {
        waiting: u64::try_from(waiting).unwrap_or_default(),
        oldest: oldest.map(Timestamp::from_ms),
    })
}

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Messages.
    pub waiting: u64,
    /// The time at which the oldest of them was written.
    pub oldest: Option<Timestamp>,
}
