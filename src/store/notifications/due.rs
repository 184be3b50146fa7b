//! Reads due messages fairly: first the channels that have any, then the next few messages of each channel. A backlog of
//! one organisation thus delays no message of another, and costs nothing while its channel accepts none.
//!
//! A message that cannot be read is logged and left out; it waits until it expires.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryResult, Statement, Value};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::fair_share::{DueMessage, PlacedChannel};
use crate::model::notification::ordering_scope::OrderingScope;
use crate::model::notification::{ChannelKind, NotificationEvent};
use crate::store::error::MainError;
use crate::store::notifications::from_row;

/// Number of channels per statement: each needs up to three selects, of which SQLite joins at most 500.
const CHANNELS: usize = 64;
/// The columns that are read of a due message.
const COLUMNS: &str = "id, channel_id, contact_id, subject, tries, event, held_until, due_at";

/// An enabled channel that has due messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueChannel {
    /// Database key of the channel.
    pub key: i64,
    /// Database key of the organisation.
    pub organisation: i64,
    /// True for an email channel: the messages to each mailbox have their own order.
    pub has_mailboxes: bool,
    /// Time of the last change of the channel by a member.
    pub updated_at: Timestamp,
}

/// At most `most` enabled channels with due messages, in the order of their keys, above the key `after`. The cost depends
/// on the number of channels with waiting messages, not on the number of messages.
pub async fn due_channels(
    connection: &dyn StoreConnection,
    now: Timestamp,
    after: i64,
    most: u64,
) -> Result<Vec<DueChannel>, MainError> {
    let text = "WITH RECURSIVE waiting(channel) AS ( \
        SELECT MIN(channel_id) FROM notification_delivery WHERE due_at IS NOT NULL AND channel_id > $1 \
        UNION ALL SELECT (SELECT MIN(channel_id) FROM notification_delivery \
            WHERE due_at IS NOT NULL AND channel_id > waiting.channel) FROM waiting WHERE waiting.channel IS NOT NULL) \
        SELECT c.id, c.organisation_id, c.kind, c.updated_at FROM waiting \
        JOIN notification_channel c ON c.id = waiting.channel \
        WHERE c.is_enabled AND EXISTS (SELECT 1 FROM notification_delivery d \
            WHERE d.channel_id = waiting.channel AND d.due_at IS NOT NULL AND d.due_at <= $2) LIMIT $3";
    let values: [Value; 3] = [after.into(), now.ms().into(), i64::try_from(most).unwrap_or(i64::MAX).into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    let rows = connection.query_all_raw(statement).await?;
    let channel = |row: &QueryResult| {
        let kind: String = row.try_get_by_index(2)?;
        Ok(DueChannel {
            key: row.try_get_by_index(0)?,
            organisation: row.try_get_by_index(1)?,
            has_mailboxes: kind == ChannelKind::Email.as_str(),
            updated_at: Timestamp::from_ms(row.try_get_by_index(3)?),
        })
    };
    rows.iter().map(channel).collect()
}

impl DueChannel {
    /// The facts about the channel that determine its limits.
    #[must_use]
    pub const fn placed(&self) -> PlacedChannel {
        let Self { key, organisation, has_mailboxes, .. } = *self;
        PlacedChannel { key, organisation, has_mailboxes }
    }
}

/// A request for due messages of one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedMessages {
    /// The channel.
    pub channel: DueChannel,
    /// Selects among the messages of the channel.
    pub selection: MessageSelection,
    /// Keys of messages to skip: they are being sent, or cannot be read.
    pub except: Vec<i64>,
}

/// A selection among the messages of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSelection {
    /// All messages of the channel.
    All,
    /// Messages that have not been attempted yet.
    FirstTries,
    /// Messages of escalation steps.
    Steps,
}

/// The next due messages of each channel, without duplicates. For the selection `All`, up to `most` messages of escalation
/// steps, up to `most` that have not been attempted yet, and up to `most` others, each group longest overdue first.
pub async fn due_messages(
    connection: &dyn StoreConnection,
    now: Timestamp,
    wanted: &[WantedMessages],
    most: u64,
) -> Result<Vec<DueMessage>, MainError> {
    let channels: HashMap<i64, DueChannel> =
        wanted.iter().map(|wanted| (wanted.channel.key, wanted.channel)).collect();
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for some in wanted.chunks(CHANNELS) {
        let parts: Vec<String> = some.iter().flat_map(|wanted| selections(wanted, most)).collect();
        let values: [Value; 1] = [now.ms().into()];
        let backend = connection.get_database_backend();
        let statement = Statement::from_sql_and_values(backend, parts.join(" UNION ALL "), values);
        for row in connection.query_all_raw(statement).await? {
            let channel: i64 = row.try_get_by_index(1)?;
            let Some(channel) = channels.get(&channel) else { continue };
            let message = due_message(&row, channel)?;
            if known.insert(message.key) {
                found.push(message);
            }
        }
    }
    Ok(found)
}

