//! Ping addresses of heartbeat services and their last pings. The secret in an address is stored sealed; a ping is matched
//! by the secret's hash.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::heartbeat::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::service;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::heartbeat::{HeartbeatPing, StoredPings};
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::store::error::MainError;

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;
/// Limit in milliseconds: a stored ping this far or further ahead was stored before the clock was set back.
const AHEAD_MS: i64 = 1_000;

/// SHA-256 of the secret in an address.
pub type PingSecretHash = [u8; 32];

/// The secret of a ping address in the two forms that are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedPingSecret {
    /// Hash of the secret, by which a ping finds its service.
    pub hash: PingSecretHash,
    /// Sealed secret, from which the address can be shown again.
    pub sealed: String,
}

/// Stored ping data of a heartbeat service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHeartbeat {
    /// Secret of the ping address, sealed.
    pub secret: String,
    /// The last ping, and the time from which deadlines count.
    pub heartbeat: StoredPings,
}

/// The service that a ping belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingedService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Public id of the service.
    pub id: Id,
    /// True if the service is paused: its pings are ignored.
    pub is_paused: bool,
}

/// Stores the address of a new heartbeat service.
pub async fn insert(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    secret: &SealedPingSecret,
) -> Result<(), MainError> {
    let row = ActiveModel {
        service_id: Set(service),
        secret_hash: Set(secret.hash.to_vec()),
        secret: Set(secret.sealed.clone()),
        last_ping_at: Set(None),
        last_ping_failed: Set(false),
        counts_from: Set(None),
    };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Replaces the ping address of a service; the old one stops working.
pub async fn rotate(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    secret: &SealedPingSecret,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::SecretHash, Expr::value(secret.hash.to_vec()))
        .col_expr(Column::Secret, Expr::value(&secret.sealed))
        .filter(Column::ServiceId.eq(service))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Sets the time from which the deadlines of a service count.
pub async fn count_from(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    at: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::CountsFrom, Expr::value(at.ms()))
        .filter(Column::ServiceId.eq(service))
        .exec(&connection)
        .await?;
    Ok(())
}

/// The stored ping data of these services; a service that is not a heartbeat is not in the result.
pub async fn of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, StoredHeartbeat>, MainError> {
    let mut found = HashMap::new();
    for services in services.chunks(CHUNK) {
        let rows =
            Entity::find().filter(Column::ServiceId.is_in(services.iter().copied())).all(&connection).await?;
        found.extend(rows.into_iter().map(from_row));
    }
    Ok(found)
}

/// The service whose address has this hash, in any organisation: the secret alone grants access.
pub async fn find_by_hash(
    connection: &dyn StoreConnection,
    hash: &PingSecretHash,
) -> Result<Option<PingedService>, MainError> {
    let with_hash = Column::SecretHash.eq(hash.to_vec());
    let Some(row) = Entity::find().filter(with_hash).one(&connection).await? else { return Ok(None) };
    let service = row.service_id;
    let found: Option<(String, Option<i64>)> = service::Entity::find_by_id(service)
        .select_only()
        .columns([service::Column::PublicId, service::Column::PausedAt])
        .into_tuple()
        .one(&connection)
        .await?;
    let Some((id, paused_at)) = found else { return Ok(None) };
    Ok(Some(PingedService { service, id: read_id(service, &id)?, is_paused: paused_at.is_some() }))
}

/// Stores a ping to the address with this hash and returns it as stored: its time may be moved to just after the former
/// ping, so that no two pings have the same time. `None` if no address has this hash any longer.
pub async fn ping(
    connection: &dyn StoreConnection,
    hash: &PingSecretHash,
    ping: HeartbeatPing,
) -> Result<Option<HeartbeatPing>, MainError> {
    let with_hash = Column::SecretHash.eq(hash.to_vec());
    let Some(row) = Entity::find().filter(with_hash).lock_exclusive().one(&connection).await? else {
        return Ok(None);
    };
    let known = row.last_ping_at.map(Timestamp::from_ms);
    let close = known.filter(|known| (0..AHEAD_MS).contains(&known.ms_since(ping.at)));
    let stored = HeartbeatPing { at: close.map_or(ping.at, |known| known.plus_ms(1)), ..ping };
    Entity::update_many()
        .col_expr(Column::LastPingAt, Expr::value(stored.at.ms()))
        .col_expr(Column::LastPingFailed, Expr::value(stored.has_failed))
        .filter(Column::ServiceId.eq(row.service_id))
        .exec(&connection)
        .await?;
    Ok(Some(stored))
}

/// The newest ping of each service that has pinged at or after `since`.
pub async fn pinged_since(
    connection: &dyn StoreConnection,
    since: Timestamp,
) -> Result<Vec<(ServiceAddress, HeartbeatPing)>, MainError> {
    let rows = Entity::find().filter(Column::LastPingAt.gte(since.ms())).all(&connection).await?;
    let mut pings: HashMap<ServiceKey, HeartbeatPing> = HashMap::new();
    for (service, stored) in rows.into_iter().map(from_row) {
        pings.extend(stored.heartbeat.last.map(|ping| (service, ping)));
    }
    let keys: Vec<ServiceKey> = pings.keys().copied().collect();
    let mut found = Vec::new();
    for keys in keys.chunks(CHUNK) {
        let with_key = service::Column::Id.is_in(keys.iter().copied());
        let ids: Vec<(ServiceKey, String)> = service::Entity::find()
            .select_only()
            .columns([service::Column::Id, service::Column::PublicId])
            .filter(with_key)
            .into_tuple()
            .all(&connection)
            .await?;
        for (key, id) in ids {
            let address = ServiceAddress { id: read_id(key, &id)?, key };
            found.extend(pings.get(&key).map(|ping| (address, *ping)));
        }
    }
    Ok(found)
}

fn read_id(service: ServiceKey, id: &str) -> Result<Id, MainError> {
    id.parse().map_err(|error| MainError::corrupt("service", &service, &error))
}

fn from_row(row: Model) -> (ServiceKey, StoredHeartbeat) {
    let last = row
        .last_ping_at
        .map(|at| HeartbeatPing { at: Timestamp::from_ms(at), has_failed: row.last_ping_failed });
    let heartbeat = StoredPings { last, counts_from: row.counts_from.map(Timestamp::from_ms) };
    (row.service_id, StoredHeartbeat { secret: row.secret, heartbeat })
}
