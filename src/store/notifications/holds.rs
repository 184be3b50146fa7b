//! Messages that are held until the end of quiet hours, or for a digest: reads the facts that decide about holds, and
//! releases messages.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::{Delivery, GIVEN_UP_AFTER_MS};
use crate::model::notification::digest::{DeliveryHold, HoldReason, RecentMessages, WINDOW_MS};
use crate::model::notification::ordering_scope::OrderingScope;
use crate::store::error::MainError;
use crate::store::notifications::from_row;
use crate::store::notifications::lines::in_line;

/// Number of keys per statement.
const CHUNK: usize = 1_000;

/// Returns whether a channel got at least `most` messages within `WINDOW_MS` before `now`, and in this case the due time
/// of its digest.
pub async fn recent(
    connection: &dyn StoreConnection,
    channel: i64,
    most: u32,
    now: Timestamp,
) -> Result<RecentMessages, MainError> {
    if !are_more_recent(connection, channel, now.plus_ms(-WINDOW_MS), most).await? {
        return Ok(RecentMessages::default());
    }
    Ok(RecentMessages { are_many: true, digest_at: digest_due(connection, channel, now).await? })
}

/// Returns true if at least `most` messages were written for a channel after `since`; digests do not count.
async fn are_more_recent(
    connection: &dyn StoreConnection,
    channel: i64,
    since: Timestamp,
    most: u32,
) -> Result<bool, MainError> {
    let recent: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::CreatedAt.gt(since.ms()))
        .filter(Column::Event.ne(NotificationEvent::Digest.as_str()))
        .limit(u64::from(most))
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(recent.len() >= usize::try_from(most).unwrap_or(usize::MAX))
}

/// The time at which the next digest of a channel is due; `None` if no message is held for one.
async fn digest_due(
    connection: &dyn StoreConnection,
    channel: i64,
    now: Timestamp,
) -> Result<Option<Timestamp>, MainError> {
    let first: Option<Option<i64>> = Entity::find()
        .select_only()
        .column_as(Column::HeldUntil.min(), "first")
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::HeldBy.eq(HoldReason::Digest.as_str()))
        .filter(Column::HeldUntil.gt(now.ms()))
        .filter(Column::EndedAt.is_null())
        .into_tuple()
        .one(&connection)
        .await?;
    Ok(first.flatten().map(Timestamp::from_ms))
}

/// Releases the held messages of a channel within an ordering scope: all of them, or only those about one subject.
pub async fn release_line(
    connection: &dyn StoreConnection,
    channel: i64,
    line: OrderingScope,
    subject: Option<&str>,
    now: Timestamp,
) -> Result<(), MainError> {
    let held = || {
        let held = held().filter(Column::ChannelId.eq(channel)).filter(in_line(line));
        subject.into_iter().fold(held, |held, subject| held.filter(Column::Subject.eq(subject)))
    };
    release_held(connection, held, now).await
}

/// The recipient of held messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldRecipient {
    /// All recipients of the channel with this key; messages for contacts are not included.
    Channel(i64),
    /// The contact with this key.
    Contact(i64),
}

/// Held messages for a recipient that have not been attempted yet, in the order of their keys, above the key `after`.
pub async fn held_untried(
    connection: &dyn StoreConnection,
    held_for: HoldRecipient,
    after: i64,
    limit: u64,
) -> Result<Vec<Delivery>, MainError> {
    let wanted = match held_for {
        HoldRecipient::Channel(key) => Column::ChannelId.eq(key).and(Column::ContactId.is_null()),
        HoldRecipient::Contact(key) => Column::ContactId.eq(key),
    };
    let rows = Entity::find()
        .filter(wanted)
        .filter(Column::HeldUntil.is_not_null())
        .filter(Column::EndedAt.is_null())
        .filter(Column::Tries.eq(0))
        .filter(Column::Id.gt(after))
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(&connection)
        .await?;
    rows.iter().map(from_row).collect()
}

/// The keys of the messages of all organisations that are held beyond this time.
pub async fn held_beyond(connection: &dyn StoreConnection, until: Timestamp) -> Result<Vec<i64>, MainError> {
    let held = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::HeldUntil.gt(until.ms()))
        .filter(Column::EndedAt.is_null());
    Ok(held.into_tuple().all(&connection).await?)
}

/// Sets the hold of messages. A message that is not delivered is given up one day after the hold ends.
pub async fn set_hold(
    connection: &dyn StoreConnection,
    deliveries: &[i64],
    hold: DeliveryHold,
) -> Result<(), MainError> {
    for some in deliveries.chunks(CHUNK) {
        let these = || Entity::update_many().filter(Column::Id.is_in(some.iter().copied()));
        // Only messages with a due time get a new one: a message that waits behind another has none.
        let due = these().col_expr(Column::DueAt, Expr::value(hold.until.ms()));
        due.filter(Column::DueAt.is_not_null()).exec(&connection).await?;
        these()
            .col_expr(Column::HeldUntil, Expr::value(hold.until.ms()))
            .col_expr(Column::HeldBy, Expr::value(hold.by.as_str()))
            .col_expr(Column::ExpiresAt, Expr::value(hold.until.plus_ms(GIVEN_UP_AFTER_MS).ms()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}

fn held() -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::HeldUntil.is_not_null()).filter(Column::EndedAt.is_null())
}

async fn release_held(
    connection: &dyn StoreConnection,
    held: impl Fn() -> UpdateMany<Entity>,
    now: Timestamp,
) -> Result<(), MainError> {
    let due = held().col_expr(Column::DueAt, Expr::value(now.ms()));
    due.filter(Column::DueAt.gt(now.ms())).exec(&connection).await?;
    let free = held()
        .col_expr(Column::HeldUntil, Expr::value(None::<i64>))
        .col_expr(Column::HeldBy, Expr::value(None::<String>));
    free.exec(&connection).await?;
    Ok(())
}

/// Condition for held messages about a subject that have not been attempted yet.
pub(super) fn untried(subject: Id) -> Condition {
    Condition::all()
        .add(Column::Subject.eq(subject.as_str()))
        .add(Column::HeldUntil.is_not_null())
        .add(Column::EndedAt.is_null())
        .add(Column::Tries.eq(0))
}

/// The due time of a message that waits for no other message: now, or the end of its hold.
pub(super) fn due_from(now: Timestamp) -> sea_orm::sea_query::SimpleExpr {
    let held = Expr::col((Entity, Column::HeldUntil));
    Expr::case(held.clone().gt(now.ms()), held).finally(now.ms()).into()
}
