//! The maintenances that cover a service that is about to be deleted.
//!
//! Locks are always taken on the maintenance before its services, so [`lock_of`] must precede the lock on the service.

use std::collections::HashSet;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait as _};
use watchkeeper_entities::maintenance::{Column, Entity};
use watchkeeper_entities::maintenance_service::{Column as Link, Entity as Links};

use crate::model::maintenance::Maintenance;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::maintenances::from_row;

/// A maintenance that covers the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedMaintenance {
    /// The stored maintenance.
    pub maintenance: Maintenance,
    /// True if the maintenance also covers other services.
    pub is_shared: bool,
}

/// Locks the maintenances that cover the service until the transaction ends.
pub async fn lock_of(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    let linked = Links::find()
        .select_only()
        .column(Link::MaintenanceId)
        .filter(Link::ServiceId.eq(service))
        .into_query();
    let _: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::Id.in_subquery(linked))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(())
}

/// The maintenances that cover a service, in the order of their keys.
pub async fn linked(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<Vec<LinkedMaintenance>, MainError> {
    let mine = || Links::find().select_only().column(Link::MaintenanceId).filter(Link::ServiceId.eq(service));
    let rows = Entity::find()
        .filter(Column::Id.in_subquery(mine().into_query()))
        .order_by_asc(Column::Id)
        .all(&connection)
        .await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let shared: Vec<i64> = Links::find()
        .select_only()
        .column(Link::MaintenanceId)
        .distinct()
        .filter(Link::MaintenanceId.in_subquery(mine().into_query()))
        .filter(Link::ServiceId.ne(service))
        .into_tuple()
        .all(&connection)
        .await?;
    let shared: HashSet<i64> = shared.into_iter().collect();
    let read = |row: &watchkeeper_entities::maintenance::Model| {
        Ok(LinkedMaintenance { maintenance: from_row(row)?, is_shared: shared.contains(&row.id) })
    };
    rows.iter().map(read).collect()
}

/// Removes a service from all maintenances that cover it.
pub async fn unlink(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    Links::delete_many().filter(Link::ServiceId.eq(service)).exec(&connection).await?;
    Ok(())
}
