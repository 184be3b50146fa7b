//! The series that cover a service that is about to be deleted.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait as _};
use watchkeeper_entities::maintenance_series::{Column, Entity};
use watchkeeper_entities::maintenance_series_service::{Column as Link, Entity as Links};

use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::SeriesStatus;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;

/// Removes a service from all series that cover it.
pub async fn unlink(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    Links::delete_many().filter(Link::ServiceId.eq(service)).exec(&connection).await?;
    Ok(())
}

/// Cancels a series, so that it creates no more maintenances.
pub async fn cancel(connection: &dyn StoreConnection, series: SeriesKey) -> Result<(), MainError> {
    let cancel = Entity::update_many()
        .col_expr(Column::Status, Expr::value(SeriesStatus::Cancelled.as_str()))
        .filter(Column::Id.eq(series));
    cancel.exec(&connection).await?;
    Ok(())
}

/// The series that cover only this service.
pub async fn orphaned_by(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<Vec<SeriesKey>, MainError> {
    let others =
        Links::find().select_only().column(Link::SeriesId).filter(Link::ServiceId.ne(service)).into_query();
    let alone = Links::find()
        .select_only()
        .column(Link::SeriesId)
        .filter(Link::ServiceId.eq(service))
        .filter(Link::SeriesId.not_in_subquery(others))
        .order_by_asc(Link::SeriesId);
    Ok(alone.into_tuple().all(&connection).await?)
}
