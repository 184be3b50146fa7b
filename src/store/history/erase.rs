//! Erasing what was measured of a deleted service.

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{check_hour, check_result, status_change};

use crate::model::service::ServiceKey;
use crate::store::StoreError;

/// Rows deleted at a time, so that no transaction keeps the recorder waiting.
const ROWS_PER_STEP: u64 = 2_000;

/// Erases a part of the service's results, or, once there are none, everything else. `true` when all is gone.
///
/// # Errors
/// When the database fails.
pub async fn step(connection: &impl ConnectionTrait, service: ServiceKey) -> Result<bool, StoreError> {
    let ids: Vec<i64> = check_result::Entity::find()
        .select_only()
        .column(check_result::Column::Id)
        .filter(check_result::Column::ServiceId.eq(service))
        .order_by_asc(check_result::Column::CheckedAt)
        .limit(ROWS_PER_STEP)
        .into_tuple()
        .all(connection)
        .await?;
    if !ids.is_empty() {
        let those = check_result::Column::Id.is_in(ids);
        check_result::Entity::delete_many().filter(those).exec(connection).await?;
        return Ok(false);
    }
    let of_service = status_change::Column::ServiceId.eq(service);
    status_change::Entity::delete_many().filter(of_service).exec(connection).await?;
    let of_service = check_hour::Column::ServiceId.eq(service);
    check_hour::Entity::delete_many().filter(of_service).exec(connection).await?;
    Ok(true)
}
