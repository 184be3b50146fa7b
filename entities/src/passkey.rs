//! Passkeys of the users of the console.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A passkey by which a user signs in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "passkey")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id.
    pub public_id: String,
    /// Database key of the user's row of `token`.
    pub user_id: i64,
    /// Display name.
    pub name: String,
    /// Credential id, by which a device names the passkey.
    pub credential: Vec<u8>,
    /// Public key as a COSE key.
    pub public_key: Vec<u8>,
    /// Signature counter of the device after the last sign-in.
    pub sign_count: i64,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last sign-in, in Unix milliseconds; null before the first.
    pub last_used_at: Option<i64>,
    /// Origin of the console at which the passkey was registered.
    pub origin: String,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
