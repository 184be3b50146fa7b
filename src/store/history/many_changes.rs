//! Status changes of many services with few statements, for status pages and for the start.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, EntityTrait, Statement};
use watchkeeper_entities::status_change::Entity;

use crate::clock::Timestamp;
use crate::model::history::StatusChange;
use crate::model::service::ServiceKey;
use crate::store::connection::StoreConnection;
use crate::store::error::HistoryError;
use crate::store::history::changes::{from_row, read, since};
use crate::store::history::key_parameters::{KeyParameters, listed};

/// The changes of each of these services, of which there are at most a thousand, at or after `from`, as [`since`] returns
/// them. A service without changes is not in the result.
pub async fn since_of(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    from: Timestamp,
) -> Result<HashMap<ServiceKey, Vec<StatusChange>>, HistoryError> {
    let mut found: HashMap<ServiceKey, Vec<StatusChange>> = HashMap::new();
    if services.is_empty() {
        return Ok(found);
    }
    for change in last_before(connection, services, from).await? {
        found.entry(change.service).or_default().push(change);
    }
    for (service, later) in not_before(connection, services, from).await? {
        found.entry(service).or_default().extend(later);
    }
    // The order of their rows is not the order of time.
    for service in set_back(connection, services).await? {
        found.insert(service, since(connection, service, from).await?);
    }
    Ok(found)
}

/// The last change before `from` of each service of the list.
async fn last_before(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    from: Timestamp,
) -> Result<Vec<StatusChange>, HistoryError> {
    let KeyParameters { placeholders, values, .. } = listed(2, services);
    let text = format!(
        "SELECT c.id, c.service_id, c.at, c.from_status, c.to_status, c.cause FROM status_change c JOIN \
        (SELECT service_id, MAX(at) AS at FROM status_change WHERE service_id IN ({placeholders}) AND at < $1 AND cause < 8 \
        GROUP BY service_id) n ON c.service_id = n.service_id AND c.at = n.at AND c.cause < 8 \
        ORDER BY c.service_id, c.id DESC"
    );
    let backend = connection.get_database_backend();
    let statement =
        Statement::from_sql_and_values(backend, text, std::iter::once(from.ms().into()).chain(values));
    let mut rows = Entity::find().from_raw_sql(statement).all(&connection).await?;
    rows.dedup_by_key(|row| row.service_id);
    rows.iter().map(from_row).collect()
}

/// The changes at or after `from`, oldest first, one value for each service.
async fn not_before(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    from: Timestamp,
) -> Result<Vec<(ServiceKey, Vec<StatusChange>)>, HistoryError> {
    let KeyParameters { placeholders, values, .. } = listed(2, services);
    let text = format!(
        "SELECT service_id, STRING_AGG(at || ' ' || from_status || ' ' || to_status || ' ' || cause, ',' ORDER BY at, id) \
        FROM status_change WHERE service_id IN ({placeholders}) AND at >= $1 AND cause < 8 GROUP BY service_id"
    );
    let backend = connection.get_database_backend();
    let statement =
        Statement::from_sql_and_values(backend, text, std::iter::once(from.ms().into()).chain(values));
    let mut found = Vec::new();
    for row in connection.query_all_raw(statement).await? {
        let service: ServiceKey = row.try_get_by_index(0)?;
        let all: String = row.try_get_by_index(1)?;
        found.push((service, all.split(',').map(|text| read(service, text)).collect::<Result<_, _>>()?));
    }
    Ok(found)
}

/// The services among these during whose history the wall clock was set back.
async fn set_back(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<Vec<ServiceKey>, HistoryError> {
    let KeyParameters { placeholders, values, .. } = listed(1, services);
    // The cause is a literal in the text; with a bound value the partial index would not be used.
    let text = format!(
        "SELECT DISTINCT service_id FROM status_change WHERE cause = 6 AND service_id IN ({placeholders})"
    );
    let backend = connection.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, text, values);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get_by_index(0).map_err(HistoryError::from)).collect()
}
