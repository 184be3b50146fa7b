//! Messages to subscribers: facts are queued for the subscribers of a page, and due messages are read and ended.
//!
//! A fact is queued in steps of a few hundred rows. The position of a step is stored in the transaction of its rows, so
//! that each subscriber gets a fact once, whenever a process is killed and however many processes try.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, OnConflict, Query};
use sea_orm::{
    ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::subscriber_delivery::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::subscriber_fact_page;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::delivery::{DeliveryStatus, GIVEN_UP_AFTER_MS};
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::PageSubscriber;
use crate::model::subscriber::delivery::SubscriberDelivery;
use crate::store::error::MainError;
use crate::store::subscribers;

/// Number of keys per statement.
const CHUNK: usize = 500;

/// A fact that is not queued for all subscribers of a page yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnqueuedFact {
    /// Database key of the fact.
    pub fact: i64,
    /// Database key of the page.
    pub page: i64,
}

/// Of each page the oldest fact that is not queued for all of its subscribers, for at most `most` pages. Later facts of a page
/// wait for it, so that the messages to a subscriber keep their order.
pub async fn unqueued(connection: &dyn StoreConnection, most: u64) -> Result<Vec<UnqueuedFact>, MainError> {
    use subscriber_fact_page::{Column, Entity};
    let rows: Vec<(i64, i64)> = Entity::find()
        .select_only()
        .column_as(Column::FactId.min(), "fact")
        .column(Column::StatuspageId)
        .filter(Column::QueuePosition.is_not_null())
        .group_by(Column::StatuspageId)
        .order_by_asc(Column::StatuspageId)
        .limit(most)
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(rows.into_iter().map(|(fact, page)| UnqueuedFact { fact, page }).collect())
}

/// The key of the last subscriber for whom the fact was queued, locked until the transaction ends; `None` if the fact is
/// queued for all or no longer exists.
pub async fn lock_position(
    connection: &dyn StoreConnection,
    of: UnqueuedFact,
) -> Result<Option<i64>, MainError> {
    let row = subscriber_fact_page::Entity::find_by_id((of.fact, of.page)).lock_exclusive();
    Ok(row.one(&connection).await?.and_then(|row| row.queue_position))
}

/// Stores how far the fact was queued; `None` = for all subscribers.
pub async fn advance(
    connection: &dyn StoreConnection,
    of: UnqueuedFact,
    position: Option<i64>,
) -> Result<(), MainError> {
    subscriber_fact_page::Entity::update_many()
        .col_expr(subscriber_fact_page::Column::QueuePosition, Expr::value(position))
        .filter(subscriber_fact_page::Column::FactId.eq(of.fact))
        .filter(subscriber_fact_page::Column::StatuspageId.eq(of.page))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Queues a fact for these subscribers.
pub async fn queue_fact(
    connection: &dyn StoreConnection,
    fact: i64,
    subscribers: &[&PageSubscriber],
    now: Timestamp,
) -> Result<(), MainError> {
    for some in subscribers.chunks(CHUNK) {
        let rows = some.iter().map(|subscriber| to_row(subscriber, Some(fact), now));
        let once = OnConflict::columns([Column::SubscriberId, Column::FactId]).do_nothing().to_owned();
        Entity::insert_many(rows).on_conflict(once).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Queues the message that proves the address of a subscriber.
pub async fn queue_proof(
    connection: &dyn StoreConnection,
    subscriber: &PageSubscriber,
    now: Timestamp,
) -> Result<(), MainError> {
    Entity::insert(to_row(subscriber, None, now)).exec_without_returning(&connection).await?;
    Ok(())
}

fn to_row(subscriber: &PageSubscriber, fact: Option<i64>, now: Timestamp) -> ActiveModel {
    ActiveModel {
        id: NotSet,
        public_id: Set(Id::random().to_string()),
        statuspage_id: Set(subscriber.page),
        subscriber_id: Set(subscriber.key),
        fact_id: Set(fact),
        is_mail: Set(subscriber.channel == SubscriberChannel::Email),
        status: Set(DeliveryStatus::Waiting.to_string()),
        tries: Set(0),
        due_at: Set(Some(now.ms())),
        expires_at: Set(now.plus_ms(GIVEN_UP_AFTER_MS).ms()),
        ended_at: Set(None),
        detail: Set(None),
    }
}

/// Keys of the pages that have due messages, mails or others.
pub async fn pages_with_due(
    connection: &dyn StoreConnection,
    is_mail: bool,
    now: Timestamp,
) -> Result<Vec<i64>, MainError> {
    let due = Entity::find()
        .select_only()
        .column(Column::StatuspageId)
        .distinct()
        .filter(Column::DueAt.lte(now.ms()))
        .filter(Column::IsMail.eq(is_mail))
        .order_by_asc(Column::StatuspageId);
    Ok(due.into_tuple().all(&connection).await?)
}

/// The messages of a page to read.
#[derive(Clone, Copy, Debug)]
pub struct DueRequest<'a> {
    /// Database key of the page.
    pub page: i64,
    /// True for mails, false for other messages.
    pub is_mail: bool,
    /// Keys of messages that are being sent.
    pub busy: &'a [i64],
    /// Maximum number of messages.
    pub most: u64,
}

/// The first due messages of a page. Of the messages to one subscriber only the oldest is due.
pub async fn due(
    connection: &dyn StoreConnection,
    request: DueRequest<'_>,
    now: Timestamp,
) -> Result<Vec<SubscriberDelivery>, MainError> {
    let earlier = Alias::new("earlier");
    let of_earlier = |column: Column| Expr::col((earlier.clone(), column));
    let blocked = Query::select()
        .expr(Expr::value(1))
        .from_as(Entity, earlier.clone())
        .and_where(of_earlier(Column::SubscriberId).equals((Entity, Column::SubscriberId)))
        .and_where(of_earlier(Column::EndedAt).is_null())
        .and_where(of_earlier(Column::Id).lt(Expr::col((Entity, Column::Id))))
        .to_owned();
    let rows = Entity::find()
        .filter(Column::StatuspageId.eq(request.page))
        .filter(Column::IsMail.eq(request.is_mail))
        .filter(Column::DueAt.lte(now.ms()))
        .filter(Column::Id.is_not_in(request.busy.iter().copied()))
        .filter(Expr::exists(blocked).not())
        .order_by_asc(Column::DueAt)
        .order_by_asc(Column::Id)
        .limit(request.most)
        .all(&connection)
        .await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.subscriber_id).collect();
    let mut receivers = subscribers::with_keys(connection, &keys).await?;
    rows.iter().filter_map(|row| from_row(row, &mut receivers).transpose()).collect()
}

fn from_row(
    row: &Model,
    receivers: &mut HashMap<i64, PageSubscriber>,
) -> Result<Option<SubscriberDelivery>, MainError> {
    let id = row.public_id.parse();
    let id = id.map_err(|_| MainError::corrupt("subscriber_delivery", &row.id, &"its id is malformed"))?;
    // The subscriber may have been deleted between the two statements.
    let receiver = receivers.remove(&row.subscriber_id);
    Ok(receiver.map(|subscriber| SubscriberDelivery {
        key: row.id,
        id,
        fact: row.fact_id,
        tries: u32::try_from(row.tries).unwrap_or_default(),
        expires_at: Timestamp::from_ms(row.expires_at),
        subscriber,
    }))
}

/// The end of an attempt, for the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// Key of the message.
    pub key: i64,
    /// Status of the message after the attempt.
    pub status: DeliveryStatus,
    /// Number of attempts so far.
    pub tries: u32,
    /// Time of the next attempt; `None` if the message has ended.
    pub next_at: Option<Timestamp>,
    /// The answer or the error.
    pub detail: String,
}

