//! Links between incidents and the services that they affect.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A service that an incident affects.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_service")]
pub struct Model {
    /// Database key of the incident.
    #[sea_orm(primary_key, auto_increment = false)]
    pub incident_id: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Impact on the service: `degraded`, `partial_outage` or `major_outage`; null for notices.
    pub impact: Option<String>,
    /// True if the impact is derived from the severity of the incident.
    pub is_derived: bool,
    /// Time since when the incident affects the service.
    pub added_at: i64,
    /// Time at which the service recovered; null before.
    pub recovered_at: Option<i64>,
    /// Evidence of the failure, as JSON; null if the engine did not detect it.
    pub evidence: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
