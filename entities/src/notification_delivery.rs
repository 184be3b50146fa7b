//! Messages for notification channels (the outbox).

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A message for a notification channel.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "notification_delivery")]
pub struct Model {
    /// Database key; rises in the order of the events of a subject.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API and in the message; the same on every attempt.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Database key of the channel through which the message is sent.
    pub channel_id: i64,
    /// Database key of the contact whom the message is for; null for all recipients of the channel.
    pub contact_id: Option<i64>,
    /// Public id of the subject, such as an incident.
    pub subject: String,
    /// Event that the message reports.
    pub event: String,
    /// Contents of the message, as JSON.
    pub message: String,
    /// Status: `waiting`, `delivered`, `dead` or `gathered`.
    pub status: String,
    /// Number of finished attempts.
    pub tries: i32,
    /// Time at which the message was written.
    pub created_at: i64,
    /// Time at which the message is given up.
    pub expires_at: i64,
    /// Time of the next attempt; null if there is none, or while an earlier message about the same subject waits.
    pub due_at: Option<i64>,
    /// Time at which the message was delivered, given up or combined into a digest; null before.
    pub ended_at: Option<i64>,
    /// Time until which the message is held; null if it is not held.
    pub held_until: Option<i64>,
    /// Reason for the hold; null if the message is not held.
    pub held_by: Option<String>,
    /// Public id of the digest that replaces the message; null for none.
    pub digest_id: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
