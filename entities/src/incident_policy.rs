//! A rule by which outages become incidents.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A rule by which outages become incidents.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "incident_policy")]
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
    /// Display name.
    pub name: String,
    /// Services that carry it; null = all.
    pub tag_id: Option<i64>,
    /// Seconds that an outage lasts before it becomes an incident.
    pub open_after_seconds: i32,
    /// Seconds of recovery before it is resolved; null = members resolve it.
    pub resolve_after_seconds: Option<i32>,
    /// Severity of an outage that is down; null = no incident.
    pub down_severity: Option<String>,
    /// Severity of an outage that is degraded; null = no incident.
    pub degraded_severity: Option<String>,
    /// Severity of an outage that is unstable; null = no incident.
    pub unstable_severity: Option<String>,
    /// True if status pages show it from the start.
    pub publish: bool,
    /// The failures that become one incident.
    pub group_by: String,
    /// Keys of the tags that group failures, as a JSON list; empty = any tag.
    pub group_by_tag_keys: String,
    /// Seconds within which they do.
    pub group_window_seconds: i32,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
