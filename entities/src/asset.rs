//! A file of a status page.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A file of a status page.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "asset")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// `logo`, `logo-dark` or `favicon`.
    pub kind: String,
    /// Media type, found by content.
    pub content_type: String,
    /// Hash of the content; part of its address.
    pub hash: String,
    /// The file as it is served.
    pub bytes: Vec<u8>,
    /// Time of the upload.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
