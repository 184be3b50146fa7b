//! API tokens. A token is found by the SHA-256 of its text; the text itself is never stored.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::token::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::{ApiToken, PermissionSet, TokenHolder};
use crate::model::token::TokenHash;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Number of keys per statement, because the number of bound values is limited.
const KEYS_AT_ONCE: usize = 1_000;

/// Stores a token; its `key` is assigned by the database and returned in the result.
pub async fn insert(
    connection: &dyn StoreConnection,
    token: ApiToken,
    hash: &TokenHash,
) -> Result<ApiToken, MainError> {
    let permissions: Vec<&str> = token.permissions.iter().map(|permission| permission.as_str()).collect();
    let row = ActiveModel {
        public_id: Set(token.id.to_string()),
        organisation_id: Set(token.organisation),
        name: Set(token.name.clone()),
        hash: Set(hash.to_vec()),
        permissions: Set(permissions.join(",")),
        expires_at: Set(token.expires_at.map(Timestamp::ms)),
        created_at: Set(token.created_at.ms()),
        access_scope_id: Set(token.access_scope),
        holder: Set(token.holder.as_str().into()),
        ..ActiveModel::default()
    };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(ApiToken { key, ..token })
}

/// The token with this hash, expired or not; `None` if it was revoked or never existed.
pub async fn find_by_hash(
    connection: &dyn StoreConnection,
    hash: &TokenHash,
) -> Result<Option<ApiToken>, MainError> {
    let row = Entity::find().filter(Column::Hash.eq(hash.to_vec())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Returns a hash that no text has, for a token of a user of the console.
///
/// # Panics
/// If the operating system provides no randomness.
#[must_use]
pub fn unusable_hash() -> TokenHash {
    let mut hash = TokenHash::default();
    getrandom::fill(&mut hash).expect("the operating system provides randomness");
    hash
}

fn of_programs() -> Select<Entity> {
    Entity::find().filter(Column::Holder.eq(TokenHolder::Program.as_str()))
}

/// The tokens of programs on this page of the list of an organisation, oldest first, and their total number.
pub async fn page(
    connection: &dyn StoreConnection,
    organisation: i64,
    window: PageWindow,
) -> Result<(Vec<ApiToken>, u64), MainError> {
    let wanted = of_programs().filter(Column::OrganisationId.eq(organisation));
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    let rows = rows.all(&connection).await?.into_iter().map(from_row);
    Ok((rows.collect::<Result<_, _>>()?, total))
}

/// The token of a program of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<ApiToken>, MainError> {
    let wanted = of_programs().filter(Column::OrganisationId.eq(visibility.organisation()));
    let row = wanted.filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Stores the name, permissions, access scope and expiry of a changed token.
pub async fn update(connection: &dyn StoreConnection, token: &ApiToken) -> Result<(), MainError> {
    let permissions: Vec<&str> = token.permissions.iter().map(|permission| permission.as_str()).collect();
    Entity::update_many()
        .col_expr(Column::Name, Expr::value(token.name.clone()))
        .col_expr(Column::Permissions, Expr::value(permissions.join(",")))
        .col_expr(Column::AccessScopeId, Expr::value(token.access_scope))
        .col_expr(Column::ExpiresAt, Expr::value(token.expires_at.map(Timestamp::ms)))
        .filter(Column::Id.eq(token.key))
        .exec(&connection)
        .await?;
    Ok(())
}

/// The tokens of programs of all organisations, or of one, oldest first.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: Option<i64>,
) -> Result<Vec<ApiToken>, MainError> {
    let mut query = of_programs().order_by_asc(Column::Id);
    if let Some(key) = organisation {
        query = query.filter(Column::OrganisationId.eq(key));
    }
    query.all(&connection).await?.into_iter().map(from_row).collect()
}

/// The tokens with these keys; revoked ones are not in the result.
pub async fn by_keys(connection: &dyn StoreConnection, keys: &[i64]) -> Result<Vec<ApiToken>, MainError> {
    let mut found = Vec::new();
    for some in keys.chunks(KEYS_AT_ONCE) {
        let rows = Entity::find().filter(Column::Id.is_in(some.iter().copied())).all(&connection).await?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// Revokes a token by deleting its row. Returns false if it does not exist.
pub async fn delete(connection: &dyn StoreConnection, id: Id) -> Result<bool, MainError> {
    let deleted = Entity::delete_many().filter(Column::PublicId.eq(id.as_str())).exec(&connection).await?;
    Ok(deleted.rows_affected > 0)
}

fn from_row(row: Model) -> Result<ApiToken, MainError> {
    let corrupt = |problem: String| MainError::corrupt("token", &row.id, &problem);
    let permissions = row.permissions.split(',').filter(|name| !name.is_empty()).map(str::parse);
    let permissions: PermissionSet = permissions
        .collect::<Result<_, crate::model::access::UnknownPermission>>()
        .map_err(|error| corrupt(error.to_string()))?;
    Ok(ApiToken {
        key: row.id,
        id: row.public_id.parse().map_err(|error: crate::id::InvalidId| corrupt(error.to_string()))?,
        organisation: row.organisation_id,
        permissions,
        expires_at: row.expires_at.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.created_at),
        access_scope: row.access_scope_id,
        holder: row.holder.parse().map_err(|_| corrupt("unknown holder".into()))?,
        name: row.name,
    })
}
