//! Finds status pages for visitors: by their address, in all organisations.

use std::collections::HashSet;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::custom_domain;
use watchkeeper_entities::statuspage::{Column, Entity};

use super::row::from_row;
use crate::model::domain::DomainStatus;
use crate::model::statuspage::Statuspage;
use crate::store::error::MainError;

/// The page with this slug, published or not.
pub async fn by_slug(connection: &dyn StoreConnection, slug: &str) -> Result<Option<Statuspage>, MainError> {
    Entity::find().filter(Column::Slug.eq(slug)).one(&connection).await?.map(from_row).transpose()
}

/// The slugs of the pages of all organisations, in alphabetical order, at most `most`.
pub async fn slugs(connection: &dyn StoreConnection, most: u64) -> Result<Vec<String>, MainError> {
    let slugs = Entity::find().select_only().column(Column::Slug).order_by_asc(Column::Slug).limit(most);
    Ok(slugs.into_tuple::<String>().all(&connection).await?)
}

/// The page with this key, published or not.
pub async fn by_key(connection: &dyn StoreConnection, key: i64) -> Result<Option<Statuspage>, MainError> {
    Entity::find_by_id(key).one(&connection).await?.map(from_row).transpose()
}

/// The page to which this host name leads as an active custom domain, published or not.
pub async fn by_domain(
    connection: &dyn StoreConnection,
    hostname: &str,
) -> Result<Option<Statuspage>, MainError> {
    let active = custom_domain::Entity::find()
        .filter(custom_domain::Column::Hostname.eq(hostname))
        .filter(custom_domain::Column::Status.eq(DomainStatus::Active.as_str()));
    match active.one(&connection).await? {
        Some(domain) => {
            Entity::find_by_id(domain.statuspage_id).one(&connection).await?.map(from_row).transpose()
        }
        None => Ok(None),
    }
}

/// The host names of the active custom domains of all organisations.
pub async fn active_hosts(connection: &dyn StoreConnection) -> Result<HashSet<String>, MainError> {
    let hosts = custom_domain::Entity::find()
        .select_only()
        .column(custom_domain::Column::Hostname)
        .filter(custom_domain::Column::Status.eq(DomainStatus::Active.as_str()))
        .into_tuple::<String>();
    Ok(hosts.all(&connection).await?.into_iter().collect())
}
