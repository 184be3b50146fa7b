//! Services as the engine and remote locations receive them, of all organisations. Handlers of client requests must not
//! use this module.
//!
//! A service that cannot be read is logged, and its key is returned separately, so that it does not block other services.

use std::collections::{BTreeSet, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::service::{Column, Entity, Model};

use crate::id::Id;
use crate::model::partition::{PARTITIONS, PartitionSet};
use crate::model::service::{Service, ServiceKey};
use crate::store::error::MainError;
use crate::store::organisations;
use crate::store::services::{KEYS_AT_ONCE, from_row};

/// A service with the id of its organisation.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedService {
    /// The service as stored.
    pub service: Service,
    /// Id of the organisation.
    pub organisation: Id,
}

/// A page of services in the order of their keys.
#[derive(Debug, Default)]
pub struct DefinitionPage {
    /// The services that can be read.
    pub services: Vec<OwnedService>,
    /// The keys of the services that cannot be read.
    pub unreadable: Vec<ServiceKey>,
    /// The last key of the page, readable or not; `None` for an empty page.
    pub last: Option<ServiceKey>,
}

impl DefinitionPage {
    /// The keys of all services of the page, including unreadable ones.
    #[must_use]
    pub fn keys(&self) -> HashSet<ServiceKey> {
        let readable = self.services.iter().map(|owned| owned.service.key);
        readable.chain(self.unreadable.iter().copied()).collect()
    }
}

/// The next services of these partitions with keys above `after`, at most `limit`. The engine loads them at its start, and
/// compares itself with them later.
pub async fn page(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    after: ServiceKey,
    limit: u64,
) -> Result<DefinitionPage, MainError> {
    let mut services = Entity::find().filter(Column::Id.gt(after));
    if partitions != PartitionSet::ALL {
        let partition = Expr::col(Column::Id).modulo(i64::from(PARTITIONS));
        services = services.filter(partition.is_in(partitions.iter().map(|some| i64::from(some.number()))));
    }
    let rows = services.order_by_asc(Column::Id).limit(limit).all(&connection).await?;
    readable(connection, rows).await
}

/// The services with these keys. Sent to remote locations after a change.
pub async fn with_keys(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<DefinitionPage, MainError> {
    let mut rows = Vec::new();
    for keys in keys.chunks(KEYS_AT_ONCE) {
        let some = Entity::find().filter(Column::Id.is_in(keys.iter().copied()));
        rows.extend(some.order_by_asc(Column::Id).all(&connection).await?);
    }
    readable(connection, rows).await
}

async fn readable(connection: &dyn StoreConnection, rows: Vec<Model>) -> Result<DefinitionPage, MainError> {
    let owners: BTreeSet<i64> = rows.iter().map(|row| row.organisation_id).collect();
    let ids = organisations::ids(connection, &owners).await?;
    let mut page = DefinitionPage { last: rows.last().map(|row| row.id), ..DefinitionPage::default() };
    for row in rows {
        let key = row.id;
        let organisation = ids.get(&row.organisation_id).copied();
        let organisation = organisation
            .ok_or_else(|| MainError::corrupt("service", &key, &"its organisation cannot be read"));
        let owned =
            organisation.and_then(|organisation| Ok(OwnedService { service: from_row(row)?, organisation }));
        match owned {
            Ok(owned) => page.services.push(owned),
            Err(error) => {
                tracing::error!(%error, "cannot read a service; it is not checked");
                page.unreadable.push(key);
            }
        }
    }
    Ok(page)
}
