//! The order of the messages of a channel: which message waits for which, and which becomes due when another has ended.
//!
//! Messages about one subject are sent one after another within each scope. A digest precedes later messages about its
//! subjects, for its recipients. Messages of escalation steps never wait for a digest.

use std::collections::HashSet;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query, SelectStatement, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect, UpdateMany};
use watchkeeper_entities::notification_channel;
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::notification::delivery::DeliveryStatus;
use crate::model::notification::ordering_scope::OrderingScope;
use crate::model::notification::{ChannelKind, NotificationEvent};
use crate::store::error::MainError;
use crate::store::notifications::finished_try::TryRecord;
use crate::store::notifications::holds::due_from;

/// The scope within which messages of a channel about one subject must stay in order.
#[derive(Clone, Copy)]
enum QueueScope {
    /// All messages of the channel, because they arrive in one place.
    Channel,
    /// Messages to the same contact, or to no contact: used for email channels.
    Mailbox,
}

impl QueueScope {
    const ALL: [Self; 2] = [Self::Channel, Self::Mailbox];

    const fn of(line: OrderingScope) -> Self {
        match line {
            OrderingScope::Whole => Self::Channel,
            OrderingScope::Own(_) => Self::Mailbox,
        }
    }

    /// Condition for the messages of all channels that use this scope.
    fn messages(self) -> SimpleExpr {
        let mails = Query::select()
            .column(notification_channel::Column::Id)
            .from(notification_channel::Entity)
            .and_where(notification_channel::Column::Kind.eq(ChannelKind::Email.as_str()))
            .to_owned();
        match self {
            Self::Channel => Column::ChannelId.not_in_subquery(mails),
            Self::Mailbox => Column::ChannelId.in_subquery(mails),
        }
    }
}

/// Makes the messages due that waited for those of `alike` that have ended. All records must have the same scope.
pub(super) async fn release_after(
    connection: &dyn StoreConnection,
    alike: &[&TryRecord],
) -> Result<(), MainError> {
    let over = || alike.iter().filter(|ended| ended.is_over());
    let Some(first) = over().next() else { return Ok(()) };
    let (now, scope) = (first.at, QueueScope::of(first.line));
    let channels = Column::ChannelId.is_in(over().map(|ended| ended.channel));
    let subjects = Column::Subject.is_in(over().map(|ended| ended.subject.as_str()));
    release(connection, now, scope, |stranded| stranded.filter(channels.and(subjects))).await?;
    let digests: Vec<i64> = over().filter(|ended| ended.is_digest).map(|ended| ended.channel).collect();
    if !digests.is_empty() {
        let of_channels = Column::ChannelId.is_in(digests);
        release(connection, now, scope, |stranded| stranded.filter(of_channels)).await?;
    }
    Ok(())
}

/// Makes all waiting messages without due time due that wait for no other message. There are such messages if one was
/// written while the message before it ended, or is sent again. Returns their number.
pub async fn release_stranded(connection: &dyn StoreConnection, now: Timestamp) -> Result<u64, MainError> {
    let mut released = 0;
    for scope in QueueScope::ALL {
        released += release(connection, now, scope, |stranded| stranded.filter(scope.messages())).await?;
    }
    Ok(released)
}

/// Makes those of the `chosen` messages due that wait for no other message.
async fn release(
    connection: &dyn StoreConnection,
    now: Timestamp,
    scope: QueueScope,
    chosen: impl FnOnce(UpdateMany<Entity>) -> UpdateMany<Entity>,
) -> Result<u64, MainError> {
    let stranded = Entity::update_many()
        .col_expr(Column::DueAt, due_from(now))
        .filter(Column::EndedAt.is_null())
        .filter(Column::DueAt.is_null())
        .filter(Expr::exists(earlier_about_subject(scope)).not())
        .filter(waits_for_digest().not());
    Ok(chosen(stranded).exec(&connection).await?.rows_affected)
}

/// Subquery for messages about the same subject as the message of the surrounding statement, within the same scope.
fn about_subject(other: &Alias, scope: QueueScope) -> SelectStatement {
    let of = |column: Column| Expr::col((other.clone(), column));
    let same = |column: Column| of(column).equals((Entity, column));
    let mut query = Query::select();
    query.expr(Expr::value(1)).from_as(Entity, other.clone());
    query.and_where(same(Column::ChannelId)).and_where(same(Column::Subject));
    if matches!(scope, QueueScope::Mailbox) {
        let for_nobody =
            of(Column::ContactId).is_null().and(Expr::col((Entity, Column::ContactId)).is_null());
        query.and_where(same(Column::ContactId).or(for_nobody));
    }
    query
}

