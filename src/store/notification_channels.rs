//! Notification channels. Finders are scoped by organisation unless they say otherwise.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait as _, Select,
};
use serde::{Deserialize, Serialize};
use watchkeeper_entities::notification_channel::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::tag;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::routing::ChannelRouting;
use crate::model::notification::{ChannelKind, NotificationChannel, NotificationEvent};
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::quiet_hours::StoredQuietHours;
use crate::store::selected_services::StoredServices;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The channels on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    window: PageWindow,
) -> Result<(Vec<NotificationChannel>, u64), MainError> {
    let wanted = of_organisation(visibility.organisation());
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    Ok((read_all(rows.all(&connection).await?)?, total))
}

/// The channel of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<NotificationChannel>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// The enabled channels of an organisation, oldest first.
pub async fn enabled(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<NotificationChannel>, MainError> {
    let wanted = of_organisation(organisation).filter(Column::IsEnabled.eq(true));
    read_all(wanted.order_by_asc(Column::Id).all(&connection).await?)
}

/// Keys of the organisations with an enabled channel that is subscribed to this event.
pub async fn wanting(
    connection: &dyn StoreConnection,
    event: NotificationEvent,
) -> Result<Vec<i64>, MainError> {
    let wanted = Entity::find()
        .select_only()
        .column(Column::OrganisationId)
        .distinct()
        .filter(Column::IsEnabled.eq(true))
        .filter(Column::Routing.contains(format!("\"{event}\"")))
        .order_by_asc(Column::OrganisationId);
    Ok(wanted.into_tuple().all(&connection).await?)
}

/// The channels with these keys, of any organisation. For the courier.
pub async fn with_keys(
    connection: &dyn StoreConnection,
    keys: &[i64],
) -> Result<Vec<NotificationChannel>, MainError> {
    read_all(Entity::find().filter(Column::Id.is_in(keys.iter().copied())).all(&connection).await?)
}

/// The enabled channels of a kind, of any organisation: at most `limit`, in the order of their keys, above the key
/// `after`.
pub async fn enabled_of_kind(
    connection: &dyn StoreConnection,
    kind: ChannelKind,
    after: i64,
    limit: u64,
) -> Result<Vec<NotificationChannel>, MainError> {
    let wanted = Entity::find()
        .filter(Column::Kind.eq(kind.as_str()))
        .filter(Column::IsEnabled.eq(true))
        .filter(Column::Id.gt(after))
        .order_by_asc(Column::Id)
        .limit(limit);
    read_all(wanted.all(&connection).await?)
}

/// The database keys of the channels of an organisation, by id.
pub async fn keys(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<Id, i64>, MainError> {
    let wanted = of_organisation(organisation).select_only().column(Column::PublicId).column(Column::Id);
    let rows: Vec<(String, i64)> = wanted.into_tuple().all(&connection).await?;
    let corrupt = |key: &i64| MainError::corrupt("notification_channel", key, &"its id is malformed");
    rows.into_iter().map(|(id, key)| Ok((id.parse().map_err(|_| corrupt(&key))?, key))).collect()
}

/// Returns the number of channels of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new channel; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    channel: NotificationChannel,
) -> Result<NotificationChannel, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&channel)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(NotificationChannel { key, ..channel })
}

/// Stores all fields of a changed channel.
pub async fn update(
    connection: &dyn StoreConnection,
    channel: &NotificationChannel,
) -> Result<(), MainError> {
    to_row(channel)?.update(&connection).await?;
    Ok(())
}

/// Deletes a channel. Foreign keys delete its messages and their attempts as well.
pub async fn delete(connection: &dyn StoreConnection, channel: i64) -> Result<(), MainError> {
    Entity::delete_by_id(channel).exec(&connection).await?;
    Ok(())
}

/// Names of the channels that select services by this tag.
pub(super) async fn names_of_tag(
    connection: &dyn StoreConnection,
    tag: i64,
) -> Result<Vec<String>, MainError> {
    let owner = tag::Entity::find()
        .select_only()
        .column(tag::Column::OrganisationId)
        .filter(tag::Column::Id.eq(tag))
        .into_query();
    let wanted = Entity::find().filter(Column::OrganisationId.in_subquery(owner));
    let all = read_all(wanted.order_by_asc(Column::Id).all(&connection).await?)?;
    let named = all.into_iter().filter(|channel| {
        let chosen = channel.routing.selection.as_ref();
        chosen.is_some_and(|chosen| chosen.tags.iter().any(|routed| routed.key == tag))
    });
    Ok(named.map(|channel| channel.name).collect())
}

