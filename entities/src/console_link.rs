//! Links to the console that work once.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A link by which a person becomes a user, or sets a new password. Using the link deletes the row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "console_link")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// SHA-256 of the secret in the link.
    pub hash: Vec<u8>,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Database key of the user's row of `token`; null for the first user of an organisation.
    pub user_id: Option<i64>,
    /// What the link is for.
    pub purpose: String,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time at which the link expires.
    pub expires_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
