//! A key of a token, running or with its stored answer.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A key of a token, running or with its stored answer.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_key")]
pub struct Model {
    /// Database key of the token.
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_id: i64,
    /// As the client sent it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// SHA-256 of the request.
    pub fingerprint: Vec<u8>,
    /// The random id of the run.
    pub claim: String,
    /// The node that runs it; null for rows of earlier versions.
    pub node: Option<String>,
    /// The time until which the run counts as running.
    pub leased_until: i64,
    /// The time of the first request.
    pub accepted_at: i64,
    /// Status of the stored answer; null while running.
    pub status: Option<i16>,
    /// `Location` of the stored answer.
    pub location: Option<String>,
    /// `Content-Language` of the stored answer.
    pub language: Option<String>,
    /// Sealed body of the stored answer; null when it was too long or has been cut.
    pub body: Option<String>,
    /// Path of the resource that the answer shows, from which it can be made again; empty when the request may run again; null
    /// when neither is so.
    pub resource: Option<String>,
    /// Length of `body` in bytes.
    pub body_bytes: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
