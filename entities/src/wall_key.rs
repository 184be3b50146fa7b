//! Keys of walls: screens that show the state of all services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A key by which a screen shows the wall without a user.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "wall_key")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id.
    pub public_id: String,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// SHA-256 of the whole text of the key.
    pub hash: Vec<u8>,
    /// Database key of the access scope that the wall is confined to; null for none.
    pub access_scope_id: Option<i64>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
