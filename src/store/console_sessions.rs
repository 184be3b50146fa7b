//! Sessions of users of the console, and links that work once. Both are found by the SHA-256 of their secret.

use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait as _, QueryFilter, QueryOrder};
use watchkeeper_entities::{console_link, console_session};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::console_session::{ConsoleLink, ConsoleSession, IDLE_MS, SESSION_MS};
use crate::model::token::TokenHash;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;

/// Stores a new session; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    session: ConsoleSession,
    hash: &TokenHash,
) -> Result<ConsoleSession, MainError> {
    let row = console_session::ActiveModel {
        public_id: Set(session.id.to_string()),
        user_id: Set(session.user),
        hash: Set(hash.to_vec()),
        address: Set(session.address.clone()),
        browser: Set(session.browser.clone()),
        created_at: Set(session.created_at.ms()),
        seen_at: Set(session.seen_at.ms()),
        ..console_session::ActiveModel::default()
    };
    let key = console_session::Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(ConsoleSession { key, ..session })
}

/// The session with this hash, ended or not.
pub async fn find_by_hash(
    connection: &dyn StoreConnection,
    hash: &TokenHash,
) -> Result<Option<ConsoleSession>, MainError> {
    let wanted = console_session::Column::Hash.eq(hash.to_vec());
    let row = console_session::Entity::find().filter(wanted).one(&connection).await?;
    row.map(session_of).transpose()
}

/// The session with this database key, ended or not.
pub async fn by_key(connection: &dyn StoreConnection, key: i64) -> Result<Option<ConsoleSession>, MainError> {
    let row = console_session::Entity::find_by_id(key).one(&connection).await?;
    row.map(session_of).transpose()
}

/// The sessions of a user, newest first.
pub async fn of_user(connection: &dyn StoreConnection, user: i64) -> Result<Vec<ConsoleSession>, MainError> {
    let wanted = console_session::Entity::find().filter(console_session::Column::UserId.eq(user));
    let rows = wanted.order_by_desc(console_session::Column::Id).all(&connection).await?;
    rows.into_iter().map(session_of).collect()
}

/// Stores the time of the last request.
pub async fn set_seen(connection: &dyn StoreConnection, key: i64, now: Timestamp) -> Result<(), MainError> {
    console_session::Entity::update_many()
        .col_expr(console_session::Column::SeenAt, Expr::value(now.ms()))
        .filter(console_session::Column::Id.eq(key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// Ends a session of a user; returns false if there is none with this id.
pub async fn delete(connection: &dyn StoreConnection, user: i64, id: Id) -> Result<bool, MainError> {
    let deleted = console_session::Entity::delete_many()
        .filter(console_session::Column::UserId.eq(user))
        .filter(console_session::Column::PublicId.eq(id.as_str()))
        .exec(&connection)
        .await?;
    Ok(deleted.rows_affected > 0)
}

/// Ends all sessions of a user.
pub async fn delete_all_of(connection: &dyn StoreConnection, user: i64) -> Result<(), MainError> {
    let of_user = console_session::Column::UserId.eq(user);
    console_session::Entity::delete_many().filter(of_user).exec(&connection).await?;
    Ok(())
}

/// Stores a link, in place of earlier ones of the same user. Links for the first user may be several, because each node of a
/// cluster makes one.
pub async fn insert_link(
    connection: &dyn StoreConnection,
    link: &ConsoleLink,
    hash: &TokenHash,
) -> Result<(), MainError> {
    if let Some(user) = link.user {
        delete_links_of(connection, user).await?;
    }
    let row = console_link::ActiveModel {
        hash: Set(hash.to_vec()),
        organisation_id: Set(link.organisation),
        user_id: Set(link.user),
        purpose: Set(link.purpose.as_str().into()),
        created_at: Set(link.created_at.ms()),
        expires_at: Set(link.expires_at.ms()),
        ..console_link::ActiveModel::default()
    };
    console_link::Entity::insert(row).exec(&connection).await?;
    Ok(())
}

/// Deletes the links of a user.
pub async fn delete_links_of(connection: &dyn StoreConnection, user: i64) -> Result<(), MainError> {
    let of_user = console_link::Column::UserId.eq(user);
    console_link::Entity::delete_many().filter(of_user).exec(&connection).await?;
    Ok(())
}

/// The link with this hash, expired or not.
pub async fn find_link(
    connection: &dyn StoreConnection,
    hash: &TokenHash,
) -> Result<Option<ConsoleLink>, MainError> {
    let wanted = console_link::Column::Hash.eq(hash.to_vec());
    let row = console_link::Entity::find().filter(wanted).one(&connection).await?;
    row.as_ref().map(link_of).transpose()
}

/// Deletes a link; returns false if it is gone already, because it was used or replaced.
pub async fn take_link(connection: &dyn StoreConnection, hash: &TokenHash) -> Result<bool, MainError> {
    let wanted = console_link::Column::Hash.eq(hash.to_vec());
    let deleted = console_link::Entity::delete_many().filter(wanted).exec(&connection).await?;
    Ok(deleted.rows_affected == 1)
}

/// Deletes the links and sessions that have ended.
pub async fn forget_old(connection: &dyn StoreConnection, now: Timestamp) -> Result<(), MainError> {
    let has_expired = console_link::Column::ExpiresAt.lte(now.ms());
    console_link::Entity::delete_many().filter(has_expired).exec(&connection).await?;
    let is_idle = console_session::Column::SeenAt.lte(now.plus_ms(-IDLE_MS).ms());
    let is_old = console_session::Column::CreatedAt.lte(now.plus_ms(-SESSION_MS).ms());
    console_session::Entity::delete_many().filter(is_idle.or(is_old)).exec(&connection).await?;
    Ok(())
}

fn session_of(row: console_session::Model) -> Result<ConsoleSession, MainError> {
    let corrupt = |_| MainError::corrupt("session", &row.id, &"its id is malformed");
    Ok(ConsoleSession {
        key: row.id,
        id: row.public_id.parse().map_err(corrupt)?,
        user: row.user_id,
        address: row.address,
        browser: row.browser,
        created_at: Timestamp::from_ms(row.created_at),
        seen_at: Timestamp::from_ms(row.seen_at),
    })
}

fn link_of(row: &console_link::Model) -> Result<ConsoleLink, MainError> {
    let corrupt = |_| MainError::corrupt("console link", &row.id, &"unknown purpose");
    Ok(ConsoleLink {
        organisation: row.organisation_id,
        user: row.user_id,
        purpose: row.purpose.parse().map_err(corrupt)?,
        created_at: Timestamp::from_ms(row.created_at),
        expires_at: Timestamp::from_ms(row.expires_at),
    })
}
