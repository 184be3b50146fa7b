//! A rule that decides who is notified of incidents, step by step.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A rule that decides who is notified of incidents, step by step.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "escalation_policy")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// Its position in the order, from 1.
    pub position: i32,
    /// Display name of the policy.
    pub name: String,
    /// The incidents that follow it, as JSON.
    pub assignment: String,
    /// Its steps, as JSON.
    pub steps: String,
    /// Seconds after the last step at which the first one comes again; null: it does not.
    pub repeat_after_seconds: Option<i32>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
