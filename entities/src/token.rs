//! An API token; the secret itself is not stored.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An API token; the secret itself is not stored.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "token")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// SHA-256 of the whole token text.
    pub hash: Vec<u8>,
    /// Its permissions, separated by commas.
    pub permissions: String,
    /// The time at which it stops working by itself.
    pub expires_at: Option<i64>,
    /// Time of creation.
    pub created_at: i64,
    /// The access scope that it is confined to.
    pub access_scope_id: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
