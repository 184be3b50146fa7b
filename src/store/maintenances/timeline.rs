//! Timelines of maintenances, oldest entry first.

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::maintenance_update::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::maintenance::transition::NewTimelineEntry;
use crate::model::maintenance::{MaintenanceKey, MaintenanceTimelineEntry};
use crate::model::translated_text::TranslatedText;
use crate::store::error::MainError;

/// Adds entries in this order and returns their new ids.
pub async fn add(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    entries: &[NewTimelineEntry],
) -> Result<Vec<Id>, MainError> {
    let mut ids = Vec::with_capacity(entries.len());
    for entry in entries {
        let id = Id::random();
        let row = ActiveModel {
            public_id: Set(id.to_string()),
            maintenance_id: Set(maintenance),
            status: Set(entry.happened.status().as_str().into()),
            message: Set(entry.message.to_json().to_string()),
            notify_subscribers: Set(entry.notify_subscribers),
            created_at: Set(entry.created_at.ms()),
            ..ActiveModel::default()
        };
        Entity::insert(row).exec_without_returning(&connection).await?;
        ids.push(id);
    }
    Ok(ids)
}

/// The entries of the timeline, oldest first.
pub async fn of(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
) -> Result<Vec<MaintenanceTimelineEntry>, MainError> {
    let rows = Entity::find()
        .filter(Column::MaintenanceId.eq(maintenance))
        .order_by_asc(Column::Id)
        .all(&connection)
        .await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Model) -> Result<MaintenanceTimelineEntry, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("maintenance_update", &row.id, &problem);
    Ok(MaintenanceTimelineEntry {
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        message: TranslatedText::from_stored(&row.message).map_err(|_| corrupt("unreadable message"))?,
        notify_subscribers: row.notify_subscribers,
        created_at: Timestamp::from_ms(row.created_at),
    })
}
