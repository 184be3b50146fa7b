//! Services that are not paused, whose number a plan limits: counting them, and pausing those beyond the limit.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use watchkeeper_entities::service::{Column, Entity};

use crate::model::service::{ServiceKey, ServicePause};
use crate::store::error::MainError;
use crate::store::services::{KEYS_AT_ONCE, count_active, of_organisation};

/// Returns for each organisation the number of its services that are not paused, with one statement. An organisation
/// without any is not in the result.
pub async fn count_by_organisation(connection: &dyn StoreConnection) -> Result<HashMap<i64, u64>, MainError> {
    let counts: Vec<(i64, i64)> = Entity::find()
        .select_only()
        .column(Column::OrganisationId)
        .column_as(Column::Id.count(), "active")
        .filter(Column::PausedAt.is_null())
        .group_by(Column::OrganisationId)
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(counts.into_iter().map(|(organisation, count)| (organisation, count.unsigned_abs())).collect())
}

/// Returns the newest services of the organisation that are not paused, newest first, without the `limit` oldest ones.
pub async fn beyond(
    connection: &dyn StoreConnection,
    organisation: i64,
    limit: u32,
) -> Result<Vec<ServiceKey>, MainError> {
    let excess = count_active(connection, organisation).await?.saturating_sub(limit.into());
    let newest = of_organisation(organisation)
        .select_only()
        .column(Column::Id)
        .filter(Column::PausedAt.is_null())
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::PublicId)
        .limit(excess);
    Ok(newest.into_tuple().all(&connection).await?)
}

/// Pauses these services and raises their revisions.
pub async fn pause(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    pause: ServicePause,
) -> Result<(), MainError> {
    for some in services.chunks(KEYS_AT_ONCE) {
        Entity::update_many()
            .col_expr(Column::PausedReason, Expr::value(pause.reason.as_str()))
            .col_expr(Column::PausedAt, Expr::value(pause.at.ms()))
            .col_expr(Column::UpdatedAt, Expr::value(pause.at.ms()))
            .col_expr(Column::Revision, Expr::col(Column::Revision).add(1))
            .filter(Column::Id.is_in(some.iter().copied()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}
