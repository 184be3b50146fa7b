//! Attempts to deliver messages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An attempt to deliver a message.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notification_try")]
pub struct Model {
    /// Database key of the message.
    #[sea_orm(primary_key, auto_increment = false)]
    pub delivery_id: i64,
    /// Number of the attempt, from 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i32,
    /// Start of the attempt.
    pub at: i64,
    /// Duration of the attempt in milliseconds.
    pub took_ms: i64,
    /// Outcome: `delivered`, `failed`, `refused` or `unconfirmed`.
    pub outcome: String,
    /// Status code of the response; null without a response.
    pub status_code: Option<i32>,
    /// Response or error, without secrets.
    pub detail: String,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
