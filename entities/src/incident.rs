//! Incidents of organisations.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An incident of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Title as a JSON object from language to text.
    pub title: String,
    /// Kind: `standard`, `agent_liveness` or `notice`.
    pub kind: String,
    /// Status: `investigating`, `identified`, `monitoring` or `resolved`.
    pub status: String,
    /// Severity: `minor`, `major` or `critical`.
    pub severity: String,
    /// True if status pages may show the incident.
    pub is_published: bool,
    /// Start of the incident.
    pub started_at: i64,
    /// Time of resolution; null while the incident is open.
    pub resolved_at: Option<i64>,
    /// True if the incident counts as downtime for SLA targets, as the client decided.
    pub sla_counts_as_downtime: bool,
    /// Id of the token that created the incident; null if the engine did.
    pub created_by_id: Option<String>,
    /// Name of this token at that time.
    pub created_by_name: Option<String>,
    /// Time of the acknowledgement; null for none.
    pub acknowledged_at: Option<i64>,
    /// Id of the token that acknowledged the incident.
    pub acknowledged_by_id: Option<String>,
    /// Name of this token at that time.
    pub acknowledged_by_name: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
