//! Files of status pages, such as logos. They are found by page, which is scoped by organisation, or by the hash in
//! their address, which need not be secret and cannot be guessed.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Query;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter,
    QuerySelect,
};
use watchkeeper_entities::asset::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::statuspage;

use crate::clock::Timestamp;
use crate::model::asset::AssetKind;
use crate::model::statuspage::word::AccessType;
use crate::store::error::MainError;

/// An uploaded file to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAsset {
    /// Database key of the page.
    pub statuspage: i64,
    /// Use of the file on the page, such as the logo.
    pub kind: AssetKind,
    /// Media type, sent as `Content-Type`.
    pub content_type: String,
    /// Hash of the content, by which the file is addressed.
    pub hash: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Time of the upload.
    pub created_at: Timestamp,
}

/// The stored content and media type of a file, as visitors get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Media type, sent as `Content-Type`.
    pub content_type: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// The hashes of a page's files, by kind. Rows with an unknown kind are left out.
pub async fn hashes(
    connection: &dyn StoreConnection,
    statuspage: i64,
) -> Result<HashMap<AssetKind, String>, MainError> {
    let rows: Vec<(String, String)> = Entity::find()
        .select_only()
        .columns([Column::Kind, Column::Hash])
        .filter(Column::StatuspageId.eq(statuspage))
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(rows.into_iter().filter_map(|(kind, hash)| Some((kind.parse().ok()?, hash))).collect())
}

/// Stores a page's file and deletes the earlier file of the same kind.
pub async fn replace(connection: &dyn StoreConnection, asset: NewAsset) -> Result<(), MainError> {
    delete(connection, asset.statuspage, asset.kind).await?;
    let row = ActiveModel {
        statuspage_id: Set(asset.statuspage),
        kind: Set(asset.kind.as_str().into()),
        content_type: Set(asset.content_type),
        hash: Set(asset.hash),
        bytes: Set(asset.bytes),
        created_at: Set(asset.created_at.ms()),
        id: NotSet,
    };
    row.insert(&connection).await?;
    Ok(())
}

/// Deletes a page's file of this kind; returns true if there was one.
pub async fn delete(
    connection: &dyn StoreConnection,
    statuspage: i64,
    kind: AssetKind,
) -> Result<bool, MainError> {
    let deleted = Entity::delete_many()
        .filter(Column::StatuspageId.eq(statuspage))
        .filter(Column::Kind.eq(kind.as_str()))
        .exec(&connection)
        .await?;
    Ok(deleted.rows_affected > 0)
}

/// The file with this hash, of a page of any organisation that all visitors may see, published or not. For visitors.
pub async fn find_public(
    connection: &dyn StoreConnection,
    hash: &str,
) -> Result<Option<StoredFile>, MainError> {
    let public = Query::select()
        .column(statuspage::Column::Id)
        .from(statuspage::Entity)
        .and_where(statuspage::Column::AccessType.eq(AccessType::Public.as_str()))
        .to_owned();
    let found = Entity::find().filter(Column::Hash.eq(hash)).filter(Column::StatuspageId.in_subquery(public));
    Ok(found.one(&connection).await?.map(content))
}

/// The file of a page with this hash. For visitors who may see the page.
pub async fn find_of_page(
    connection: &dyn StoreConnection,
    statuspage: i64,
    hash: &str,
) -> Result<Option<StoredFile>, MainError> {
    let found = Entity::find().filter(Column::Hash.eq(hash)).filter(Column::StatuspageId.eq(statuspage));
    Ok(found.one(&connection).await?.map(content))
}

fn content(row: Model) -> StoredFile {
    StoredFile { content_type: row.content_type, bytes: row.bytes }
}
