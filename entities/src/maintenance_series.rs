//! Maintenance series: maintenances that repeat by a rule.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A maintenance series: it creates maintenances by a recurrence rule.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_series")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Title of the series' maintenances, as a JSON object from language to text.
    pub title: String,
    /// First timeline entry of the series' maintenances, as a JSON object from language to text; null for a generated text.
    pub message: Option<String>,
    /// Kind: `planned` or `emergency`.
    pub kind: String,
    /// Status: `active`, `ended` or `cancelled`.
    pub status: String,
    /// Recurrence rule of RFC 5545, as the client wrote it.
    pub rrule: String,
    /// Name of the time zone in the IANA database.
    pub time_zone: String,
    /// Local time at the planned start of the first window, encoded as the Unix milliseconds of the same time in UTC.
    pub first_wall_ms: i64,
    /// Difference between the local times at the end and at the start of a window, in milliseconds.
    pub length_ms: i64,
    /// True if the maintenances of the series start automatically.
    pub auto_start: bool,
    /// True if the maintenances of the series end automatically.
    pub auto_complete: bool,
    /// True if subscribers are notified when a maintenance is created.
    pub notify_announcement: bool,
    /// True if subscribers are notified a day before a maintenance.
    pub notify_24h: bool,
    /// True if subscribers are notified an hour before a maintenance.
    pub notify_1h: bool,
    /// True if subscribers are notified of the start of a maintenance.
    pub notify_start: bool,
    /// True if subscribers are notified of the end of a maintenance.
    pub notify_complete: bool,
    /// Time at which maintenances are planned next.
    pub next_look_at: i64,
    /// Id of the token that created the series.
    pub created_by_id: Option<String>,
    /// Name of this token at that time.
    pub created_by_name: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