/// Subquery for earlier messages about the same subject that have not ended.
fn earlier_about_subject(scope: QueueScope) -> SelectStatement {
    let earlier = Alias::new("earlier");
    let mut query = about_subject(&earlier, scope);
    query.and_where(Expr::col((earlier.clone(), Column::EndedAt)).is_null());
    query.and_where(Expr::col((earlier, Column::Id)).lt(Expr::col((Entity, Column::Id)))).to_owned()
}

/// Subquery for later messages about the same subject that were delivered.
fn delivered_about_subject(scope: QueueScope) -> SelectStatement {
    let later = Alias::new("later");
    let mut query = about_subject(&later, scope);
    let delivered = DeliveryStatus::Delivered.as_str();
    query.and_where(Expr::col((later.clone(), Column::Status)).eq(delivered));
    query.and_where(Expr::col((later, Column::Id)).gt(Expr::col((Entity, Column::Id)))).to_owned()
}

/// Condition that a message waits for an earlier digest of its channel: the message is a digest itself, or is about a
/// subject that the earlier digest includes.
fn waits_for_digest() -> SimpleExpr {
    let (digest, gathered) = (Alias::new("digest"), Alias::new("gathered"));
    let of_gathered = |column: Column| Expr::col((gathered.clone(), column));
    let tells_subject = Query::select()
        .expr(Expr::value(1))
        .from_as(Entity, gathered.clone())
        .and_where(of_gathered(Column::Subject).equals((Entity, Column::Subject)))
        .and_where(of_gathered(Column::ChannelId).equals((Entity, Column::ChannelId)))
        .and_where(of_gathered(Column::DigestId).equals((digest.clone(), Column::PublicId)))
        .to_owned();
    let is_digest = Expr::col((Entity, Column::Event)).eq(NotificationEvent::Digest.as_str());
    let in_front = Query::select()
        .expr(Expr::value(1))
        .from_as(Entity, digest.clone())
        .and_where(Expr::col((digest.clone(), Column::ChannelId)).equals((Entity, Column::ChannelId)))
        .and_where(Expr::col((digest.clone(), Column::Event)).eq(NotificationEvent::Digest.as_str()))
        .and_where(Expr::col((digest.clone(), Column::EndedAt)).is_null())
        .and_where(Expr::col((digest, Column::Id)).lt(Expr::col((Entity, Column::Id))))
        .and_where(is_digest.or(Expr::exists(tells_subject)))
        .to_owned();
    Expr::col((Entity, Column::ContactId))
        .is_null()
        .and(Expr::col((Entity, Column::Event)).ne(NotificationEvent::IncidentEscalated.as_str()))
        .and(Expr::exists(in_front))
}

/// Due messages that cannot be sent now, because they would arrive out of order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Messages for which an earlier one about the same subject has not ended, because it is being sent again.
    pub too_early: HashSet<i64>,
    /// Messages for which a later one about the same subject was already delivered.
    pub too_late: HashSet<i64>,
}

/// The messages among these that would arrive out of order. Only messages with an earlier attempt can do so.
pub async fn out_of_order(connection: &dyn StoreConnection, keys: &[i64]) -> Result<OutOfOrder, MainError> {
    let mut found = OutOfOrder::default();
    if keys.is_empty() {
        return Ok(found);
    }
    for scope in QueueScope::ALL {
        let such = |condition: SelectStatement| {
            let query = Entity::find().select_only().column(Column::Id);
            query
                .filter(Column::Id.is_in(keys.iter().copied()))
                .filter(scope.messages())
                .filter(Expr::exists(condition))
                .into_tuple::<i64>()
        };
        found.too_early.extend(such(earlier_about_subject(scope)).all(&connection).await?);
        found.too_late.extend(such(delivered_about_subject(scope)).all(&connection).await?);
    }
    Ok(found)
}

/// Removes the due time of these messages, so that they wait until earlier ones have ended.
pub async fn queue_up(connection: &dyn StoreConnection, keys: &HashSet<i64>) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(None::<i64>))
        .filter(Column::Id.is_in(keys.iter().copied()))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Condition for messages for which a later one about the same subject was delivered.
pub(super) fn is_overtaken() -> Condition {
    let of_scope = |scope: QueueScope| scope.messages().and(Expr::exists(delivered_about_subject(scope)));
    Condition::any().add(of_scope(QueueScope::Channel)).add(of_scope(QueueScope::Mailbox))
}
