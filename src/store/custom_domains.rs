//! Custom domains. Finders for clients are scoped by status page, which is scoped by organisation. `due` and
//! `claims_for_update` read domains of all organisations.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait,
    DbBackend, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select, Statement,
};
use watchkeeper_entities::custom_domain::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::statuspage;

use crate::clock::{STEP_MS, Timestamp};
use crate::id::Id;
use crate::model::domain::claims::HostnameClaim;
use crate::model::domain::{CustomDomain, DomainStatus, LONGEST_PAUSE_MS};
use crate::store::error::MainError;

/// First key of the advisory locks on host names in PostgreSQL; the second key is the hash of the host name.
const HOSTNAME_LOCKS: i32 = 1_464_551_010;

fn of_page(statuspage: i64) -> Select<Entity> {
    Entity::find().filter(Column::StatuspageId.eq(statuspage))
}

/// All domains of a page, oldest first.
pub async fn list(connection: &dyn StoreConnection, statuspage: i64) -> Result<Vec<CustomDomain>, MainError> {
    let query = of_page(statuspage).order_by_asc(Column::CreatedAt).order_by_asc(Column::PublicId);
    query.all(&connection).await?.into_iter().map(from_row).collect()
}

/// Returns the number of domains of a page, which counts towards the quota `custom_domains`.
pub async fn count(connection: &dyn StoreConnection, statuspage: i64) -> Result<u64, MainError> {
    Ok(of_page(statuspage).count(&connection).await?)
}

/// The domain of this page with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    statuspage: i64,
    id: Id,
) -> Result<Option<CustomDomain>, MainError> {
    let query = of_page(statuspage).filter(Column::PublicId.eq(id.as_str()));
    query.one(&connection).await?.map(from_row).transpose()
}

/// Like [`find`], and locks the domain until the transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    statuspage: i64,
    id: Id,
) -> Result<Option<CustomDomain>, MainError> {
    let query = of_page(statuspage).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    query.one(&connection).await?.map(from_row).transpose()
}

/// Returns true if the host name is an active domain, of any organisation.
pub async fn is_active(connection: &dyn StoreConnection, hostname: &str) -> Result<bool, MainError> {
    let active = Entity::find()
        .filter(Column::Hostname.eq(hostname))
        .filter(Column::Status.eq(DomainStatus::Active.as_str()));
    Ok(active.count(&connection).await? > 0)
}

/// All claims of a host name, of any organisation, in the order of their keys. The rows are locked until the transaction
/// ends; another caller for the same name waits, even if the name has no claim yet. Never show the result to clients.
pub async fn claims_for_update(
    connection: &dyn StoreConnection,
    hostname: &str,
) -> Result<Vec<HostnameClaim>, MainError> {
    lock_hostname(connection, hostname).await?;
    let query = Entity::find().filter(Column::Hostname.eq(hostname)).order_by_asc(Column::Id);
    let rows = query.lock_exclusive().all(&connection).await?;
    let owners: HashMap<i64, i64> = statuspage::Entity::find()
        .select_only()
        .columns([statuspage::Column::Id, statuspage::Column::OrganisationId])
        .filter(statuspage::Column::Id.is_in(rows.iter().map(|row| row.statuspage_id)))
        .into_tuple()
        .all(&connection)
        .await?
        .into_iter()
        .collect();
    let of_row = |row: Model| {
        let organisation = owners.get(&row.statuspage_id).copied();
        let organisation = organisation
            .ok_or_else(|| MainError::corrupt("custom_domain", &row.id, &"its page does not exist"))?;
        Ok(HostnameClaim { organisation, domain: from_row(row)? })
    };
    rows.into_iter().map(of_row).collect()
}

/// Locks a host name until the transaction ends. Does nothing on SQLite, which has one writer at a time.
async fn lock_hostname(connection: &dyn StoreConnection, hostname: &str) -> Result<(), MainError> {
    if connection.get_database_backend() == DbBackend::Postgres {
        let text = format!("SELECT pg_advisory_xact_lock({HOSTNAME_LOCKS}, hashtext($1))");
        let values = [hostname.into()];
        connection.execute_raw(Statement::from_sql_and_values(DbBackend::Postgres, text, values)).await?;
    }
    Ok(())
}

/// Domains of all organisations whose check is due, the most overdue first. A check that is planned implausibly late,
/// because the clock was set back since, is due as well. Only for the periodic check.
pub async fn due(
    connection: &dyn StoreConnection,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<CustomDomain>, MainError> {
    let latest = now.plus_ms(LONGEST_PAUSE_MS + STEP_MS);
    let query = Entity::find()
        .filter(
            Condition::any().add(Column::NextLookAt.lte(now.ms())).add(Column::NextLookAt.gt(latest.ms())),
        )
        .order_by_asc(Column::NextLookAt)
        .order_by_asc(Column::Id)
        .limit(limit);
    query.all(&connection).await?.into_iter().map(from_row).collect()
}

/// Stores a new domain; its `key` is assigned by the database and returned in the result.
pub async fn insert(
    connection: &dyn StoreConnection,
    domain: CustomDomain,
) -> Result<CustomDomain, MainError> {
    let mut row = to_row(&domain);
    row.id = NotSet;
    let inserted = Entity::insert(row).exec(&connection).await?;
    Ok(CustomDomain { key: inserted.last_insert_id, ..domain })
}

/// Stores all fields of the domain.
///
/// # Errors
///
/// Also when the domain is active and another active domain has the same host name.
pub async fn update(connection: &dyn StoreConnection, domain: &CustomDomain) -> Result<(), MainError> {
    to_row(domain).update(&connection).await?;
    Ok(())
}

/// Deletes the domain with this key.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

fn to_row(domain: &CustomDomain) -> ActiveModel {
    let ms = |at: Option<Timestamp>| Set(at.map(Timestamp::ms));
    ActiveModel {
        id: Set(domain.key),
        public_id: Set(domain.id.to_string()),
        statuspage_id: Set(domain.statuspage),
        hostname: Set(domain.hostname.clone()),
        status: Set(domain.status.as_str().into()),
        txt_value: Set(domain.txt_value.clone()),
        verified_at: ms(domain.verified_at),
        last_error_code: Set(domain.problem.map(|problem| problem.as_str().into())),
        next_look_at: ms(domain.next_check_at),
        wrong_since: ms(domain.wrong_since),
        asked_at: ms(domain.asked_at),
        created_at: Set(domain.created_at.ms()),
    }
}

fn from_row(row: Model) -> Result<CustomDomain, MainError> {
    let key = row.id;
    let corrupt = |problem: String| MainError::corrupt("custom_domain", &key, &problem);
    let problem = row
        .last_error_code
        .map(|code| code.parse().map_err(|_| corrupt(format!("unknown error code {code}"))));
    Ok(CustomDomain {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed".into()))?,
        statuspage: row.statuspage_id,
        status: row.status.parse().map_err(|_| corrupt(format!("unknown status {}", row.status)))?,
        problem: problem.transpose()?,
        hostname: row.hostname,
        txt_value: row.txt_value,
        verified_at: row.verified_at.map(Timestamp::from_ms),
        next_check_at: row.next_look_at.map(Timestamp::from_ms),
        wrong_since: row.wrong_since.map(Timestamp::from_ms),
        asked_at: row.asked_at.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.created_at),
    })
}
