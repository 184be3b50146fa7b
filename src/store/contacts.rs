//! Contacts. Every finder is scoped by organisation, except the ones by database key.
//!
//! To write a contact, the caller must hold the lock of the organisation, so that its channels are not deleted meanwhile.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::contact::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::notification_delivery;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::contact::{Contact, NamedContact};
use crate::model::notification::delivery::DeliveryStatus;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::quiet_hours::StoredQuietHours;
use crate::store::selected_services::StoredLink;

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The contacts on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    window: PageWindow,
) -> Result<(Vec<Contact>, u64), MainError> {
    let wanted = of_organisation(visibility.organisation());
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    let rows = rows.all(&connection).await?.into_iter().map(from_row);
    Ok((rows.collect::<Result<_, _>>()?, total))
}

/// The contact of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Contact>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// The contacts with these keys, of any organisation.
pub async fn with_keys(connection: &dyn StoreConnection, keys: &[i64]) -> Result<Vec<Contact>, MainError> {
    let mut found = Vec::with_capacity(keys.len());
    for some in keys.chunks(CHUNK) {
        let rows = Entity::find().filter(Column::Id.is_in(some.iter().copied())).all(&connection).await?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// The contacts of an organisation, by id.
pub async fn by_id(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<Id, NamedContact>, MainError> {
    let named = named(connection, of_organisation(organisation)).await?;
    Ok(named.into_iter().map(|contact| (contact.id, contact)).collect())
}

/// Contacts of any organisation, by database key.
pub async fn by_key(
    connection: &dyn StoreConnection,
    keys: impl IntoIterator<Item = i64>,
) -> Result<HashMap<i64, NamedContact>, MainError> {
    let mut keys: Vec<i64> = keys.into_iter().collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found = HashMap::with_capacity(keys.len());
    for some in keys.chunks(CHUNK) {
        let wanted = Entity::find().filter(Column::Id.is_in(some.iter().copied()));
        let named = named(connection, wanted).await?;
        found.extend(named.into_iter().map(|contact| (contact.key, contact)));
    }
    Ok(found)
}

/// Returns the number of contacts of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new contact; its `key` is assigned by the database.
pub async fn insert(connection: &dyn StoreConnection, contact: Contact) -> Result<Contact, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&contact)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Contact { key, ..contact })
}

/// Stores all fields of a changed contact.
pub async fn update(connection: &dyn StoreConnection, contact: &Contact) -> Result<(), MainError> {
    to_row(contact)?.update(&connection).await?;
    Ok(())
}

/// Deletes a contact with its absences, its remaining overrides and its calendar. Its waiting messages become dead;
/// their rows stay, so that the outcome of a running attempt can be stored.
pub async fn delete(connection: &dyn StoreConnection, contact: i64, now: Timestamp) -> Result<(), MainError> {
    notification_delivery::Entity::update_many()
        .col_expr(notification_delivery::Column::Status, Expr::value(DeliveryStatus::Dead.as_str()))
        .col_expr(notification_delivery::Column::EndedAt, Expr::value(now.ms()))
        .col_expr(notification_delivery::Column::DueAt, Expr::value(None::<i64>))
        .filter(notification_delivery::Column::ContactId.eq(contact))
        .filter(notification_delivery::Column::EndedAt.is_null())
        .exec(&connection)
        .await?;
    Entity::delete_by_id(contact).exec(&connection).await?;
    Ok(())
}

/// The contacts of an organisation, oldest first.
pub async fn all(connection: &dyn StoreConnection, organisation: i64) -> Result<Vec<Contact>, MainError> {
    let rows = of_organisation(organisation).order_by_asc(Column::Id).all(&connection).await?;
    rows.into_iter().map(from_row).collect()
}

/// Names of the contacts of an organisation that are notified through this channel.
pub async fn names_of_channel(
    connection: &dyn StoreConnection,
    organisation: i64,
    channel: i64,
) -> Result<Vec<String>, MainError> {
    let all = all(connection, organisation).await?;
    let is_linked = |contact: &Contact| contact.channels.iter().any(|linked| linked.key == channel);
    Ok(all.into_iter().filter(is_linked).map(|contact| contact.name).collect())
}

async fn named(
    connection: &dyn StoreConnection,
    wanted: Select<Entity>,
) -> Result<Vec<NamedContact>, MainError> {
    let wanted = wanted.select_only().columns([Column::Id, Column::PublicId, Column::Name]);
    let rows: Vec<(i64, String, String)> = wanted.into_tuple().all(&connection).await?;
    let read = |(key, id, name): (i64, String, String)| {
        let id = id.parse().map_err(|_| MainError::corrupt("contact", &key, &"its id is malformed"))?;
        Ok(NamedContact { key, id, name })
    };
    rows.into_iter().map(read).collect()
}

fn to_row(contact: &Contact) -> Result<ActiveModel, MainError> {
    let channels = StoredLink::all(&contact.channels);
    let unwritable = |problem| MainError::corrupt("contact", &contact.id, &problem);
    let quiet = contact.quiet.as_ref().map(|quiet| serde_json::to_string(&StoredQuietHours::of(quiet)));
    Ok(ActiveModel {
        id: Set(contact.key),
        public_id: Set(contact.id.to_string()),
        organisation_id: Set(contact.organisation),
        name: Set(contact.name.clone()),
        email: Set(contact.email.clone()),
        time_zone: Set(contact.zone.name().into()),
        language: Set(contact.language.clone()),
        channels: Set(serde_json::to_string(&channels).map_err(unwritable)?),
        quiet_hours: Set(quiet.transpose().map_err(unwritable)?),
        created_at: Set(contact.created_at.ms()),
        updated_at: Set(contact.updated_at.ms()),
    })
}

fn from_row(row: Model) -> Result<Contact, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("contact", &row.id, &problem);
    let channels: Option<Vec<StoredLink>> = serde_json::from_str(&row.channels).ok();
    let quiet = row.quiet_hours.as_deref().map(|quiet| {
        let stored: Option<StoredQuietHours> = serde_json::from_str(quiet).ok();
        stored.and_then(|stored| stored.read()).ok_or_else(|| corrupt("its quiet hours cannot be read"))
    });
    Ok(Contact {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        zone: row.time_zone.parse().map_err(|_| corrupt("unknown time zone"))?,
        channels: channels
            .and_then(StoredLink::read)
            .ok_or_else(|| corrupt("its channels cannot be read"))?,
        quiet: quiet.transpose()?,
        name: row.name,
        email: row.email,
        language: row.language,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
