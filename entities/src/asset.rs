//! Files of status pages, such as logos.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A file of a status page, such as its logo.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "asset")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Use of the file: `logo`, `logo-dark` or `favicon`.
    pub kind: String,
    /// Media type, detected from the content.
    pub content_type: String,
    /// Hash of the content, which is part of the file's address.
    pub hash: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Time of the upload, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
