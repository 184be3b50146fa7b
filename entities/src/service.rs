//! Monitored services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A monitored service. If it has no settings, `interval_seconds`, `timeout_seconds`, `retries` and `config` are null.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service")]
pub struct Model {
    /// Database key, under which measurements are stored; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// Check type, as in the API.
    pub check_type: String,
    /// Target as the client wrote it; null for check types without a target.
    pub target: Option<String>,
    /// Seconds between two checks.
    pub interval_seconds: Option<i32>,
    /// Seconds that one attempt may take.
    pub timeout_seconds: Option<i16>,
    /// Number of further attempts before a bad result counts.
    pub retries: Option<i16>,
    /// Codes of the assigned locations, as a JSON list; null for all.
    pub assigned_probes: Option<String>,
    /// Roles by location code, as a JSON object; null if all are `full`.
    pub probe_roles: Option<String>,
    /// Configuration of the check type, as a JSON object with sealed secrets.
    pub config: Option<String>,
    /// Quorum for verdicts: `any`, `majority`, `all` or a number; null for the default.
    pub confirmation: Option<String>,
    /// Number of consecutive good results that end an outage; null for the default.
    pub recovery_checks: Option<i16>,
    /// Number of transitions from which the service counts as flapping, 0 for never; null for the default.
    pub flapping_changes: Option<i16>,
    /// Minutes within which transitions are counted; null for the default.
    pub flapping_minutes: Option<i16>,
    /// Start of the service's history: the time of its first settings, or earlier after an import; null without settings.
    pub configured_at: Option<i64>,
    /// Reason of the pause; null if the service is not paused.
    pub paused_reason: Option<String>,
    /// Start of the pause; null if the service is not paused.
    pub paused_at: Option<i64>,
    /// Status set by a status override; null if there is none.
    pub override_status: Option<String>,
    /// Reason of the status override.
    pub override_reason: Option<String>,
    /// Start of the status override.
    pub override_at: Option<i64>,
    /// Author of the status override.
    pub override_by: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
    /// Revision, which grows with every change that the engine must apply.
    pub revision: i64,
    /// True while a planned maintenance has an open window for the service, which excludes its time from uptime.
    pub in_planned_maintenance: bool,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
