//! Users of the console. Each has a row of `token`, which holds its id, name, organisation and access scope.
//!
//! To write a user, the caller must hold the lock of the organisation, so that one owner is always left.

use std::collections::HashMap;

use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::console_user::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::token;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::TokenHolder;
use crate::model::console_user::ConsoleUser;
use crate::model::visibility::Visibility;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::tokens::unusable_hash;

fn people(organisation: i64) -> Select<token::Entity> {
    token::Entity::find()
        .filter(token::Column::OrganisationId.eq(organisation))
        .filter(token::Column::Holder.eq(TokenHolder::Person.as_str()))
}

/// The users on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
    window: PageWindow,
) -> Result<(Vec<ConsoleUser>, u64), MainError> {
    let wanted = people(organisation);
    let total = wanted.clone().count(&connection).await?;
    let tokens = wanted.order_by_asc(token::Column::Id).offset(window.offset).limit(window.limit);
    Ok((with_users(connection, tokens.all(&connection).await?).await?, total))
}

/// All users of an organisation, oldest first.
pub async fn all(connection: &dyn StoreConnection, organisation: i64) -> Result<Vec<ConsoleUser>, MainError> {
    let tokens = people(organisation).order_by_asc(token::Column::Id).all(&connection).await?;
    with_users(connection, tokens).await
}

/// The user of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<ConsoleUser>, MainError> {
    let tokens = people(visibility.organisation())
        .filter(token::Column::PublicId.eq(id.as_str()))
        .all(&connection)
        .await?;
    Ok(with_users(connection, tokens).await?.pop())
}

/// The user with this database key, of any organisation.
pub async fn by_key(connection: &dyn StoreConnection, key: i64) -> Result<Option<ConsoleUser>, MainError> {
    let tokens = token::Entity::find_by_id(key).all(&connection).await?;
    Ok(with_users(connection, tokens).await?.pop())
}

/// The user of any organisation with this e-mail address, in lower case.
pub async fn by_email(
    connection: &dyn StoreConnection,
    email: &str,
) -> Result<Option<ConsoleUser>, MainError> {
    match Entity::find().filter(Column::Email.eq(email)).one(&connection).await? {
        Some(row) => by_key(connection, row.token_id).await,
        None => Ok(None),
    }
}

/// Returns the number of users of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(people(organisation).count(&connection).await?)
}

/// Returns true if the installation has a user who can sign in.
pub async fn is_there_any(connection: &dyn StoreConnection) -> Result<bool, MainError> {
    let first = Entity::find().filter(Column::PasswordHash.is_not_null()).one(&connection).await?;
    Ok(first.is_some())
}

/// Stores a new user; its `key` is assigned by the database.
pub async fn insert(connection: &dyn StoreConnection, user: ConsoleUser) -> Result<ConsoleUser, MainError> {
    let row = token::ActiveModel {
        public_id: Set(user.id.to_string()),
        organisation_id: Set(user.organisation),
        name: Set(user.name.clone()),
        hash: Set(unusable_hash().to_vec()),
        permissions: Set(String::new()),
        expires_at: Set(None),
        created_at: Set(user.created_at.ms()),
        access_scope_id: Set(user.access_scope),
        holder: Set(TokenHolder::Person.as_str().into()),
        id: NotSet,
    };
    let key = token::Entity::insert(row).exec(&connection).await?.last_insert_id;
    let user = ConsoleUser { key, ..user };
    Entity::insert(to_row(&user)).exec_without_returning(&connection).await?;
    Ok(user)
}

/// Stores all fields of a changed user.
pub async fn update(connection: &dyn StoreConnection, user: &ConsoleUser) -> Result<(), MainError> {
    token::Entity::update_many()
        .col_expr(token::Column::Name, Expr::value(user.name.clone()))
        .col_expr(token::Column::AccessScopeId, Expr::value(user.access_scope))
        .filter(token::Column::Id.eq(user.key))
        .exec(&connection)
        .await?;
    to_row(user).update(&connection).await?;
    Ok(())
}

/// Deletes a user with its sessions and links.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    token::Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

async fn with_users(
    connection: &dyn StoreConnection,
    tokens: Vec<token::Model>,
) -> Result<Vec<ConsoleUser>, MainError> {
    let keys: Vec<i64> = tokens.iter().map(|token| token.id).collect();
    let rows = Entity::find().filter(Column::TokenId.is_in(keys)).all(&connection).await?;
    let mut rows: HashMap<i64, Model> = rows.into_iter().map(|row| (row.token_id, row)).collect();
    let found =
        tokens.into_iter().filter_map(|token| rows.remove(&token.id).map(|row| from_rows(token, row)));
    found.collect()
}

fn to_row(user: &ConsoleUser) -> ActiveModel {
    ActiveModel {
        token_id: Set(user.key),
        email: Set(user.email.clone()),
        password_hash: Set(user.password_hash.clone()),
        role: Set(user.role.as_str().into()),
        language: Set(user.language.clone()),
        has_shortcuts: Set(user.has_shortcuts),
        updated_at: Set(user.updated_at.ms()),
    }
}

fn from_rows(token: token::Model, row: Model) -> Result<ConsoleUser, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("user", &token.id, &problem);
    Ok(ConsoleUser {
        key: token.id,
        id: token.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: token.organisation_id,
        role: row.role.parse().map_err(|_| corrupt("unknown role"))?,
        name: token.name,
        email: row.email,
        password_hash: row.password_hash,
        access_scope: token.access_scope_id,
        language: row.language,
        has_shortcuts: row.has_shortcuts,
        created_at: Timestamp::from_ms(token.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
