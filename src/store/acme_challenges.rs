//! The answers to the running challenges of certificate authorities. There is one order at a time, so the table has few rows.

use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::acme_challenge::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;

/// Age, in milliseconds, at which an answer is deleted whose order did not end: its process was killed.
const FORGOTTEN_AFTER_MS: i64 = 60 * 60 * 1_000;

/// The answer to a challenge, which every node gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeAnswer {
    /// The token by which the authority asks.
    pub token: String,
    /// The host name whose control is to be proven.
    pub hostname: String,
    /// The answer (RFC 8555, section 8.1).
    pub key_authorization: String,
}

/// All answers.
pub async fn list(connection: &dyn StoreConnection) -> Result<Vec<ChallengeAnswer>, MainError> {
    let rows = Entity::find().all(&connection).await?;
    let answers = rows.into_iter().map(|row| ChallengeAnswer {
        token: row.token,
        hostname: row.hostname,
        key_authorization: row.key_authorization,
    });
    Ok(answers.collect())
}

/// Stores an answer, and deletes those of earlier orders for the same host name, and those that were forgotten.
pub async fn replace(
    connection: &dyn StoreConnection,
    answer: &ChallengeAnswer,
    now: Timestamp,
) -> Result<(), MainError> {
    delete(connection, &answer.hostname).await?;
    let forgotten = Column::CreatedAt.lt(now.plus_ms(-FORGOTTEN_AFTER_MS).ms());
    Entity::delete_many().filter(forgotten).exec(&connection).await?;
    let row = ActiveModel {
        token: Set(answer.token.clone()),
        hostname: Set(answer.hostname.clone()),
        key_authorization: Set(answer.key_authorization.clone()),
        created_at: Set(now.ms()),
    };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Deletes the answers for this host name.
pub async fn delete(connection: &dyn StoreConnection, hostname: &str) -> Result<(), MainError> {
    Entity::delete_many().filter(Column::Hostname.eq(hostname)).exec(&connection).await?;
    Ok(())
}
