//! One message instead of many: what waits for a digest of a channel becomes one, in one transaction.
//!
//! A digest is in front of everything that is written for its channel after it, so that what follows about an incident comes
//! after what the digest told of it.

use std::collections::HashSet;

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::delivery::{Delivery, DeliveryStatus};
use crate::model::notification::digest::HeldBy;
use crate::model::notification::gathered::{Gathered, digest};
use crate::model::notification::message::{Message, Subject};
use crate::model::notification::{Channel, Event};
use crate::store::notifications::outbox::{a_digest_waits, new};
use crate::store::notifications::{from_row, to_row};
use crate::store::{MainError, organisations};

/// Most messages of a digest; the others become the next one.
const MOST: u64 = 2_000;
/// Rows in one statement.
const CHUNK: usize = 500;

/// Makes a digest of what waits for one in a channel and is due, if there are enough messages; those about `busy` subjects are
/// under way. Returns true if it made one.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn gather(
    connection: &impl ConnectionTrait,
    channel: &Channel,
    busy: &[String],
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(connection, channel.organisation).await?;
    let Some(organisation) = organisations::get(connection, channel.organisation).await? else {
        return Ok(false);
    };
    let Some(most) = channel.routing.digest_above else { return Ok(false) };
    let held = held(connection, channel.key, busy, now).await?;
    let of = |by: HeldBy| held.iter().filter(move |held| held.hold.is_some_and(|hold| hold.by == by)).count();
    let is_enough =
        of(HeldBy::Digest) > 1 || of(HeldBy::QuietHours) > usize::try_from(most).unwrap_or(usize::MAX);
    if !is_enough {
        return Ok(false);
    }
    let id = Id::random();
    let gathered: Vec<Gathered<'_>> =
        held.iter().map(|held| Gathered { id: held.id, message: &held.message }).collect();
    let message = Message {
        event: Event::Digest,
        at: now.ms(),
        organisation: organisation.name,
        subject: Subject::Digest(digest(id, &gathered)),
    };
    let delivery = Delivery { id, ..new(channel.key, channel.organisation, message, now) };
    // One digest after the other.
    let due_at = if a_digest_waits(connection, channel.key).await? { None } else { delivery.due_at };
    let row = to_row(&Delivery { due_at, ..delivery })?;
    Entity::insert(row).exec_without_returning(connection).await?;
    let keys: Vec<i64> = held.iter().map(|held| held.key).collect();
    end(connection, &keys, id, now).await?;
    Ok(true)
}

/// What waits and is due by now, with what waits behind it; but nothing behind a message that is not held.
async fn held(
    connection: &impl ConnectionTrait,
    channel: i64,
    busy: &[String],
    now: Timestamp,
) -> Result<Vec<Delivery>, MainError> {
    let unended = || Entity::find().filter(Column::ChannelId.eq(channel)).filter(Column::EndedAt.is_null());
    // What a contact is told by itself is never gathered.
    let waiting = || unended().filter(Column::ContactId.is_null());
    let free: Vec<String> = waiting()
        .select_only()
        .column(Column::Subject)
        .distinct()
        .filter(Column::HeldUntil.is_null())
        .into_tuple()
        .all(connection)
        .await?;
    let left_alone: HashSet<&str> = free.iter().chain(busy).map(String::as_str).collect();
    let due = waiting().filter(Column::HeldUntil.lte(now.ms())).order_by_asc(Column::Id).limit(MOST);
    let rows = due.all(connection).await?;
    let chosen = rows.iter().filter(|row| !left_alone.contains(row.subject.as_str()));
    chosen.map(from_row).collect()
}

/// These messages are told by the digest.
async fn end(
    connection: &impl ConnectionTrait,
    keys: &[i64],
    digest: Id,
    now: Timestamp,
) -> Result<(), MainError> {
    for some in keys.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(DeliveryStatus::Gathered.as_str()))
            .col_expr(Column::DueAt, Expr::value(None::<i64>))
            .col_expr(Column::EndedAt, Expr::value(now.ms()))
            .col_expr(Column::DigestId, Expr::value(digest.as_str()))
            .filter(Column::Id.is_in(some.iter().copied()))
            .exec(connection)
            .await?;
    }
    Ok(())
}
