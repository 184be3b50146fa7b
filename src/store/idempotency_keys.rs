//! Keys under which POST requests may be sent again (contract 1.10): claimed, settled with an answer, or freed.
//!
//! A running key is a lease: only the run that claimed it can settle, renew or free it, and when its process dies the
//! lease lapses. Times are given by the caller.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany,
};
use watchkeeper_entities::idempotency_key::{ActiveModel, Column, Entity, Model};

use crate::clock::guard::JudgedTime;
use crate::clock::{DAY_MS, STEP_MS, Timestamp};
use crate::id::Id;
use crate::store::error::MainError;

/// The time for which a key is remembered from its first request on, in milliseconds.
const REMEMBERED_MS: i64 = DAY_MS;
/// Bodies cut in one statement.
const CUT_AT_ONCE: u64 = 200;

/// SHA-256 of a request.
pub type Fingerprint = [u8; 32];

/// One run of a request under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentRun {
    /// The token that sent the key; keys of different tokens are independent.
    pub token: i64,
    /// Key that the client sent.
    pub key: String,
    /// Random id of this run.
    pub claim: Id,
}

/// The answer of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The request that it answers.
    pub fingerprint: Fingerprint,
    /// The answer, as far as it is stored.
    pub answer: CachedAnswer,
}

/// The stored parts of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswer {
    /// Status and headers of the answer.
    pub head: AnswerHead,
    /// Sealed body; `None` when it was too long or has been cut.
    pub body: Option<String>,
    /// Path of the resource from which it can be rendered again, `""` when the request may run again; `None` when
    /// neither is possible.
    pub resource: Option<String>,
}

/// The stored status and headers of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// Status code of the answer.
    pub status: u16,
    /// The header `Location`.
    pub location: Option<String>,
    /// `Content-Language`: a repeated answer has the language of the first.
    pub language: Option<String>,
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The key is this run's.
    Mine,
    /// Another run holds the key.
    Running,
    /// A run under the key has ended with this answer.
    Answered(StoredAnswer),
}

/// A run that claims its key.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// Token, key and claim of the run.
    pub run: &'a IdempotentRun,
    /// Fingerprint of the request.
    pub fingerprint: &'a Fingerprint,
    /// The node that runs it.
    pub node: Id,
    /// The present time. While it is doubted no answer is deleted.
    pub now: JudgedTime,
    /// The interval after which the key is free again unless the lease is prolonged, in milliseconds.
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
        .await?;
    if inserted == 1 {
        return Ok(ClaimOutcome::Mine);
    }
    let known = Entity::find_by_id((run.token, run.key.clone())).lock_exclusive().one(&connection).await?;
    match known {
        // The key was freed between the two statements: the next request will get it.
        None => Ok(ClaimOutcome::Running),
        Some(known) if is_over(&known, now, lease_ms) => {
            Entity::update(row).exec(&connection).await?;
            Ok(ClaimOutcome::Mine)
        }
        Some(known) => state_of(&known),
    }
}

/// Returns true if a new run may take the key: a lease that has lapsed, or an answer that is no longer remembered.
const fn is_over(row: &Model, now: JudgedTime, lease_ms: i64) -> bool {
    let now_ms = now.at.ms();
    match row.status {
        // A lease that ends later than possible was written before the clock was set back.
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

/// Stores the answer of a run. `false` when the run has lost the key: then nothing may be committed with it.
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

/// Returns the bytes of all bodies that are kept for a token.
pub async fn cached_bytes(connection: &dyn StoreConnection, token: i64) -> Result<i64, MainError> {
    let bytes = Expr::col(Column::BodyBytes).sum().cast_as(Alias::new("bigint"));
    let sum = Entity::find().select_only().column_as(bytes, "bytes").filter(Column::TokenId.eq(token));
    let sum: Option<Option<i64>> = sum.into_tuple().one(&connection).await?;
    Ok(sum.flatten().unwrap_or_default())
}

/// Deletes the oldest bodies of a token that can be rendered again, until their size is reduced by this many bytes or
/// none is left; returns how many they were.
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

/// Prolongs the lease of a run.
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

/// Frees the key of a run that has failed.
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

/// Frees the keys that ran on this node: only for a process that has just started on it, when all of them are those of a
/// process that died.
pub async fn free_running_on(connection: &dyn StoreConnection, node: Id) -> Result<(), MainError> {
    Entity::delete_many()
        .filter(Column::Status.is_null())
        .filter(Column::Node.eq(node.as_str()))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Frees every running key: only for a process that has the database for itself and has just started, when all runs
/// are those of a process that died.
pub async fn free_all_running(connection: &dyn StoreConnection) -> Result<(), MainError> {
    Entity::delete_many().filter(Column::Status.is_null()).exec(&connection).await?;
    Ok(())
}

/// Deletes keys that have expired.
pub async fn forget_old(connection: &dyn StoreConnection, now: Timestamp) -> Result<(), MainError> {
    let lapsed = Condition::any().add(Column::Status.is_not_null()).add(Column::LeasedUntil.lte(now.ms()));
    Entity::delete_many()
        .filter(Column::AcceptedAt.lte(now.plus_ms(-REMEMBERED_MS).ms()))
        .filter(lapsed)
        .exec(&connection)
        .await?;
    Ok(())
}
