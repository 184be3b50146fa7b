//! Erasing what was measured of a deleted service.

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::{fresh_check, status_change};

use crate::model::service::ServiceKey;
use crate::store::StoreError;
use crate::store::history::fresh::bucket_of;

/// Erases a part of the service's results, or, once there are none, everything else. `true` when all is gone.
///
/// # Errors
/// When the database fails.
pub async fn step(connection: &impl ConnectionTrait, service: ServiceKey) -> Result<bool, StoreError> {
    fresh_check::Entity::delete_many()
        .filter(fresh_check::Column::Bucket.eq(bucket_of(service)))
        .filter(fresh_check::Column::ServiceId.eq(service))
        .exec(connection)
        .await?;
    let of_service = status_change::Column::ServiceId.eq(service);
    status_change::Entity::delete_many().filter(of_service).exec(connection).await?;
    Ok(true)
}
