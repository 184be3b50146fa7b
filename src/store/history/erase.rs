//! Erasing the measurements of a deleted service.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::{fresh_check, status_change};

use crate::model::service::ServiceKey;
use crate::store::error::HistoryError;
use crate::store::history::fresh_checks::bucket_of;
use crate::store::history::{History, sealed, segments};

/// Deletes all measurements of a service: rows, blocks, rollups and status changes. Can be repeated if it was interrupted.
pub async fn service(history: &History, service: ServiceKey) -> Result<(), HistoryError> {
    for segment in segments::visible(history.reader()).await? {
        let opened = history.storage().connect(segment.id).await?;
        sealed::erase(&opened, service).await?;
    }
    let transaction = history.begin().await?;
    fresh_check::Entity::delete_many()
        .filter(fresh_check::Column::Bucket.eq(bucket_of(service)))
        .filter(fresh_check::Column::ServiceId.eq(service))
        .exec(&transaction)
        .await?;
    let of_service = status_change::Column::ServiceId.eq(service);
    status_change::Entity::delete_many().filter(of_service).exec(&transaction).await?;
    transaction.commit().await
}
