//! Passkeys of the users of the console, and the challenges for them, which are found by the SHA-256 of their text.
//!
//! To add a passkey, the caller must hold the lock of the organisation, so that the limit holds.

use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::passkey::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::passkey_challenge;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::passkey::{CHALLENGE_MS, UserPasskey};
use crate::model::token::TokenHash;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;

/// The passkeys of a user, oldest first.
pub async fn of_user(connection: &dyn StoreConnection, user: i64) -> Result<Vec<UserPasskey>, MainError> {
    let wanted = Entity::find().filter(Column::UserId.eq(user)).order_by_asc(Column::Id);
    wanted.all(&connection).await?.into_iter().map(from_row).collect()
}

/// The passkey of any user with this credential id.
pub async fn by_credential(
    connection: &dyn StoreConnection,
    credential: &[u8],
) -> Result<Option<UserPasskey>, MainError> {
    let wanted = Entity::find().filter(Column::Credential.eq(credential.to_vec()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// Stores a new passkey.
pub async fn insert(connection: &dyn StoreConnection, passkey: &UserPasskey) -> Result<(), MainError> {
    let row = ActiveModel {
        id: NotSet,
        public_id: Set(passkey.id.to_string()),
        user_id: Set(passkey.user),
        name: Set(passkey.name.clone()),
        credential: Set(passkey.credential.clone()),
        public_key: Set(passkey.public_key.clone()),
        sign_count: Set(passkey.sign_count.into()),
        created_at: Set(passkey.created_at.ms()),
        last_used_at: Set(passkey.last_used_at.map(Timestamp::ms)),
        origin: Set(passkey.origin.clone()),
    };
    Entity::insert(row).exec(&connection).await?;
    Ok(())
}

/// Stores that a user has signed in with a passkey, whose signature counter is now this.
pub async fn set_used(
    connection: &dyn StoreConnection,
    key: i64,
    sign_count: u32,
    now: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::SignCount, Expr::value(i64::from(sign_count)))
        .col_expr(Column::LastUsedAt, Expr::value(now.ms()))
        .filter(Column::Id.eq(key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Deletes a passkey of a user; returns false if there is none with this id.
pub async fn delete(connection: &dyn StoreConnection, user: i64, id: Id) -> Result<bool, MainError> {
    let wanted =
        Entity::delete_many().filter(Column::UserId.eq(user)).filter(Column::PublicId.eq(id.as_str()));
    Ok(wanted.exec(&connection).await?.rows_affected > 0)
}

/// A challenge that is given out.
#[derive(Debug)]
pub struct NewChallenge<'a> {
    /// Hash of its text.
    pub hash: TokenHash,
    /// Database key of the user who adds a passkey; `None` for a sign-in.
    pub user: Option<i64>,
    /// Origin of the document that asks for it.
    pub origin: &'a str,
}

/// Stores a challenge.
pub async fn insert_challenge(
    connection: &dyn StoreConnection,
    challenge: &NewChallenge<'_>,
    now: Timestamp,
) -> Result<(), MainError> {
    let row = passkey_challenge::ActiveModel {
        id: NotSet,
        hash: Set(challenge.hash.to_vec()),
        user_id: Set(challenge.user),
        expires_at: Set(now.plus_ms(CHALLENGE_MS).ms()),
        origin: Set(challenge.origin.to_owned()),
    };
    passkey_challenge::Entity::insert(row).exec(&connection).await?;
    Ok(())
}

/// Deletes a challenge, and returns its origin; `None` if it is not valid for this user, or for a sign-in: because it was used,
/// has expired or never existed.
pub async fn take_challenge(
    connection: &dyn StoreConnection,
    user: Option<i64>,
    hash: &TokenHash,
    now: Timestamp,
) -> Result<Option<String>, MainError> {
    let column = passkey_challenge::Column::UserId;
    let wanted = passkey_challenge::Column::Hash
        .eq(hash.to_vec())
        .and(user.map_or_else(|| column.is_null(), |user| column.eq(user)))
        .and(passkey_challenge::Column::ExpiresAt.gt(now.ms()));
    let origin = passkey_challenge::Entity::find()
        .select_only()
        .column(passkey_challenge::Column::Origin)
        .filter(wanted.clone());
    let origin: Option<String> = origin.into_tuple().one(&connection).await?;
    // Of two requests with the same challenge, one deletes it.
    let deleted = passkey_challenge::Entity::delete_many().filter(wanted).exec(&connection).await?;
    Ok(origin.filter(|_| deleted.rows_affected == 1))
}

/// Deletes the challenges that have expired.
pub async fn forget_old_challenges(
    connection: &dyn StoreConnection,
    now: Timestamp,
) -> Result<(), MainError> {
    let has_expired = passkey_challenge::Column::ExpiresAt.lte(now.ms());
    passkey_challenge::Entity::delete_many().filter(has_expired).exec(&connection).await?;
    Ok(())
}

fn from_row(row: Model) -> Result<UserPasskey, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("passkey", &row.id, &problem);
    Ok(UserPasskey {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        user: row.user_id,
        sign_count: row.sign_count.try_into().map_err(|_| corrupt("its counter is too large"))?,
        name: row.name,
        credential: row.credential,
        public_key: row.public_key,
        origin: row.origin,
        created_at: Timestamp::from_ms(row.created_at),
        last_used_at: row.last_used_at.map(Timestamp::from_ms),
    })
}