/// The selects that find the requested messages of a channel. Each uses its own index.
fn selections(wanted: &WantedMessages, most: u64) -> Vec<String> {
    let channel = wanted.channel.key;
    let except: Vec<String> = wanted.except.iter().map(i64::to_string).collect();
    let except =
        if except.is_empty() { String::new() } else { format!(" AND id NOT IN ({})", except.join(",")) };
    let of = |chosen: &str, due_at: &str| {
        format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM notification_delivery WHERE channel_id = {channel} AND {chosen} \
             AND {due_at} <= $1{except} ORDER BY {due_at}, id LIMIT {most}) d"
        )
    };
    // The sum keeps the database from using the index by due time: few of its messages are steps.
    let step = format!("event = '{}' AND ended_at IS NULL", NotificationEvent::IncidentEscalated.as_str());
    let first_tries = of("due_at IS NOT NULL AND tries = 0", "due_at");
    match wanted.selection {
        MessageSelection::Steps => vec![of(&step, "due_at + 0")],
        MessageSelection::FirstTries => {
            vec![of(&format!("{step} AND tries = 0"), "due_at + 0"), first_tries]
        }
        MessageSelection::All => {
            vec![of(&step, "due_at + 0"), first_tries, of("due_at IS NOT NULL", "due_at")]
        }
    }
}

fn due_message(row: &QueryResult, channel: &DueChannel) -> Result<DueMessage, MainError> {
    let contact: Option<i64> = row.try_get_by_index(2)?;
    let event: String = row.try_get_by_index(5)?;
    let tries: i32 = row.try_get_by_index(4)?;
    let held_until: Option<i64> = row.try_get_by_index(6)?;
    Ok(DueMessage {
        key: row.try_get_by_index(0)?,
        organisation: channel.organisation,
        channel: channel.key,
        contact,
        line: if channel.has_mailboxes { OrderingScope::Own(contact) } else { OrderingScope::Whole },
        subject: row.try_get_by_index(3)?,
        tries: u32::try_from(tries).unwrap_or_default(),
        is_escalation: event == NotificationEvent::IncidentEscalated.as_str(),
        is_held: held_until.is_some(),
        due_at: Timestamp::from_ms(row.try_get_by_index(7)?),
    })
}

/// At most `most` messages of all channels that have expired at `now` and have been due since `due_before` or longer.
pub async fn expired_messages(
    connection: &dyn StoreConnection,
    now: Timestamp,
    due_before: Timestamp,
    most: u64,
) -> Result<Vec<DueMessage>, MainError> {
    let text = format!(
        "SELECT {COLUMNS}, organisation_id, (SELECT kind FROM notification_channel c WHERE c.id = channel_id) \
         FROM notification_delivery WHERE due_at IS NOT NULL AND due_at <= $1 AND expires_at <= $2 LIMIT $3"
    );
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let values: [Value; 3] = [due_before.ms().into(), now.ms().into(), most.into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    let rows = connection.query_all_raw(statement).await?;
    let message = |row: &QueryResult| {
        let kind: String = row.try_get_by_index(9)?;
        let channel = DueChannel {
            key: row.try_get_by_index(1)?,
            organisation: row.try_get_by_index(8)?,
            has_mailboxes: kind == ChannelKind::Email.as_str(),
            updated_at: now,
        };
        due_message(row, &channel)
    };
    rows.iter().map(message).collect()
}

/// The messages with these keys: the readable ones, and the errors of those that cannot be read.
pub async fn read_messages(
    connection: &dyn StoreConnection,
    keys: &[i64],
) -> Result<(HashMap<i64, Delivery>, HashMap<i64, MainError>), MainError> {
    let rows = Entity::find().filter(Column::Id.is_in(keys.iter().copied())).all(&connection).await?;
    let (mut readable, mut unreadable) = (HashMap::new(), HashMap::new());
    for row in rows {
        match from_row(&row) {
            Ok(delivery) => _ = readable.insert(row.id, delivery),
            Err(error) => _ = unreadable.insert(row.id, error),
        }
    }
    Ok((readable, unreadable))
}
