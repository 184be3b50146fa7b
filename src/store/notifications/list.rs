//! The outbox as clients see it: messages with their attempts.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use watchkeeper_entities::notification_delivery::{Column, Entity};
use watchkeeper_entities::notification_try;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::{Delivery, DeliveryAttempt, DeliveryStatus, GIVEN_UP_AFTER_MS};
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::notifications::order::{is_overtaken, release_stranded};
use crate::store::notifications::{from_row, from_try_row};

/// Filter for a list of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxFilter {
    /// Only messages with one of these statuses; empty = all.
    pub statuses: Vec<DeliveryStatus>,
    /// Only messages about one of these events; empty = all.
    pub events: Vec<NotificationEvent>,
    /// Only messages of the channel with this key.
    pub channel: Option<i64>,
    /// Only messages about the subject with this id.
    pub subject: Option<Id>,
    /// Only messages with a smaller key, which were written earlier.
    pub before: Option<i64>,
}

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The newest messages that match the filter, newest first. A message that cannot be read is logged and left out.
pub async fn page(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    wanted: &OutboxFilter,
    limit: u64,
) -> Result<Vec<Delivery>, MainError> {
    let mut query = of_organisation(visibility.organisation());
    if !wanted.statuses.is_empty() {
        query = query.filter(Column::Status.is_in(wanted.statuses.iter().map(|status| status.as_str())));
    }
    if !wanted.events.is_empty() {
        query = query.filter(Column::Event.is_in(wanted.events.iter().map(|event| event.as_str())));
    }
    if let Some(channel) = wanted.channel {
        query = query.filter(Column::ChannelId.eq(channel));
    }
    if let Some(subject) = &wanted.subject {
        query = query.filter(Column::Subject.eq(subject.as_str()));
    }
    if let Some(before) = wanted.before {
        query = query.filter(Column::Id.lt(before));
    }
    let rows = query.order_by_desc(Column::Id).limit(limit).all(&connection).await?;
    let readable = |row| match from_row(row) {
        Ok(delivery) => Some(delivery),
        Err(error) => {
            tracing::warn!(%error, "cannot read a message; it is left out of the list");
            None
        }
    };
    Ok(rows.iter().filter_map(readable).collect())
}

/// The message of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Delivery>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// The attempts to deliver these messages, by key of the message, first attempt first. An attempt that was stored after a
/// message was read is left out, so that attempts and message agree.
pub async fn attempts(
    connection: &dyn StoreConnection,
    deliveries: &[Delivery],
) -> Result<HashMap<i64, Vec<DeliveryAttempt>>, MainError> {
    let known: HashMap<i64, u32> = deliveries.iter().map(|delivery| (delivery.key, delivery.tries)).collect();
    let rows = notification_try::Entity::find()
        .filter(notification_try::Column::DeliveryId.is_in(known.keys().copied()))
        .order_by_asc(notification_try::Column::Number)
        .all(&connection)
        .await?;
    let mut tries: HashMap<i64, Vec<DeliveryAttempt>> = HashMap::new();
    for row in rows {
        let delivery = row.delivery_id;
        let attempt = from_try_row(row)?;
        if known.get(&delivery).is_some_and(|known| attempt.number <= *known) {
            tries.entry(delivery).or_default().push(attempt);
        }
    }
    Ok(tries)
}

/// Makes dead messages wait again, with a day until they expire. A message is skipped if a later one about the same
/// subject was delivered, because it would arrive as the newest. Returns the number of messages.
pub async fn redeliver(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    chosen: RedeliverySelection,
    now: Timestamp,
) -> Result<u64, MainError> {
    let mut dead = Entity::update_many()
        .col_expr(Column::Status, Expr::value(DeliveryStatus::Waiting.as_str()))
        .col_expr(Column::DueAt, Expr::value(None::<i64>))
        .col_expr(Column::EndedAt, Expr::value(None::<i64>))
        .col_expr(Column::HeldUntil, Expr::value(None::<i64>))
        .col_expr(Column::HeldBy, Expr::value(None::<String>))
        .col_expr(Column::ExpiresAt, Expr::value(now.plus_ms(GIVEN_UP_AFTER_MS).ms()))
        .filter(Column::OrganisationId.eq(visibility.organisation()))
        .filter(Column::Status.eq(DeliveryStatus::Dead.as_str()))
        .filter(is_overtaken().not());
    dead = match chosen {
        RedeliverySelection::One(key) => dead.filter(Column::Id.eq(key)),
        RedeliverySelection::OfChannel(key) => dead.filter(Column::ChannelId.eq(key)),
        RedeliverySelection::All => dead,
    };
    let chosen = dead.exec(&connection).await?.rows_affected;
    release_stranded(connection, now).await?;
    Ok(chosen)
}

/// The dead messages to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedeliverySelection {
    /// The message with this key.
    One(i64),
    /// All dead messages of the channel with this key.
    OfChannel(i64),
    /// All dead messages of the organisation.
    All,
}