/// Stored form of `ChannelRouting`.
#[derive(Serialize, Deserialize)]
struct StoredRouting {
    events: Vec<String>,
    /// Events that earlier versions do not know. Earlier versions ignore this member, so they can still read the channel
    /// while the nodes of a cluster are upgraded one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added_events: Vec<String>,
    min_severity: String,
    selection: Option<StoredServices>,
    #[serde(default)]
    quiet: Option<StoredQuietHours>,
    #[serde(default)]
    digest_above: Option<u32>,
}

/// The events that are stored in `added_events`.
const ADDED_EVENTS: [NotificationEvent; 3] = [
    NotificationEvent::IncidentServiceJoined,
    NotificationEvent::IncidentWorsened,
    NotificationEvent::IncidentServiceRecovered,
];

fn to_stored(routing: &ChannelRouting) -> StoredRouting {
    let is_added = |event: &&NotificationEvent| ADDED_EVENTS.contains(event);
    let (added, events): (Vec<&NotificationEvent>, Vec<&NotificationEvent>) =
        routing.events.iter().partition(is_added);
    let words = |events: Vec<&NotificationEvent>| events.into_iter().map(ToString::to_string).collect();
    StoredRouting {
        events: words(events),
        added_events: words(added),
        min_severity: routing.min_severity.to_string(),
        selection: routing.selection.as_ref().map(StoredServices::of),
        quiet: routing.quiet.as_ref().map(StoredQuietHours::of),
        digest_above: routing.digest_above,
    }
}

fn from_stored(stored: StoredRouting) -> Option<ChannelRouting> {
    let words = stored.events.iter().chain(&stored.added_events);
    let known: Option<Vec<NotificationEvent>> = words.map(|word| word.parse().ok()).collect();
    let known = known?;
    let events = NotificationEvent::CHOICE.into_iter().filter(|event| known.contains(event)).collect();
    let selection = match stored.selection {
        Some(chosen) => Some(chosen.read()?),
        None => None,
    };
    let quiet = match stored.quiet {
        Some(quiet) => Some(quiet.read()?),
        None => None,
    };
    Some(ChannelRouting {
        events,
        min_severity: stored.min_severity.parse().ok()?,
        selection,
        quiet,
        digest_above: stored.digest_above,
    })
}

fn to_row(channel: &NotificationChannel) -> Result<ActiveModel, MainError> {
    let unwritable = |problem| MainError::corrupt("notification_channel", &channel.id, &problem);
    Ok(ActiveModel {
        id: Set(channel.key),
        public_id: Set(channel.id.to_string()),
        organisation_id: Set(channel.organisation),
        kind: Set(channel.kind.to_string()),
        name: Set(channel.name.clone()),
        is_enabled: Set(channel.is_enabled),
        settings: Set(serde_json::to_string(&channel.settings).map_err(unwritable)?),
        routing: Set(serde_json::to_string(&to_stored(&channel.routing)).map_err(unwritable)?),
        created_at: Set(channel.created_at.ms()),
        updated_at: Set(channel.updated_at.ms()),
    })
}

/// The channels with these keys, of any organisation. A channel that cannot be read is logged and left out, so that it
/// does not block others.
pub async fn readable_with_keys(
    connection: &dyn StoreConnection,
    keys: &[i64],
) -> Result<Vec<NotificationChannel>, MainError> {
    let rows = Entity::find().filter(Column::Id.is_in(keys.iter().copied())).all(&connection).await?;
    let readable = |row| match from_row(row) {
        Ok(channel) => Some(channel),
        Err(error) => {
            tracing::error!(%error, "cannot read a notification channel; nothing is sent through it");
            None
        }
    };
    Ok(rows.into_iter().filter_map(readable).collect())
}

fn read_all(rows: Vec<Model>) -> Result<Vec<NotificationChannel>, MainError> {
    rows.into_iter().map(from_row).collect()
}

fn from_row(row: Model) -> Result<NotificationChannel, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("notification_channel", &row.id, &problem);
    let routing: Option<StoredRouting> = serde_json::from_str(&row.routing).ok();
    Ok(NotificationChannel {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        is_enabled: row.is_enabled,
        settings: serde_json::from_str(&row.settings)
            .map_err(|_| corrupt("its settings are not an object"))?,
        routing: routing.and_then(from_stored).ok_or_else(|| corrupt("its routing cannot be read"))?,
        name: row.name,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