/// Stores the ends of attempts; equal ones with one statement.
pub async fn store_attempts(
    connection: &dyn StoreConnection,
    records: &[AttemptRecord],
    now: Timestamp,
) -> Result<(), MainError> {
    let mut alike: HashMap<_, Vec<i64>> = HashMap::new();
    for record in records {
        let meaning = (record.status, record.tries, record.next_at.map(Timestamp::ms), &record.detail);
        alike.entry(meaning).or_default().push(record.key);
    }
    for ((status, tries, next_at, detail), keys) in alike {
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(status.as_str()))
            .col_expr(Column::Tries, Expr::value(i32::try_from(tries).unwrap_or(i32::MAX)))
            .col_expr(Column::DueAt, Expr::value(next_at))
            .col_expr(Column::EndedAt, Expr::value(next_at.is_none().then(|| now.ms())))
            .col_expr(Column::Detail, Expr::value(detail.as_str()))
            .filter(Column::Id.is_in(keys))
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Gives up the waiting messages to a subscriber.
pub async fn give_up(
    connection: &dyn StoreConnection,
    subscriber: i64,
    now: Timestamp,
) -> Result<(), MainError> {
    end_waiting(now).filter(Column::SubscriberId.eq(subscriber)).exec(&connection).await?;
    Ok(())
}

/// Gives up messages whose time is over; returns their number.
pub async fn give_up_expired(connection: &dyn StoreConnection, now: Timestamp) -> Result<u64, MainError> {
    let expired = end_waiting(now).filter(Column::ExpiresAt.lt(now.ms()));
    Ok(expired.exec(&connection).await?.rows_affected)
}

fn end_waiting(now: Timestamp) -> sea_orm::UpdateMany<Entity> {
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(DeliveryStatus::Dead.as_str()))
        .col_expr(Column::DueAt, Expr::value(None::<i64>))
        .col_expr(Column::EndedAt, Expr::value(now.ms()))
        .filter(Column::EndedAt.is_null())
}

/// Deletes messages that ended before this time; returns their number.
pub async fn forget(connection: &dyn StoreConnection, ended_before: Timestamp) -> Result<u64, MainError> {
    let old = Entity::delete_many().filter(Column::EndedAt.lt(ended_before.ms()));
    Ok(old.exec(&connection).await?.rows_affected)
}
