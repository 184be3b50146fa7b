//! Entries of maintenance timelines.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An entry of a maintenance's timeline.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_update")]
pub struct Model {
    /// Database key; rises with time.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the maintenance.
    pub maintenance_id: i64,
    /// Status of the maintenance from this entry on.
    pub status: String,
    /// Text as a JSON object from language to text.
    pub message: String,
    /// True if subscribers are notified.
    pub notify_subscribers: bool,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
