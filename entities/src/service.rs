//! A monitored service; the columns from `interval_seconds` to `config` are null together.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A monitored service; the columns from `interval_seconds` to `config` are null together.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "service")]
pub struct Model {
    /// Key; measurements are stored under it. Never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// Slug of the check type.
    pub check_type: String,
    /// As the client wrote it.
    pub target: Option<String>,
    /// Seconds between two checks.
    pub interval_seconds: Option<i32>,
    /// Seconds that one attempt may take.
    pub timeout_seconds: Option<i16>,
    /// Further attempts before a bad result counts.
    pub retries: Option<i16>,
    /// JSON list of location codes; null = all.
    pub assigned_probes: Option<String>,
    /// JSON object of roles by location code; null = all `full`.
    pub probe_roles: Option<String>,
    /// JSON object; secret leaves are sealed.
    pub config: Option<String>,
    /// The quorum of its verdicts: `any`, `majority`, `all` or a number; null = the default.
    pub confirmation: Option<String>,
    /// Good results in a row that end an outage; null = the default.
    pub recovery_checks: Option<i16>,
    /// Transitions before it counts as flapping, 0 = never; null = the default.
    pub flapping_changes: Option<i16>,
    /// Minutes in which they are counted; null = the default.
    pub flapping_minutes: Option<i16>,
    /// Time of the first settings.
    pub configured_at: Option<i64>,
    /// Set exactly while paused.
    pub paused_reason: Option<String>,
    /// Set exactly while paused.
    pub paused_at: Option<i64>,
    /// Set exactly while a status override is in force.
    pub override_status: Option<String>,
    /// The reason for the status override.
    pub override_reason: Option<String>,
    /// Start of the override.
    pub override_at: Option<i64>,
    /// Author of the override.
    pub override_by: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
    /// Number that grows with every write.
    pub revision: i64,
    /// True if planned maintenance excludes its time from uptime at the moment, according to its open windows.
    pub in_planned_maintenance: bool,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
