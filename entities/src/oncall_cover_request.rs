//! A contact asks others to take over for a time.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A contact asks others to take over for a time.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oncall_cover_request")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// The schedule.
    pub schedule_id: i64,
    /// The contact who asks.
    pub contact_id: i64,
    /// The time from which on it counts.
    pub starts_at: i64,
    /// The time before which it counts.
    pub ends_at: i64,
    /// What is said with it.
    pub note: Option<String>,
    /// The contacts who are asked, with those who have declined, as JSON.
    pub asked: String,
    /// What became of it.
    pub status: String,
    /// The contact who accepted.
    pub accepted_by_id: Option<i64>,
    /// The override that this made.
    pub override_id: Option<i64>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relation is followed by the entities; `store` says what it joins.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
