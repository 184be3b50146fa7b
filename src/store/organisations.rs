//! Organisations: reading, writing and locking them.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::LockType;
use sea_orm::{
    ActiveValue::{Set, Unchanged},
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::organisation::{ActiveModel, Column, Entity, Model};

use crate::id::Id;
use crate::model::access::Organisation;
use crate::store::error::MainError;
use crate::store::incident_policies;

/// Maximum number of keys per statement.
const KEYS_AT_ONCE: usize = 1_000;

/// Stores an organisation with its initial incident policy; its `key` is assigned by the database and returned in the
/// result.
pub async fn insert(
    connection: &dyn StoreConnection,
    organisation: Organisation,
) -> Result<Organisation, MainError> {
    let row = ActiveModel {
        public_id: Set(organisation.id.to_string()),
        name: Set(organisation.name.clone()),
        plan: Set(organisation.plan.to_string()),
        self_hosted: Set(organisation.self_hosted),
        locales: Set(serde_json::Value::from(organisation.locales.clone()).to_string()),
        default_locale: Set(organisation.default_locale.clone()),
        created_at: Set(organisation.created_at.ms()),
        ..ActiveModel::default()
    };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    incident_policies::insert_default(connection, key, organisation.created_at).await?;
    Ok(Organisation { key, ..organisation })
}

/// Stores name, plan and languages of the organisation.
pub async fn update(connection: &dyn StoreConnection, organisation: &Organisation) -> Result<(), MainError> {
    let row = ActiveModel {
        id: Unchanged(organisation.key),
        name: Set(organisation.name.clone()),
        plan: Set(organisation.plan.to_string()),
        locales: Set(serde_json::Value::from(organisation.locales.clone()).to_string()),
        default_locale: Set(organisation.default_locale.clone()),
        ..ActiveModel::default()
    };
    Entity::update(row).exec(&connection).await?;
    Ok(())
}

/// All organisations, oldest first.
pub async fn list(connection: &dyn StoreConnection) -> Result<Vec<Organisation>, MainError> {
    let rows = Entity::find().order_by_asc(Column::Id).all(&connection).await?;
    rows.into_iter().map(from_row).collect()
}

/// The oldest organisation, which belongs to the operator; `None` if there is no organisation.
pub async fn first(connection: &dyn StoreConnection) -> Result<Option<Organisation>, MainError> {
    Entity::find().order_by_asc(Column::Id).one(&connection).await?.map(from_row).transpose()
}

/// The organisations with these database keys, in no particular order.
pub async fn with_keys(
    connection: &dyn StoreConnection,
    keys: impl IntoIterator<Item = i64>,
) -> Result<Vec<Organisation>, MainError> {
    let keys: Vec<i64> = keys.into_iter().collect();
    let mut found = Vec::with_capacity(keys.len());
    for some in keys.chunks(KEYS_AT_ONCE) {
        let rows = Entity::find().filter(Column::Id.is_in(some.iter().copied())).all(&connection).await?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// Returns the number of organisations.
pub async fn count(connection: &dyn StoreConnection) -> Result<u64, MainError> {
    Ok(Entity::find().count(&connection).await?)
}

/// The organisation with this database key.
pub async fn get(connection: &dyn StoreConnection, key: i64) -> Result<Option<Organisation>, MainError> {
    Entity::find_by_id(key).one(&connection).await?.map(from_row).transpose()
}

/// The ids of the organisations with these database keys. An organisation whose id cannot be read is left out.
pub async fn ids(
    connection: &dyn StoreConnection,
    keys: &BTreeSet<i64>,
) -> Result<HashMap<i64, Id>, MainError> {
    let columns = Entity::find().select_only().columns([Column::Id, Column::PublicId]);
    let query = columns.filter(Column::Id.is_in(keys.iter().copied()));
    let rows = query.into_tuple::<(i64, String)>().all(&connection).await?;
    Ok(rows.into_iter().filter_map(|(key, id)| Some((key, id.parse().ok()?))).collect())
}

/// Locks the row of an organisation until the transaction ends, so that a quota cannot be exceeded between its check and
/// the write. On SQLite, write transactions exclude each other anyway. Rows that refer to the organisation may still be
/// written, because their transaction may hold a lock that this one waits for.
pub async fn lock(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::find_by_id(key).lock(LockType::NoKeyUpdate).one(&connection).await?;
    Ok(())
}

/// Locks several organisations like `lock`, in the order of their keys. A transaction that writes rows of several
/// organisations must call this first, to avoid deadlocks.
pub async fn lock_all(
    connection: &dyn StoreConnection,
    keys: impl IntoIterator<Item = i64>,
) -> Result<(), MainError> {
    let keys: BTreeSet<i64> = keys.into_iter().collect();
    for some in keys.into_iter().collect::<Vec<i64>>().chunks(KEYS_AT_ONCE) {
        let query =
            Entity::find().select_only().column(Column::Id).filter(Column::Id.is_in(some.iter().copied()));
        let query = query.order_by_asc(Column::Id).lock(LockType::NoKeyUpdate);
        query.into_tuple::<i64>().all(&connection).await?;
    }
    Ok(())
}

pub(super) fn from_row(row: Model) -> Result<Organisation, MainError> {
    let corrupt = |problem: String| MainError::corrupt("organisation", &row.id, &problem);
    Ok(Organisation {
        key: row.id,
        id: row.public_id.parse::<Id>().map_err(|error| corrupt(error.to_string()))?,
        plan: row
            .plan
            .parse()
            .map_err(|error: crate::model::access::UnknownPlan| corrupt(error.to_string()))?,
        locales: serde_json::from_str(&row.locales).map_err(|error| corrupt(error.to_string()))?,
        self_hosted: row.self_hosted,
        default_locale: row.default_locale,
        created_at: crate::clock::Timestamp::from_ms(row.created_at),
        name: row.name,
    })
}
