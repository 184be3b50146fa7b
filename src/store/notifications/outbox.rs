//! Writes messages into the outbox, replaces their contents, and deletes messages that must not be sent.
//!
//! `lifecycle` decides about recipients and contents. A new message is queued behind earlier messages about the same
//! subject in its line, and behind a digest that includes its subject.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_effects::audience::WrittenMessage;
use crate::model::lifecycle_effect::QueuedMessage;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::DeliveryHold;
use crate::model::notification::message::NotificationMessage;
use crate::store::error::MainError;
use crate::store::notifications::lines::in_line;
use crate::store::notifications::{from_row, holds, to_row};

/// Number of keys per statement.
const CHUNK: usize = 1_000;

/// Stores a message. If it must wait for an earlier message about the same subject in its line, or for a digest, it gets
/// no due time.
pub async fn insert(connection: &dyn StoreConnection, outgoing: QueuedMessage) -> Result<(), MainError> {
    let QueuedMessage { mut delivery, line } = outgoing;
    let same = Column::Subject.eq(delivery.message.subject_id());
    // Two queries, so that each can use its own index.
    let waits = one_waits(connection, delivery.channel, in_line(line).add(same)).await?
        || a_digest_waits(connection, &delivery).await?;
    delivery.due_at = delivery.due_at.filter(|_| !waits);
    Entity::insert(to_row(&delivery)?).exec_without_returning(&connection).await?;
    Ok(())
}

/// Returns true if a message must wait for a digest that has not ended: digests are sent one after another, and later
/// messages about a subject follow the digest that includes it. Messages to contacts and of escalation steps never wait
/// for a digest.
async fn a_digest_waits(connection: &dyn StoreConnection, delivery: &Delivery) -> Result<bool, MainError> {
    let digests = Condition::all().add(Column::Event.eq(NotificationEvent::Digest.as_str()));
    let message = &delivery.message;
    match message.event {
        NotificationEvent::Digest => one_waits(connection, delivery.channel, digests).await,
        NotificationEvent::IncidentEscalated => Ok(false),
        _ if delivery.contact.is_some() => Ok(false),
        _ => {
            let tells = Expr::exists(gathered(delivery.channel, message.subject_id()));
            one_waits(connection, delivery.channel, digests.add(tells)).await
        }
    }
}

/// Subquery for the messages about a subject that the digest of the surrounding statement includes.
fn gathered(channel: i64, subject: &str) -> SelectStatement {
    let gathered_alias = Alias::new("told");
    Query::select()
        .expr(Expr::value(1))
        .from_as(Entity, gathered_alias.clone())
        .and_where(Expr::col((gathered_alias.clone(), Column::ChannelId)).eq(channel))
        .and_where(Expr::col((gathered_alias.clone(), Column::Subject)).eq(subject))
        .and_where(Expr::col((gathered_alias, Column::DigestId)).equals((Entity, Column::PublicId)))
        .to_owned()
}

async fn one_waits(
    connection: &dyn StoreConnection,
    channel: i64,
    chosen: Condition,
) -> Result<bool, MainError> {
    let waiting: Option<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::EndedAt.is_null())
        .filter(chosen)
        .limit(1)
        .into_tuple()
        .one(&connection)
        .await?;
    Ok(waiting.is_some())
}

/// The newest message of each event about a subject, for each channel and contact. Grouped by channel, oldest first.
pub async fn newest_about(
    connection: &dyn StoreConnection,
    organisation: i64,
    subject: Id,
) -> Result<HashMap<i64, Vec<WrittenMessage>>, MainError> {
    let newest: Vec<Option<i64>> = Entity::find()
        .select_only()
        .column_as(Column::Id.max(), "newest")
        .filter(Column::Subject.eq(subject.as_str()))
        .filter(Column::OrganisationId.eq(organisation))
        .group_by(Column::ChannelId)
        .group_by(Column::ContactId)
        .group_by(Column::Event)
        .into_tuple()
        .all(&connection)
        .await?;
    let mut keys: Vec<i64> = newest.into_iter().flatten().collect();
    keys.sort_unstable();
    let mut found: HashMap<i64, Vec<WrittenMessage>> = HashMap::new();
    for some in keys.chunks(CHUNK) {
        let rows: Vec<WrittenRow> = Entity::find()
            .select_only()
            .columns([Column::Id, Column::ChannelId, Column::ContactId, Column::Event, Column::CreatedAt])
            .columns([Column::HeldUntil, Column::HeldBy, Column::EndedAt, Column::Tries])
            .filter(Column::Id.is_in(some.iter().copied()))
            .order_by_asc(Column::Id)
            .into_tuple()
            .all(&connection)
            .await?;
        for row in rows {
            found.entry(row.1).or_default().push(to_written(row)?);
        }
    }
    Ok(found)
}

