//! Facts for the subscribers of status pages.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A fact for the subscribers of status pages.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "subscriber_fact")]
pub struct Model {
    /// Database key; rises in the order of the facts of an incident or a maintenance.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, the same in all messages about the fact.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Kind of the fact.
    pub kind: String,
    /// Database key of the incident; null for a fact about a maintenance.
    pub incident_id: Option<i64>,
    /// Database key of the maintenance; null for a fact about an incident.
    pub maintenance_id: Option<i64>,
    /// Public id of the timeline entry; null for a reminder.
    pub entry: Option<String>,
    /// Planned start that a reminder is about; null for other facts.
    pub window_start: Option<i64>,
    /// Title of the incident or maintenance at that time, as a JSON object from language to text.
    pub title: String,
    /// Text of the fact, as a JSON object from language to text.
    pub message: String,
    /// The time of the fact.
    pub at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
