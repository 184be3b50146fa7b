//! A service in trouble, as far as incidents follow it.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A service in trouble, as far as incidents follow it.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outage")]
pub struct Model {
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// `unstable`, `degraded` or `down`.
    pub kind: String,
    /// Start of trouble of this kind.
    pub began_at: i64,
    /// Start of flapping since it was last up.
    pub first_unstable_at: Option<i64>,
    /// First time at which it was degraded since then.
    pub first_degraded_at: Option<i64>,
    /// First time at which it was down since then.
    pub first_down_at: Option<i64>,
    /// Since when it is down without a change, while it flaps.
    pub down_since: Option<i64>,
    /// False when there is no data.
    pub is_measured: bool,
    /// True while the status changes too often.
    pub is_flapping: bool,
    /// Time at which it was reported to its incident; null while that is undecided.
    pub told_at: Option<i64>,
    /// Database key of the incident.
    pub incident_id: Option<i64>,
    /// Time of its return, if the incident waits whether that lasts.
    pub recovered_at: Option<i64>,
    /// Time at which a check of its dependencies, or of the service itself, was requested.
    pub asked_at: Option<i64>,
    /// It becomes no incident before.
    pub held_until: Option<i64>,
    /// Since when a service that it depends on is down.
    pub unreachable_since: Option<i64>,
    /// Time at which it is evaluated again.
    pub look_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
