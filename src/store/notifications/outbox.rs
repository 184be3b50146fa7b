//! Writes messages into the outbox, releases those that are held, and deletes those that must not be sent.
//!
//! Who is told what is decided by `lifecycle`. A message that is written takes its place behind earlier ones: about the same
//! subject in its line, or a digest.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_effects::audience::WrittenMessage;
use crate::model::lifecycle_effect::OutgoingMessage;
use crate::model::notification::Event;
use crate::model::notification::digest::Hold;
use crate::store::MainError;
use crate::store::notifications::lines::in_line;
use crate::store::notifications::{holds, to_row};

/// Keys in one statement.
const CHUNK: usize = 1_000;

/// Stores a message. It is not due while an earlier one waits: about the same subject in its line, or a digest.
///
/// # Errors
/// When the database fails.
pub async fn insert(connection: &impl ConnectionTrait, outgoing: OutgoingMessage) -> Result<(), MainError> {
    let OutgoingMessage { mut delivery, line } = outgoing;
    let same = Column::Subject.eq(delivery.message.subject_id());
    // Two searches, each by an index of its own.
    let waits = one_waits(connection, delivery.channel, in_line(line).add(same)).await?
        || a_digest_waits(connection, delivery.channel).await?;
    delivery.due_at = delivery.due_at.filter(|_| !waits);
    Entity::insert(to_row(&delivery)?).exec_without_returning(connection).await?;
    Ok(())
}

/// Returns true if a digest of a channel has not ended.
async fn a_digest_waits(connection: &impl ConnectionTrait, channel: i64) -> Result<bool, MainError> {
    let digests = Condition::all().add(Column::Event.eq(Event::Digest.as_str()));
    one_waits(connection, channel, digests).await
}

async fn one_waits(
    connection: &impl ConnectionTrait,
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
        .one(connection)
        .await?;
    Ok(waiting.is_some())
}

/// The newest message of each event about a subject, for each channel and contact; by channel, each oldest first.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn newest_about(
    connection: &impl ConnectionTrait,
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
        .all(connection)
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
            .all(connection)
            .await?;
        for row in rows {
            found.entry(row.1).or_default().push(to_written(row)?);
        }
    }
    Ok(found)
}

/// Key, channel, contact, event, time, hold, reason, end and tries of a message.
type WrittenRow = (i64, i64, Option<i64>, String, i64, Option<i64>, Option<String>, Option<i64>, i32);

fn to_written(row: WrittenRow) -> Result<WrittenMessage, MainError> {
    let (key, _, contact, event, created_at, held_until, held_by, ended_at, tries) = row;
    let corrupt = |problem: &str| MainError::corrupt("notification_delivery", &key, &problem);
    let hold = match (held_until, held_by) {
        (None, _) => None,
        (Some(until), by) => {
            let by = by.and_then(|by| by.parse().ok()).ok_or_else(|| corrupt("unknown reason to wait"))?;
            Some(Hold { until: Timestamp::from_ms(until), by })
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

/// Deletes the steps of an incident that are held beyond now and were never tried.
///
/// # Errors
/// When the database fails.
pub async fn delete_held_steps(
    connection: &impl ConnectionTrait,
    incident: Id,
    now: Timestamp,
) -> Result<(), MainError> {
    let steps = holds::untried(incident).add(Column::Event.eq(Event::IncidentEscalated.as_str()));
    let held = Entity::delete_many().filter(steps).filter(Column::HeldUntil.gt(now.ms()));
    held.exec(connection).await?;
    Ok(())
}

/// Deletes the messages about a subject of an organisation that are held and were never tried.
///
/// # Errors
/// When the database fails.
pub async fn delete_held(
    connection: &impl ConnectionTrait,
    organisation: i64,
    subject: Id,
) -> Result<(), MainError> {
    let held =
        Entity::delete_many().filter(Column::OrganisationId.eq(organisation)).filter(holds::untried(subject));
    held.exec(connection).await?;
    Ok(())
}
