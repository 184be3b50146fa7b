//! Entries of incident timelines.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An entry of an incident's timeline.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_update")]
pub struct Model {
    /// Database key; rises with time.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the incident.
    pub incident_id: i64,
    /// Status of the incident from this entry on.
    pub status: String,
    /// Text as a JSON object from language to text.
    pub message: String,
    /// True if subscribers are notified.
    pub notify_subscribers: bool,
    /// True if only members of the organisation can see the entry.
    pub is_internal: bool,
    /// True if the engine names services in the entry; only members who see all services can see it.
    pub names_services: bool,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
