//! Idempotency keys, under which a POST request may be sent again (contract 1.10). A key is claimed by a run of the
//! request, then settled with its answer, or freed.
//!
//! A running key is a lease: only the run that claimed the key can settle, renew or free it. If its process dies, the
//! lease expires. The caller passes all times.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, SqlErr,
    UpdateMany,
};
use watchkeeper_entities::idempotency_key::{ActiveModel, Column, Entity, Model};

use crate::clock::guard::JudgedTime;
use crate::clock::{DAY_MS, STEP_MS, Timestamp};
use crate::id::Id;
use crate::store::error::MainError;

/// Time for which an answer is kept, counted from the first request with the key, in milliseconds.
const REMEMBERED_MS: i64 = DAY_MS;
/// Maximum number of bodies that one statement deletes.
const CUT_AT_ONCE: u64 = 200;

/// SHA-256 of a request, to detect that a key is used for a different request.
pub type Fingerprint = [u8; 32];

/// One run of a request under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentRun {
    /// Database key of the token that sent the key; equal keys of different tokens are independent.
    pub token: i64,
    /// The idempotency key that the client sent.
    pub key: String,
    /// Random id of this run, which proves its ownership of the key.
    pub claim: Id,
}

/// The answer of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Fingerprint of the answered request.
    pub fingerprint: Fingerprint,
    /// The stored parts of the answer.
    pub answer: CachedAnswer,
}

/// The stored parts of an answer, from which it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswer {
    /// Status and headers of the answer.
    pub head: AnswerHead,
    /// Sealed body; `None` if it was too long, or was deleted to save space.
    pub body: Option<String>,
    /// Path of the resource from which the body can be rendered again; `""` if the request may run again instead; `None`
    /// if neither is possible.
    pub resource: Option<String>,
}

/// The stored status and headers of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// Status code of the answer.
    pub status: u16,
    /// Value of the header `Location`, if there is one.
    pub location: Option<String>,
    /// Value of the header `Content-Language`: a repeated answer has the language of the first one.
    pub language: Option<String>,
}

/// The outcome of claiming a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The key is claimed for this run.
    Mine,
    /// Another run holds the key, or the key has been freed since the insert.
    Running,
    /// A run under the key has finished with this answer.
    Answered(StoredAnswer),
    /// The token has been deleted since the request was let in; the transaction must be rolled back.
    TokenDeleted,
}

/// A run that is about to claim its key.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// Token, key and id of the run.
    pub run: &'a IdempotentRun,
    /// Fingerprint of the request.
    pub fingerprint: &'a Fingerprint,
    /// Id of the node on which the run takes place.
    pub node: Id,
    /// The current time. While it is not trusted, no answer expires.
    pub now: JudgedTime,
    /// Duration of the lease in milliseconds: the key is free again after it, unless the lease is renewed.
    pub lease_ms: i64,
}

/// Claims the key for a run.
pub async fn claim(connection: &dyn StoreConnection, new: NewRun<'_>) -> Result<ClaimOutcome, MainError> {
    let NewRun { run, fingerprint, node, now, lease_ms } = new;
    let row = ActiveModel {
        token_id: Set(run.token),
        key: Set(run.key.clone()),
        fingerprint: Set(fingerprint.to_vec()),
        claim: Set(run.claim.to_string()),
        node: Set(Some(node.to_string())),
        leased_until: Set(now.at.ms() + lease_ms),
        accepted_at: Set(now.best.ms()),
        status: Set(None),
        location: Set(None),
        language: Set(None),
        body: Set(None),
        resource: Set(None),
        body_bytes: Set(0),
    };
    let mut nothing = OnConflict::columns([Column::TokenId, Column::Key]);
    let inserted = Entity::insert(row.clone())
        .on_conflict(nothing.do_nothing().to_owned())
        .exec_without_returning(&connection)
        .await;
    match inserted {
        Ok(1) => return Ok(ClaimOutcome::Mine),
        Ok(_) => {}
        // The only reference of a key is its token.
        Err(error) if matches!(error.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_))) => {
            return Ok(ClaimOutcome::TokenDeleted);
        }
        Err(error) => return Err(error.into()),
    }
    let known = Entity::find_by_id((run.token, run.key.clone())).lock_exclusive().one(&connection).await?;
    match known {
        // The key was freed between the two statements: the next request with this key can claim it.
        None => Ok(ClaimOutcome::Running),
        Some(known) if is_over(&known, now, lease_ms) => {
            Entity::update(row).exec(&connection).await?;
            Ok(ClaimOutcome::Mine)
        }
        Some(known) => state_of(&known),
    }
}

/// Returns true if a new run may take the key: its lease has expired, or its answer is no longer kept.
const fn is_over(row: &Model, now: JudgedTime, lease_ms: i64) -> bool {
    let now_ms = now.at.ms();
    match row.status {
        // A lease that ends later than a new one could was written before the clock was set back.
        None => row.leased_until <= now_ms || row.leased_until > now_ms + lease_ms + STEP_MS,
        Some(_) => now.is_trusted && row.accepted_at + REMEMBERED_MS <= now_ms,
    }
}

fn state_of(row: &Model) -> Result<ClaimOutcome, MainError> {
    let Some(status) = row.status else { return Ok(ClaimOutcome::Running) };
    let corrupt = |problem: &str| MainError::corrupt("idempotency_key", &row.key, &problem);
    Ok(ClaimOutcome::Answered(StoredAnswer {
        fingerprint: row
            .fingerprint
            .as_slice()
            .try_into()
            .map_err(|_| corrupt("its fingerprint is too short"))?,
        answer: CachedAnswer {
            head: AnswerHead {
                status: u16::try_from(status).map_err(|_| corrupt("its status is negative"))?,
                location: row.location.clone(),
                language: row.language.clone(),
            },
            body: row.body.clone(),
            resource: row.resource.clone(),
        },
    }))
}

