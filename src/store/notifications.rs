//! The outbox: messages for channels, written in the transaction of the fact that they report, and the attempts to
//! deliver them.
//!
//! - `outbox`: writes, finds and deletes messages
//! - `courier`: stores results of attempts; handlers of client requests must not use it
//! - `due`: reads due messages, channel by channel
//! - `order`: keeps the order of messages
//! - `holds`: holds messages until the end of quiet hours, or for a digest
//! - `digests`: replaces messages by a digest
//! - `list`: lists messages for clients
//!
//! Of the waiting messages of one channel about one subject, only the first can be due. The next one becomes due when the
//! first has ended. Messages thus arrive in order, and waiting ones cost nothing. Of emails, only those to the same
//! mailbox are kept in order (`lines`).

pub mod courier;
pub mod digests;
pub mod due;
mod finished_try;
pub mod holds;
mod lines;
pub mod list;
pub mod order;
pub mod outbox;

use sea_orm::ActiveValue::{NotSet, Set};
use watchkeeper_entities::notification_delivery::{ActiveModel, Model};
use watchkeeper_entities::notification_try;

use crate::clock::Timestamp;
use crate::model::notification::delivery::{Delivery, DeliveryAttempt, DeliveryStatus};
use crate::model::notification::digest::DeliveryHold;
use crate::store::error::MainError;

fn to_row(delivery: &Delivery) -> Result<ActiveModel, MainError> {
    let unwritable = |problem| MainError::corrupt("notification_delivery", &delivery.id, &problem);
    Ok(ActiveModel {
        id: NotSet,
        public_id: Set(delivery.id.to_string()),
        organisation_id: Set(delivery.organisation),
        channel_id: Set(delivery.channel),
        contact_id: Set(delivery.contact),
        subject: Set(delivery.message.subject_id().to_owned()),
        event: Set(delivery.message.event.to_string()),
        message: Set(serde_json::to_string(&delivery.message).map_err(unwritable)?),
        status: Set(delivery.status.to_string()),
        tries: Set(i32::try_from(delivery.tries).unwrap_or(i32::MAX)),
        created_at: Set(delivery.created_at.ms()),
        expires_at: Set(delivery.expires_at.ms()),
        due_at: Set(delivery.due_at.map(Timestamp::ms)),
        ended_at: Set(delivery.ended_at.map(Timestamp::ms)),
        held_until: Set(delivery.hold.map(|hold| hold.until.ms())),
        held_by: Set(delivery.hold.map(|hold| hold.by.to_string())),
        digest_id: Set(delivery.digest.map(|digest| digest.to_string())),
    })
}

fn from_row(row: &Model) -> Result<Delivery, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("notification_delivery", &row.id, &problem);
    let digest = row.digest_id.as_deref().map(str::parse).transpose();
    Ok(Delivery {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        channel: row.channel_id,
        contact: row.contact_id,
        message: serde_json::from_str(&row.message).map_err(|_| corrupt("its message cannot be read"))?,
        status: row.status.parse::<DeliveryStatus>().map_err(|_| corrupt("unknown status"))?,
        tries: u32::try_from(row.tries).map_err(|_| corrupt("negative number of tries"))?,
        created_at: Timestamp::from_ms(row.created_at),
        expires_at: Timestamp::from_ms(row.expires_at),
        due_at: row.due_at.map(Timestamp::from_ms),
        ended_at: row.ended_at.map(Timestamp::from_ms),
        hold: hold_of(row).ok_or_else(|| corrupt("unknown reason to wait"))?,
        digest: digest.map_err(|_| corrupt("the id of its digest is malformed"))?,
    })
}

/// The reason for holding a message: `Some(None)` if it is not held, `None` if the row cannot be read.
fn hold_of(row: &Model) -> Option<Option<DeliveryHold>> {
    let Some(until) = row.held_until else { return Some(None) };
    let by = row.held_by.as_deref()?.parse().ok()?;
    Some(Some(DeliveryHold { until: Timestamp::from_ms(until), by }))
}

fn to_try_row(delivery: i64, attempt: &DeliveryAttempt) -> notification_try::ActiveModel {
    notification_try::ActiveModel {
        delivery_id: Set(delivery),
        number: Set(i32::try_from(attempt.number).unwrap_or(i32::MAX)),
        at: Set(attempt.at.ms()),
        took_ms: Set(attempt.took_ms),
        outcome: Set(attempt.outcome.to_string()),
        status_code: Set(attempt.status_code.map(i32::from)),
        detail: Set(attempt.detail.clone()),
    }
}

fn from_try_row(row: notification_try::Model) -> Result<DeliveryAttempt, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("notification_try", &row.delivery_id, &problem);
    Ok(DeliveryAttempt {
        number: u32::try_from(row.number).map_err(|_| corrupt("its number is below 0"))?,
        at: Timestamp::from_ms(row.at),
        took_ms: row.took_ms,
        outcome: row.outcome.parse().map_err(|_| corrupt("unknown outcome"))?,
        status_code: row.status_code.and_then(|status| u16::try_from(status).ok()),
        detail: row.detail,
    })
}
