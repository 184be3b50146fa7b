//! Escalation policies, which decide who is notified of incidents, step by step.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An escalation policy, which decides who is notified of incidents, step by step.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "escalation_policy")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Position among the organisation's policies, from 1.
    pub position: i32,
    /// Display name of the policy.
    pub name: String,
    /// Conditions for the incidents that follow the policy, as JSON.
    pub assignment: String,
    /// Steps of the policy, as JSON.
    pub steps: String,
    /// Seconds after the last step at which the first step is repeated; null for no repetition.
    pub repeat_after_seconds: Option<i32>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
