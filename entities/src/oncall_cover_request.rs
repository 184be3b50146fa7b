//! Cover requests, in which a contact asks others to take over for a time.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A cover request: a contact asks others to take over for a time.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oncall_cover_request")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Database key of the schedule.
    pub schedule_id: i64,
    /// Database key of the contact who makes the request.
    pub contact_id: i64,
    /// Start of the time to be covered, inclusive.
    pub starts_at: i64,
    /// End of the time to be covered, exclusive.
    pub ends_at: i64,
    /// Note of the contact to those asked; null for none.
    pub note: Option<String>,
    /// Contacts who are asked, and which of them have declined, as JSON.
    pub asked: String,
    /// Status: `open`, `accepted`, `declined` or `cancelled`.
    pub status: String,
    /// Database key of the contact who accepted; null if nobody has.
    pub accepted_by_id: Option<i64>,
    /// Database key of the override that the acceptance created; null for none.
    pub override_id: Option<i64>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
