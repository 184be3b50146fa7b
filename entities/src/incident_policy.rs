//! Incident policies, by which outages become incidents.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An incident policy: a rule by which outages become incidents.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_policy")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Position among the organisation's policies, from 1; the first policy that matches is used.
    pub position: i32,
    /// Display name.
    pub name: String,
    /// Database key of the tag of the services that the policy applies to; null for all services.
    pub tag_id: Option<i64>,
    /// Seconds for which an outage lasts before it becomes an incident.
    pub open_after_seconds: i32,
    /// Seconds of recovery after which the incident is resolved; null if members resolve it.
    pub resolve_after_seconds: Option<i32>,
    /// Severity of an incident for a service that is down; null for no incident.
    pub down_severity: Option<String>,
    /// Severity of an incident for a service that is degraded; null for no incident.
    pub degraded_severity: Option<String>,
    /// Severity of an incident for a service that is unstable; null for no incident.
    pub unstable_severity: Option<String>,
    /// True if incidents are published when they are opened.
    pub publish: bool,
    /// Word for how failures are grouped into one incident.
    pub group_by: String,
    /// Keys of the tags by which failures are grouped, as a JSON list; empty for any tag.
    pub group_by_tag_keys: String,
    /// Seconds within which failures are grouped into one incident.
    pub group_window_seconds: i32,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
