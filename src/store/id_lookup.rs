//! Finds services and status pages of one organisation by the ids in request bodies and filters, in one query each.
//!
//! Functions named `…_by_id` return keys, for filters. Functions named `…_to_link` also return names, and lock the rows
//! against deletion until the transaction ends, in the order of their keys, so that two transactions that link the same
//! resources do not deadlock. Unknown and foreign ids are missing in the results.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{service, statuspage};

use crate::id::Id;
use crate::model::service::{NamedService, ServiceKey};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::named_services;
use crate::store::owner_filter::is_owned_by;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// A status page to be linked with another resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPage {
    /// Database key.
    pub key: i64,
    /// Public id, used by the API.
    pub id: Id,
    /// Name of the page, by language.
    pub name: TranslatedText,
}

/// The database keys of the visible services with these ids.
pub async fn services_by_id(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    ids: &[Id],
) -> Result<HashMap<Id, ServiceKey>, MainError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let seen = narrowed(service::Entity::find(), ScopedResource::Services, visibility);
    let rows: Vec<(i64, String)> = seen
        .select_only()
        .columns([service::Column::Id, service::Column::PublicId])
        .filter(is_owned_by(service::Column::OrganisationId, visibility.organisation()))
        .filter(service::Column::PublicId.is_in(texts(ids)))
        .into_tuple()
        .all(&connection)
        .await?;
    rows.into_iter().map(|(key, id)| Ok((read_id("service", key, &id)?, key))).collect()
}

/// The visible services with these ids; their rows are locked until the transaction ends.
pub async fn services_to_link(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    ids: &[Id],
) -> Result<HashMap<Id, NamedService>, MainError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let query = narrowed(service::Entity::find(), ScopedResource::Services, visibility)
        .filter(is_owned_by(service::Column::OrganisationId, visibility.organisation()))
        .filter(service::Column::PublicId.is_in(texts(ids)))
        .order_by_asc(service::Column::Id)
        .lock_shared();
    let services = named_services::services(connection, query).await?;
    Ok(services.into_iter().map(|service| (service.id, service)).collect())
}

/// The visible status pages with these ids; their rows are locked until the transaction ends.
pub async fn statuspages_to_link(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    ids: &[Id],
) -> Result<HashMap<Id, LinkedPage>, MainError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let seen = narrowed(statuspage::Entity::find(), ScopedResource::Statuspages, visibility);
    let rows: Vec<(i64, String, String)> = seen
        .select_only()
        .columns([statuspage::Column::Id, statuspage::Column::PublicId, statuspage::Column::Name])
        .filter(is_owned_by(statuspage::Column::OrganisationId, visibility.organisation()))
        .filter(statuspage::Column::PublicId.is_in(texts(ids)))
        .order_by_asc(statuspage::Column::Id)
        .lock_shared()
        .into_tuple()
        .all(&connection)
        .await?;
    let linked = |(key, id, name): (i64, String, String)| {
        let id = read_id("statuspage", key, &id)?;
        let name = TranslatedText::from_stored(&name)
            .map_err(|error| MainError::corrupt("statuspage", &key, &error))?;
        Ok((id, LinkedPage { key, id, name }))
    };
    rows.into_iter().map(linked).collect()
}

fn texts(ids: &[Id]) -> impl Iterator<Item = &str> {
    ids.iter().map(Id::as_str)
}

fn read_id(table: &'static str, key: i64, text: &str) -> Result<Id, MainError> {
    text.parse().map_err(|error| MainError::corrupt(table, &key, &error))
}
