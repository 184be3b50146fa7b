//! API tokens. The secret itself is not stored.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An API token. The secret itself is not stored.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "token")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// SHA-256 of the whole token text.
    pub hash: Vec<u8>,
    /// Permissions of the token, separated by commas.
    pub permissions: String,
    /// Time at which the token expires; null for never.
    pub expires_at: Option<i64>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Database key of the access scope that the token is confined to; null for none.
    pub access_scope_id: Option<i64>,
    /// Who holds the token: `program`, or `person` for the row of a user of the console.
    pub holder: String,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
