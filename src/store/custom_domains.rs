//! Custom domains. Clients' finders are scoped by status page, which is scoped by organisation; what the clock asks
//! for says so.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait,
    EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select, TryInsertResult,
};
use watchkeeper_entities::custom_domain::{ActiveModel, Column, Entity, Model};

use crate::clock::{STEP_MS, Timestamp};
use crate::id::Id;
use crate::model::domain::{Domain, LONGEST_PAUSE_MS};
use crate::store::MainError;

fn of_page(statuspage: i64) -> Select<Entity> {
    Entity::find().filter(Column::StatuspageId.eq(statuspage))
}

/// All domains of a page in the order of the API.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(connection: &impl ConnectionTrait, statuspage: i64) -> Result<Vec<Domain>, MainError> {
    let query = of_page(statuspage).order_by_asc(Column::CreatedAt).order_by_asc(Column::PublicId);
    query.all(connection).await?.into_iter().map(from_row).collect()
}

/// Returns the number of domains that a page has, which the quota `custom_domains` counts.
///
/// # Errors
/// When the database fails.
pub async fn count(connection: &impl ConnectionTrait, statuspage: i64) -> Result<u64, MainError> {
    Ok(of_page(statuspage).count(connection).await?)
}

/// The domain of this page with this id.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn find(
    connection: &impl ConnectionTrait,
    statuspage: i64,
    id: Id,
) -> Result<Option<Domain>, MainError> {
    let query = of_page(statuspage).filter(Column::PublicId.eq(id.as_str()));
    query.one(connection).await?.map(from_row).transpose()
}

/// Like [`find`], and keeps others from changing the domain until the transaction ends.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn find_for_update(
    connection: &impl ConnectionTrait,
    statuspage: i64,
    id: Id,
) -> Result<Option<Domain>, MainError> {
    let query = of_page(statuspage).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    query.one(connection).await?.map(from_row).transpose()
}

/// Returns true if the host name is attached to any page of the installation.
///
/// # Errors
/// When the database fails.
pub async fn is_attached(connection: &impl ConnectionTrait, hostname: &str) -> Result<bool, MainError> {
    Ok(Entity::find().filter(Column::Hostname.eq(hostname)).count(connection).await? > 0)
}

/// Domains of every organisation that are to be looked at, the most overdue first; among them those whose next look was
/// planned before the clock was set back. For the clock only.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn due(
    connection: &impl ConnectionTrait,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<Domain>, MainError> {
    let latest = now.plus_ms(LONGEST_PAUSE_MS + STEP_MS);
    let query = Entity::find()
        .filter(
            Condition::any().add(Column::NextLookAt.lte(now.ms())).add(Column::NextLookAt.gt(latest.ms())),
        )
        .order_by_asc(Column::NextLookAt)
        .order_by_asc(Column::Id)
        .limit(limit);
    query.all(connection).await?.into_iter().map(from_row).collect()
}

/// The domain with this key, kept from others until the transaction ends; `None` when it was deleted meanwhile. For
/// the clock only.
///
/// # Errors
/// When the database fails or the row cannot be read.
pub async fn get_for_update(
    connection: &impl ConnectionTrait,
    key: i64,
) -> Result<Option<Domain>, MainError> {
    Entity::find_by_id(key).lock_exclusive().one(connection).await?.map(from_row).transpose()
}

/// Stores a new domain; its `key` is given by the database and returned in the result. `None` when the host name is
/// attached somewhere, be it since a moment ago.
///
/// # Errors
/// When the database fails.
pub async fn insert(connection: &impl ConnectionTrait, domain: Domain) -> Result<Option<Domain>, MainError> {
    let mut row = to_row(&domain);
    row.id = NotSet;
    let unless_attached = OnConflict::column(Column::Hostname).do_nothing().to_owned();
    let inserted = Entity::insert(row).on_conflict(unless_attached).try_insert().exec(connection).await?;
    Ok(match inserted {
        TryInsertResult::Inserted(inserted) => Some(Domain { key: inserted.last_insert_id, ..domain }),
        TryInsertResult::Empty | TryInsertResult::Conflicted => None,
    })
}

/// Stores all fields of the domain.
///
/// # Errors
/// When the database fails.
pub async fn update(connection: &impl ConnectionTrait, domain: &Domain) -> Result<(), MainError> {
    to_row(domain).update(connection).await?;
    Ok(())
}

/// Deletes the domain.
///
/// # Errors
/// When the database fails.
pub async fn delete(connection: &impl ConnectionTrait, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(connection).await?;
    Ok(())
}

fn to_row(domain: &Domain) -> ActiveModel {
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
        next_look_at: ms(domain.next_look_at),
        wrong_since: ms(domain.wrong_since),
        asked_at: ms(domain.asked_at),
        created_at: Set(domain.created_at.ms()),
    }
}

fn from_row(row: Model) -> Result<Domain, MainError> {
    let key = row.id;
    let corrupt = |problem: String| MainError::corrupt("custom_domain", &key, &problem);
    let problem = row
        .last_error_code
        .map(|code| code.parse().map_err(|_| corrupt(format!("unknown error code {code}"))));
    Ok(Domain {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id has not the form of one".into()))?,
        statuspage: row.statuspage_id,
        status: row.status.parse().map_err(|_| corrupt(format!("unknown status {}", row.status)))?,
        problem: problem.transpose()?,
        hostname: row.hostname,
        txt_value: row.txt_value,
        verified_at: row.verified_at.map(Timestamp::from_ms),
        next_look_at: row.next_look_at.map(Timestamp::from_ms),
        wrong_since: row.wrong_since.map(Timestamp::from_ms),
        asked_at: row.asked_at.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.created_at),
    })
}
