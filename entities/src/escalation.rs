//! The progress of incidents in the escalation policies that they follow. An incident has a row while it is open and not
//! acknowledged.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The progress of an incident in the escalation policy that it follows.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "escalation")]
pub struct Model {
    /// Database key of the incident.
    #[sea_orm(primary_key, auto_increment = false)]
    pub incident_id: i64,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Database key of the escalation policy.
    pub policy_id: i64,
    /// Number of the round, from 1.
    pub round: i32,
    /// Index of the next step, from 0.
    pub next_step: i32,
    /// Time at which the next step is due; null if there is none.
    pub due_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
