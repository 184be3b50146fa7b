//! Messages to subscribers of status pages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A message to a subscriber.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber_delivery")]
pub struct Model {
    /// Key of the row.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that the receiver sees, the same in every attempt.
    pub public_id: String,
    /// Database key of the status page.
    pub statuspage_id: i64,
    /// Database key of the subscriber.
    pub subscriber_id: i64,
    /// Database key of the fact that the message is about; null for the message that proves the address.
    pub fact_id: Option<i64>,
    /// True for a mail.
    pub is_mail: bool,
    /// Status: `waiting`, `delivered` or `dead`.
    pub status: String,
    /// Number of attempts so far.
    pub tries: i32,
    /// Time of the next attempt; null if there is none.
    pub due_at: Option<i64>,
    /// Time at which the message is given up.
    pub expires_at: i64,
    /// Time at which it was delivered or given up; null before.
    pub ended_at: Option<i64>,
    /// The last answer of the receiver or the last error; null before the first attempt.
    pub detail: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
