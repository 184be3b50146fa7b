//! Access scopes and their tags. Every finder is scoped by organisation and finds nothing for a confined token, except
//! `find_confining`.
//!
//! To write a scope, confine a token to it or delete a tag, the caller must hold the lock of the organisation.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::access_scope::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{access_scope_tag, token};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access_scope::AccessScope;
use crate::model::tag::Tag;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::tags;

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The scope with this id; `None` if it does not exist or the token is confined.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<AccessScope>, MainError> {
    if visibility.is_confined() {
        return Ok(None);
    }
    let query = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    query.one(&connection).await?.map(from_row).transpose()
}

/// The scope that the token is confined to; `None` if the token is not confined.
pub async fn find_confining(
    connection: &dyn StoreConnection,
    visibility: Visibility,
) -> Result<Option<AccessScope>, MainError> {
    let Some(scope) = visibility.scope() else { return Ok(None) };
    let query = of_organisation(visibility.organisation()).filter(Column::Id.eq(scope));
    query.one(&connection).await?.map(from_row).transpose()
}

/// All scopes of the organisation, sorted by name.
pub async fn all(connection: &dyn StoreConnection, organisation: i64) -> Result<Vec<AccessScope>, MainError> {
    let rows = of_organisation(organisation).order_by_asc(Column::FoldedName).all(&connection).await?;
    rows.into_iter().map(from_row).collect()
}

/// The scopes of the organisation on this page of the list, oldest first, and their total number. Empty for a confined
/// token.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    window: PageWindow,
) -> Result<(Vec<AccessScope>, u64), MainError> {
    if visibility.is_confined() {
        return Ok((Vec::new(), 0));
    }
    let wanted = of_organisation(visibility.organisation());
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((rows.into_iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// Returns how many scopes the organisation has.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Returns true if another scope of the organisation has this name, ignoring case.
pub async fn is_name_taken(connection: &dyn StoreConnection, scope: &AccessScope) -> Result<bool, MainError> {
    let same = of_organisation(scope.organisation)
        .filter(Column::FoldedName.eq(AccessScope::folded(&scope.name)))
        .filter(Column::Id.ne(scope.key));
    Ok(same.count(&connection).await? > 0)
}

/// Stores a new scope without tags; its `key` is assigned by the database and returned in the result.
pub async fn insert(connection: &dyn StoreConnection, scope: AccessScope) -> Result<AccessScope, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&scope) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(AccessScope { key, ..scope })
}

/// Stores all fields of the scope.
pub async fn update(connection: &dyn StoreConnection, scope: &AccessScope) -> Result<(), MainError> {
    to_row(scope).update(&connection).await?;
    Ok(())
}

/// Deletes the scope and its links with tags. The caller makes sure that no token is confined to it.
pub async fn delete(connection: &dyn StoreConnection, scope: i64) -> Result<(), MainError> {
    Entity::delete_by_id(scope).exec(&connection).await?;
    Ok(())
}

/// Replaces the tags of the scope by `tags` (database keys).
pub async fn set_tags(connection: &dyn StoreConnection, scope: i64, tags: &[i64]) -> Result<(), MainError> {
    let before = access_scope_tag::Column::AccessScopeId.eq(scope);
    access_scope_tag::Entity::delete_many().filter(before).exec(&connection).await?;
    let row = |tag: &i64| access_scope_tag::ActiveModel { access_scope_id: Set(scope), tag_id: Set(*tag) };
    if !tags.is_empty() {
        let rows = tags.iter().map(row);
        access_scope_tag::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// The tags of each of these scopes, sorted by label; a scope without tags is not in the result.
pub async fn tags_of(
    connection: &dyn StoreConnection,
    scopes: &[i64],
) -> Result<HashMap<i64, Vec<Tag>>, MainError> {
    let mut found: HashMap<i64, Vec<Tag>> = HashMap::new();
    for scopes in scopes.chunks(CHUNK) {
        let of_scopes = access_scope_tag::Column::AccessScopeId.is_in(scopes.iter().copied());
        let links = access_scope_tag::Entity::find().filter(of_scopes).all(&connection).await?;
        let keys: Vec<i64> = links.iter().map(|link| link.tag_id).collect();
        let known = tags::by_rows(connection, &keys).await?;
        for link in links {
            found.entry(link.access_scope_id).or_default().extend(known.get(&link.tag_id).cloned());
        }
    }
    for tags in found.values_mut() {
        tags.sort_by_cached_key(|tag| tag.name.label());
    }
    Ok(found)
}

/// The names of the tokens that are confined to each of these scopes, oldest token first. A scope without tokens is not
/// in the result.
pub async fn tokens_of(
    connection: &dyn StoreConnection,
    scopes: &[i64],
) -> Result<HashMap<i64, Vec<String>>, MainError> {
    let mut found: HashMap<i64, Vec<String>> = HashMap::new();
    for scopes in scopes.chunks(CHUNK) {
        let rows: Vec<(i64, String)> = token::Entity::find()
            .select_only()
            .columns([token::Column::AccessScopeId, token::Column::Name])
            .filter(token::Column::AccessScopeId.is_in(scopes.iter().copied()))
            .order_by_asc(token::Column::Id)
            .into_tuple()
            .all(&connection)
            .await?;
        for (scope, name) in rows {
            found.entry(scope).or_default().push(name);
        }
    }
    Ok(found)
}

/// Returns true if the token is not confined, or if one of these tags (database keys) is a tag of the scope that it is
/// confined to.
pub async fn has_one_of(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tags: &[i64],
) -> Result<bool, MainError> {
    let Some(scope) = visibility.scope() else { return Ok(true) };
    let of_scope = access_scope_tag::Entity::find()
        .filter(access_scope_tag::Column::AccessScopeId.eq(scope))
        .filter(access_scope_tag::Column::TagId.is_in(tags.iter().copied()));
    Ok(of_scope.count(&connection).await? > 0)
}

fn to_row(scope: &AccessScope) -> ActiveModel {
    ActiveModel {
        id: Set(scope.key),
        public_id: Set(scope.id.to_string()),
        organisation_id: Set(scope.organisation),
        name: Set(scope.name.clone()),
        folded_name: Set(AccessScope::folded(&scope.name)),
        created_at: Set(scope.created_at.ms()),
        updated_at: Set(scope.updated_at.ms()),
    }
}

fn from_row(row: Model) -> Result<AccessScope, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("access_scope", &row.id, &problem);
    Ok(AccessScope {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
        name: row.name,
    })
}
