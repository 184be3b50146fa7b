//! An incident.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An incident of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// JSON object: text by language.
    pub title: String,
    /// `standard`, `agent_liveness` or `notice`.
    pub kind: String,
    /// `investigating`, `identified`, `monitoring` or `resolved`.
    pub status: String,
    /// `minor`, `major` or `critical`.
    pub severity: String,
    /// True if status pages may show it.
    pub is_published: bool,
    /// Start of the incident.
    pub started_at: i64,
    /// End; null exactly while open.
    pub resolved_at: Option<i64>,
    /// Set by the client: true if it counts as downtime for SLA targets.
    pub sla_counts_as_downtime: bool,
    /// Id of the token that made it; null = the engine.
    pub created_by_id: Option<String>,
    /// Its name at that time.
    pub created_by_name: Option<String>,
    /// Time of the acknowledgement.
    pub acknowledged_at: Option<i64>,
    /// Id of the token that has.
    pub acknowledged_by_id: Option<String>,
    /// Its name at that time.
    pub acknowledged_by_name: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
