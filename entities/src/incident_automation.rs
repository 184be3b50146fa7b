//! Incidents that the engine has opened.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An incident that the engine has opened.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_automation")]
pub struct Model {
    /// Database key of the incident.
    #[sea_orm(primary_key, auto_increment = false)]
    pub incident_id: i64,
    /// Database key of the policy that the incident follows; null if the policy was deleted.
    pub policy_id: Option<i64>,
    /// Fields of the incident that members have edited, separated by commas.
    pub edited: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
