//! Tags of organisations.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A tag of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tag")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Key of the tag, in lower case.
    pub key: String,
    /// Value of the tag, case preserved; empty for a tag without value.
    pub value: String,
    /// Colour as `#RRGGBB`, in the case that the client sent.
    pub color: String,
    /// Creator of the tag: `user` or `system`.
    pub source: String,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
