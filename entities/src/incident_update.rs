//! An entry of an incident's timeline.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An entry of an incident's timeline.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_update")]
pub struct Model {
    /// Key; grows with time.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// Database key of the incident.
    pub incident_id: i64,
    /// The status that it states.
    pub status: String,
    /// JSON object: text by language.
    pub message: String,
    /// True if subscribers are notified.
    pub notify_subscribers: bool,
    /// True if only members of the organisation see it.
    pub is_internal: bool,
    /// True if the engine names services in it: only members who see the whole organisation see it.
    pub names_services: bool,
    /// Time of creation.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
