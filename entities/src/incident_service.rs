//! An incident affects a service.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An incident affects a service.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_service")]
pub struct Model {
    /// Database key of the incident.
    #[sea_orm(primary_key, auto_increment = false)]
    pub incident_id: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// `degraded`, `partial_outage`, `major_outage`; null for notices.
    pub impact: Option<String>,
    /// True if the impact follows the severity.
    pub is_derived: bool,
    /// The time since which it is affected.
    pub added_at: i64,
    /// The time of its recovery.
    pub recovered_at: Option<i64>,
    /// Evidence of its trouble, as JSON; null where the engine has not detected it.
    pub evidence: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
