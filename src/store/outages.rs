//! Outages of services, from which incidents are opened and resolved. The queries are not scoped by organisation:
//! handlers of client requests must pass only services of their organisation.

pub mod incident_end;

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict, Query};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use watchkeeper_entities::outage::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{incident_service, service};

use crate::clock::Timestamp;
use crate::model::check::CheckType;
use crate::model::outage::Outage;
use crate::model::outage::first_edges::FirstEdges;
use crate::model::partition::{PARTITIONS, PartitionSet};
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::store::error::MainError;
use crate::store::services::outlines;

/// Maximum number of keys per statement, far below the limit of bound values.
const CHUNK: usize = 1_000;

/// The outages of these services, locked until the transaction ends. A service without an outage is not in the result.
pub async fn of_services_for_update(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, Outage>, MainError> {
    let mut found = HashMap::with_capacity(services.len());
    for chunk in services.chunks(CHUNK) {
        let query = Entity::find().filter(Column::ServiceId.is_in(chunk.iter().copied()));
        for row in query.order_by_asc(Column::ServiceId).lock_exclusive().all(&connection).await? {
            found.insert(row.service_id, from_row(&row)?);
        }
    }
    Ok(found)
}

/// The outages of these services, in no particular order.
pub async fn of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<Vec<Outage>, MainError> {
    let mut found = Vec::new();
    for chunk in services.chunks(CHUNK) {
        let query = Entity::find().filter(Column::ServiceId.is_in(chunk.iter().copied()));
        for row in query.all(&connection).await? {
            found.push(from_row(&row)?);
        }
    }
    Ok(found)
}

/// The services of this check type, of all organisations, with a measured outage that has not recovered. Unreachable
/// services, and services whose outage waits for a requested check, are left out.
pub async fn services_of(
    connection: &dyn StoreConnection,
    check_type: CheckType,
) -> Result<Vec<ServiceOutline>, MainError> {
    // A subquery per outage is cheaper than a join with all services, because there are few outages.
    let of_type = Query::select()
        .expr(Expr::value(1))
        .from(service::Entity)
        .and_where(Expr::col((service::Entity, service::Column::Id)).equals((Entity, Column::ServiceId)))
        .and_where(service::Column::CheckType.eq(check_type.as_str()))
        .to_owned();
    let in_trouble: Vec<ServiceKey> = Entity::find()
        .select_only()
        .column(Column::ServiceId)
        .filter(Expr::exists(of_type))
        .filter(Column::UnreachableSince.is_null())
        .filter(Column::HeldUntil.is_null())
        .filter(Column::IsMeasured.eq(true))
        .filter(Column::RecoveredAt.is_null())
        .order_by_asc(Column::ServiceId)
        .into_tuple()
        .all(&connection)
        .await?;
    outlines::by_keys(connection, &in_trouble).await
}

/// The outages of services in these partitions that are due for evaluation at `now`, the longest overdue first.
pub async fn due(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<Outage>, MainError> {
    let due = among(partitions).filter(Column::LookAt.lte(now.ms()));
    let rows = due.order_by_asc(Column::LookAt).order_by_asc(Column::ServiceId).limit(limit).all(&connection);
    rows.await?.iter().map(from_row).collect()
}

/// The time at which the next outage of services in these partitions is due for evaluation; `None` if none is.
pub async fn next_evaluation(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<Option<Timestamp>, MainError> {
    let first = among(partitions).filter(Column::LookAt.is_not_null()).order_by_asc(Column::LookAt).limit(1);
    let at: Option<i64> = first.select_only().column(Column::LookAt).into_tuple().one(&connection).await?;
    Ok(at.map(Timestamp::from_ms))
}

/// Returns the number of outages of all organisations.
pub async fn count(connection: &dyn StoreConnection) -> Result<u64, MainError> {
    Ok(Entity::find().count(&connection).await?)
}

/// Stores new and changed outages.
pub async fn save(
    connection: &dyn StoreConnection,
    outages: impl IntoIterator<Item = &Outage>,
) -> Result<(), MainError> {
    let rows: Vec<ActiveModel> = outages.into_iter().map(to_row).collect();
    for chunk in rows.chunks(CHUNK) {
        let columns = [
            Column::Kind,
            Column::BeganAt,
            Column::FirstUnstableAt,
            Column::FirstDegradedAt,
            Column::FirstDownAt,
            Column::DownSince,
            Column::IsMeasured,
            Column::IsFlapping,
            Column::ToldAt,
            Column::IncidentId,
            Column::RecoveredAt,
            Column::AskedAt,
            Column::HeldUntil,
            Column::UnreachableSince,
            Column::LookAt,
        ];
        let replaced = OnConflict::column(Column::ServiceId).update_columns(columns).to_owned();
        Entity::insert_many(chunk.to_vec()).on_conflict(replaced).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Deletes the outages of these services, because they have ended.
pub async fn forget(connection: &dyn StoreConnection, services: &[ServiceKey]) -> Result<(), MainError> {
    for chunk in services.chunks(CHUNK) {
        Entity::delete_many()
            .filter(Column::ServiceId.is_in(chunk.iter().copied()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Sets the time of the next evaluation of the outages of these services that are recovered.
pub async fn postpone_recovered(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    evaluate_at: Timestamp,
) -> Result<(), MainError> {
    for chunk in services.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::LookAt, Expr::value(evaluate_at.ms()))
            .filter(Column::ServiceId.is_in(chunk.iter().copied()))
            .filter(Column::RecoveredAt.is_not_null())
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Makes the recovered outages of these incidents due for evaluation at `now`: the service that they waited for may have
/// been deleted.
pub async fn evaluate_recovered(
    connection: &dyn StoreConnection,
    incidents: &[i64],
    now: Timestamp,
) -> Result<(), MainError> {
    for chunk in incidents.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::LookAt, Expr::value(now.ms()))
            .filter(Column::IncidentId.is_in(chunk.iter().copied()))
            .filter(Column::RecoveredAt.is_not_null())
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Makes the recovered outages of all incidents that affect one of these services due for evaluation at `now`.
pub async fn evaluate_recovered_beside(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    for chunk in services.chunks(CHUNK) {
        let affecting = Query::select()
            .column(incident_service::Column::IncidentId)
            .from(incident_service::Entity)
            .and_where(incident_service::Column::ServiceId.is_in(chunk.iter().copied()))
            .to_owned();
        Entity::update_many()
            .col_expr(Column::LookAt, Expr::value(now.ms()))
            .filter(Column::IncidentId.in_subquery(affecting))
            .filter(Column::RecoveredAt.is_not_null())
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Makes the undecided outages of these services due for evaluation at `now`.
pub async fn evaluate_now(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    for chunk in services.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::LookAt, Expr::value(now.ms()))
            .filter(Column::ServiceId.is_in(chunk.iter().copied()))
            .filter(undecided())
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Makes the outages of an organisation due for evaluation at `now` that are undecided, or that have recovered and may end
/// their incident. Called after its policies have changed.
pub async fn evaluate_organisation(
    connection: &dyn StoreConnection,
    organisation: i64,
    now: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::LookAt, Expr::value(now.ms()))
        .filter(Column::OrganisationId.eq(organisation))
        .filter(undecided().add(Column::RecoveredAt.is_not_null()))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Outages of services in these partitions that are undecided and have no time of evaluation, because they wait for an
/// action of members. At most `limit`, in the order of service keys, above the key `after`.
pub async fn resting(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    after: ServiceKey,
    limit: u64,
) -> Result<Vec<Outage>, MainError> {
    let rows = among(partitions)
        .filter(Column::LookAt.is_null())
        .filter(undecided())
        .filter(Column::IsMeasured.eq(true))
        .filter(Column::UnreachableSince.is_null())
        .filter(Column::ServiceId.gt(after))
        .order_by_asc(Column::ServiceId)
        .limit(limit);
    rows.all(&connection).await?.iter().map(from_row).collect()
}

/// The condition of [`Outage::is_undecided`] in SQL.
fn undecided() -> Condition {
    Condition::any().add(Column::ToldAt.is_null()).add(Column::DownSince.is_not_null())
}

fn among(partitions: PartitionSet) -> Select<Entity> {
    match partitions {
        PartitionSet::ALL => Entity::find(),
        _ => {
            let numbers = partitions.iter().map(|partition| i64::from(partition.number()));
            Entity::find().filter(Expr::col(Column::ServiceId).modulo(PARTITIONS).is_in(numbers))
        }
    }
}

fn to_row(outage: &Outage) -> ActiveModel {
    let ms = |at: Option<Timestamp>| at.map(Timestamp::ms);
    ActiveModel {
        service_id: Set(outage.service),
        organisation_id: Set(outage.organisation),
        kind: Set(outage.kind.as_str().into()),
        began_at: Set(outage.began_at.ms()),
        first_unstable_at: Set(ms(outage.first_edges.unstable)),
        first_degraded_at: Set(ms(outage.first_edges.degraded)),
        first_down_at: Set(ms(outage.first_edges.down)),
        down_since: Set(ms(outage.down_since)),
        is_measured: Set(outage.is_measured),
        is_flapping: Set(outage.is_flapping),
        told_at: Set(ms(outage.reported_at)),
        incident_id: Set(outage.incident),
        recovered_at: Set(ms(outage.recovered_at)),
        asked_at: Set(ms(outage.asked_at)),
        held_until: Set(ms(outage.held_until)),
        unreachable_since: Set(ms(outage.unreachable_since)),
        look_at: Set(ms(outage.evaluate_at)),
    }
}

fn from_row(row: &Model) -> Result<Outage, MainError> {
    let at = |ms: Option<i64>| ms.map(Timestamp::from_ms);
    let kind = row.kind.parse();
    Ok(Outage {
        service: row.service_id,
        organisation: row.organisation_id,
        kind: kind.map_err(|_| MainError::corrupt("outage", &row.service_id, &"unknown kind"))?,
        began_at: Timestamp::from_ms(row.began_at),
        first_edges: FirstEdges {
            unstable: at(row.first_unstable_at),
            degraded: at(row.first_degraded_at),
            down: at(row.first_down_at),
        },
        down_since: at(row.down_since),
        is_measured: row.is_measured,
        is_flapping: row.is_flapping,
        reported_at: at(row.told_at),
        incident: row.incident_id,
        recovered_at: at(row.recovered_at),
        asked_at: at(row.asked_at),
        held_until: at(row.held_until),
        unreachable_since: at(row.unreachable_since),
        evaluate_at: at(row.look_at),
    })
}
