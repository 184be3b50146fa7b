//! A maintenance window that comes again.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A maintenance window that comes again.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_series")]
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
    /// JSON object: the first entry of every timeline, by language; null = generated.
    pub message: Option<String>,
    /// `planned` or `emergency`.
    pub kind: String,
    /// `active`, `ended` or `cancelled`.
    pub status: String,
    /// The rule of RFC 5545, as the client wrote it.
    pub rrule: String,
    /// Name of the time zone.
    pub time_zone: String,
    /// Planned start of the first window as clocks in the zone show it, in milliseconds as if they showed UTC.
    pub first_wall_ms: i64,
    /// The difference between the wall times at the end and at the start of a window, in milliseconds.
    pub length_ms: i64,
    /// True if its maintenances start by themselves.
    pub auto_start: bool,
    /// True if they end by themselves.
    pub auto_complete: bool,
    /// True if subscribers are notified of their creation.
    pub notify_announcement: bool,
    /// True if they are notified a day before.
    pub notify_24h: bool,
    /// True if they are notified an hour before.
    pub notify_1h: bool,
    /// True if they are notified of the start.
    pub notify_start: bool,
    /// True if they are notified of the end.
    pub notify_complete: bool,
    /// The time at which the next maintenances are created.
    pub next_look_at: i64,
    /// Id of the token that made it.
    pub created_by_id: Option<String>,
    /// Its name at that time.
    pub created_by_name: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
