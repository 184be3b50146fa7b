//! Challenges that devices with passkeys have to sign.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A challenge that works once.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "passkey_challenge")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// SHA-256 of the challenge.
    pub hash: Vec<u8>,
    /// Database key of the user who adds a passkey; null for a sign-in.
    pub user_id: Option<i64>,
    /// Time at which the challenge expires, in Unix milliseconds.
    pub expires_at: i64,
    /// Origin of the console for which the challenge was given out.
    pub origin: String,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