/// Stores the answer of a run. Returns false if the run has lost the key; the transaction must then not be committed.
pub async fn settle(
    connection: &dyn StoreConnection,
    run: &IdempotentRun,
    answer: CachedAnswer,
) -> Result<bool, MainError> {
    let CachedAnswer { head, body, resource } = answer;
    let body_bytes = body.as_ref().map_or(0, |body| i64::try_from(body.len()).unwrap_or(i64::MAX));
    let settled = where_claimed_by(Entity::update_many(), run)
        .col_expr(Column::Status, Expr::value(i16::try_from(head.status).unwrap_or(i16::MAX)))
        .col_expr(Column::Location, Expr::value(head.location))
        .col_expr(Column::Language, Expr::value(head.language))
        .col_expr(Column::Body, Expr::value(body))
        .col_expr(Column::Resource, Expr::value(resource))
        .col_expr(Column::BodyBytes, Expr::value(body_bytes))
        .exec(&connection)
        .await?;
    Ok(settled.rows_affected == 1)
}

/// Returns the total size of the bodies that are stored for a token, in bytes.
pub async fn cached_bytes(connection: &dyn StoreConnection, token: i64) -> Result<i64, MainError> {
    let bytes = Expr::col(Column::BodyBytes).sum().cast_as(Alias::new("bigint"));
    let sum = Entity::find().select_only().column_as(bytes, "bytes").filter(Column::TokenId.eq(token));
    let sum: Option<Option<i64>> = sum.into_tuple().one(&connection).await?;
    Ok(sum.flatten().unwrap_or_default())
}

/// Deletes the oldest bodies of a token that can be rendered again, until `bytes` bytes are freed or no such body is left.
/// Returns the number of freed bytes.
pub async fn cut_oldest(connection: &dyn StoreConnection, token: i64, bytes: i64) -> Result<i64, MainError> {
    let mut cut = 0;
    while cut < bytes {
        let oldest: Vec<(String, i64)> = Entity::find()
            .select_only()
            .columns([Column::Key, Column::BodyBytes])
            .filter(Column::TokenId.eq(token))
            .filter(Column::BodyBytes.gt(0))
            .filter(Column::Resource.is_not_null())
            .order_by_asc(Column::AcceptedAt)
            .limit(CUT_AT_ONCE)
            .into_tuple()
            .all(&connection)
            .await?;
        let mut keys = Vec::new();
        for (key, size) in oldest {
            if cut >= bytes {
                break;
            }
            cut += size;
            keys.push(key);
        }
        if keys.is_empty() {
            break;
        }
        Entity::update_many()
            .col_expr(Column::Body, Expr::value(Option::<String>::None))
            .col_expr(Column::BodyBytes, Expr::value(0))
            .filter(Column::TokenId.eq(token))
            .filter(Column::Key.is_in(keys))
            .exec(&connection)
            .await?;
    }
    Ok(cut)
}

/// Extends the lease of a run until `until`. Does nothing if the run has lost the key.
pub async fn renew(
    connection: &dyn StoreConnection,
    run: &IdempotentRun,
    until: Timestamp,
) -> Result<(), MainError> {
    let renewal =
        where_claimed_by(Entity::update_many(), run).col_expr(Column::LeasedUntil, Expr::value(until.ms()));
    renewal.exec(&connection).await?;
    Ok(())
}

fn where_claimed_by(update: UpdateMany<Entity>, run: &IdempotentRun) -> UpdateMany<Entity> {
    update
        .filter(Column::TokenId.eq(run.token))
        .filter(Column::Key.eq(run.key.as_str()))
        .filter(Column::Claim.eq(run.claim.as_str()))
        .filter(Column::Status.is_null())
}

/// Frees the key of a failed run. Does nothing if the run has lost the key.
pub async fn free(connection: &dyn StoreConnection, run: &IdempotentRun) -> Result<(), MainError> {
    Entity::delete_many()
        .filter(Column::TokenId.eq(run.token))
        .filter(Column::Key.eq(run.key.as_str()))
        .filter(Column::Claim.eq(run.claim.as_str()))
        .filter(Column::Status.is_null())
        .exec(&connection)
        .await?;
    Ok(())
}

/// Frees the keys that are running on this node. Only for a process that has just started on the node: all of its running
/// keys then belong to a process that died.
pub async fn free_running_on(connection: &dyn StoreConnection, node: Id) -> Result<(), MainError> {
    Entity::delete_many()
        .filter(Column::Status.is_null())
        .filter(Column::Node.eq(node.as_str()))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Frees all running keys. Only for a process that has just started and is the only one that uses the database: all
/// running keys then belong to a process that died.
pub async fn free_all_running(connection: &dyn StoreConnection) -> Result<(), MainError> {
    Entity::delete_many().filter(Column::Status.is_null()).exec(&connection).await?;
    Ok(())
}

/// Deletes keys that were accepted more than a day ago, unless a run still holds them. `now` must be a trusted time.
pub async fn forget_old(connection: &dyn StoreConnection, now: Timestamp) -> Result<(), MainError> {
    let lapsed = Condition::any().add(Column::Status.is_not_null()).add(Column::LeasedUntil.lte(now.ms()));
    Entity::delete_many()
        .filter(Column::AcceptedAt.lte(now.plus_ms(-REMEMBERED_MS).ms()))
        .filter(lapsed)
        .exec(&connection)
        .await?;
    Ok(())
}
