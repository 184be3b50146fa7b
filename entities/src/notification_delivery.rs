//! A message for a channel.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A message for a channel.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notification_delivery")]
pub struct Model {
    /// Key; it rises in the order of the events of a subject.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients and receivers see, the same on every attempt.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// The channel that it is sent through.
    pub channel_id: i64,
    /// The contact that it is for; null: all readers of the channel.
    pub contact_id: Option<i64>,
    /// The id of its subject.
    pub subject: String,
    /// Event that the message reports.
    pub event: String,
    /// The message as JSON.
    pub message: String,
    /// `waiting`, `delivered`, `dead` or `gathered`.
    pub status: String,
    /// Number of attempts so far.
    pub tries: i32,
    /// Time of the fact.
    pub created_at: i64,
    /// Time at which it is given up.
    pub expires_at: i64,
    /// Time of the next attempt; null when there is none, or an earlier message about the same subject waits.
    pub due_at: Option<i64>,
    /// Time at which it was delivered, given up or combined into a digest.
    pub ended_at: Option<i64>,
    /// Time before which it is not sent; null: nothing holds it.
    pub held_until: Option<i64>,
    /// The reason for holding it.
    pub held_by: Option<String>,
    /// The id of the digest that includes it.
    pub digest_id: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
