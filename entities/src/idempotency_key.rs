//! Idempotency keys of tokens, running or with their stored answers.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An idempotency key of a token, running or with its stored answer.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_key")]
pub struct Model {
    /// Database key of the token.
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_id: i64,
    /// Key as the client sent it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// SHA-256 of the request.
    pub fingerprint: Vec<u8>,
    /// Random id of the run that holds the key.
    pub claim: String,
    /// Id of the node on which the run takes place; null in rows of earlier versions.
    pub node: Option<String>,
    /// Time at which the lease of the run expires.
    pub leased_until: i64,
    /// Time of the first request with the key.
    pub accepted_at: i64,
    /// HTTP status of the stored answer; null while the run lasts.
    pub status: Option<i16>,
    /// Header `Location` of the stored answer.
    pub location: Option<String>,
    /// Header `Content-Language` of the stored answer.
    pub language: Option<String>,
    /// Sealed body of the stored answer; null if it was too long, or was deleted to save space.
    pub body: Option<String>,
    /// Path of the resource from which the answer can be rendered again; empty if the request may run again; null if
    /// neither is possible.
    pub resource: Option<String>,
    /// Length of `body` in bytes.
    pub body_bytes: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
