//! Settles series when one of their services is deleted: what contract 4.3.9 says of maintenances, for their series.
//!
//! Whoever deletes a service has locked its organisation, as everybody has who plans a series.

use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait as _,
};
use watchkeeper_entities::maintenance_series::{Column, Entity};
use watchkeeper_entities::maintenance_series_service::{Column as Link, Entity as Links};

use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::SeriesStatus;
use crate::model::service::ServiceKey;
use crate::store::MainError;
use crate::store::maintenances::series::{delete, occurrences};

/// Detaches the service from every series. One that covers nothing else makes no more maintenances: it is deleted if
/// `delete_orphaned`, else cancelled. Maintenances of it that stand are settled as others are.
///
/// # Errors
/// When the database fails.
pub async fn detach(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    delete_orphaned: bool,
) -> Result<(), MainError> {
    let orphaned = orphaned_by(connection, service).await?;
    Links::delete_many().filter(Link::ServiceId.eq(service)).exec(connection).await?;
    for series in orphaned {
        if delete_orphaned {
            occurrences::delete_waiting(connection, series).await?;
            delete(connection, series).await?;
        } else {
            let cancel = Entity::update_many()
                .col_expr(Column::Status, Expr::value(SeriesStatus::Cancelled.as_str()))
                .filter(Column::Id.eq(series));
            cancel.exec(connection).await?;
        }
    }
    Ok(())
}

/// The series that cover this service and no other.
async fn orphaned_by(
    connection: &impl ConnectionTrait,
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
    Ok(alone.into_tuple().all(connection).await?)
}