/// Key, channel, contact, event, creation time, hold, reason of the hold, end and number of attempts of a message.
type WrittenRow = (i64, i64, Option<i64>, String, i64, Option<i64>, Option<String>, Option<i64>, i32);

fn to_written(row: WrittenRow) -> Result<WrittenMessage, MainError> {
    let (key, _, contact, event, created_at, held_until, held_by, ended_at, tries) = row;
    let corrupt = |problem: &str| MainError::corrupt("notification_delivery", &key, &problem);
    let hold = match (held_until, held_by) {
        (None, _) => None,
        (Some(until), by) => {
            let by = by.and_then(|by| by.parse().ok()).ok_or_else(|| corrupt("unknown reason to wait"))?;
            Some(DeliveryHold { until: Timestamp::from_ms(until), by })
        }
    };
    Ok(WrittenMessage {
        key,
        contact,
        event: event.parse().map_err(|_| corrupt("unknown event"))?,
        created_at: Timestamp::from_ms(created_at),
        hold,
        is_untouched: ended_at.is_none() && tries == 0,
    })
}

/// Deletes messages of escalation steps of an incident that are still held at `now` and have not been attempted yet.
pub async fn delete_held_steps(
    connection: &dyn StoreConnection,
    incident: Id,
    now: Timestamp,
) -> Result<(), MainError> {
    let steps = holds::untried(incident).add(Column::Event.eq(NotificationEvent::IncidentEscalated.as_str()));
    let held = Entity::delete_many().filter(steps).filter(Column::HeldUntil.gt(now.ms()));
    held.exec(&connection).await?;
    Ok(())
}

/// Replaces the contents of a message if it has not been attempted yet and has not ended.
pub async fn replace_message(
    connection: &dyn StoreConnection,
    delivery: i64,
    message: &NotificationMessage,
) -> Result<(), MainError> {
    let unwritable = |problem| MainError::corrupt("notification_delivery", &delivery, &problem);
    let text = serde_json::to_string(message).map_err(unwritable)?;
    Entity::update_many()
        .col_expr(Column::Message, Expr::value(text))
        .filter(Column::Id.eq(delivery))
        .filter(Column::EndedAt.is_null())
        .filter(Column::Tries.eq(0))
        .exec(&connection)
        .await?;
    Ok(())
}

/// The contents of these messages, by key.
pub async fn messages_of(
    connection: &dyn StoreConnection,
    deliveries: &[i64],
) -> Result<HashMap<i64, NotificationMessage>, MainError> {
    let mut found = HashMap::with_capacity(deliveries.len());
    for some in deliveries.chunks(CHUNK) {
        let rows = Entity::find().filter(Column::Id.is_in(some.iter().copied())).all(&connection).await?;
        for row in rows {
            found.insert(row.id, from_row(&row)?.message);
        }
    }
    Ok(found)
}

/// Deletes held messages of escalation steps of an incident that have not been attempted yet, for a contact in a channel.
/// `None` means messages to the recipients of the channel.
pub async fn delete_held_step(
    connection: &dyn StoreConnection,
    channel: i64,
    contact: Option<i64>,
    incident: Id,
) -> Result<(), MainError> {
    let steps = holds::untried(incident).add(Column::Event.eq(NotificationEvent::IncidentEscalated.as_str()));
    let of_contact = match contact {
        Some(contact) => Column::ContactId.eq(contact),
        None => Column::ContactId.is_null(),
    };
    let held = Entity::delete_many().filter(steps).filter(Column::ChannelId.eq(channel)).filter(of_contact);
    held.exec(&connection).await?;
    Ok(())
}

/// Deletes held messages about a subject of an organisation that have not been attempted yet.
pub async fn delete_held(
    connection: &dyn StoreConnection,
    organisation: i64,
    subject: Id,
) -> Result<(), MainError> {
    let held =
        Entity::delete_many().filter(Column::OrganisationId.eq(organisation)).filter(holds::untried(subject));
    held.exec(&connection).await?;
    Ok(())
}
