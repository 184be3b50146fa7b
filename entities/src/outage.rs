//! Outages of services, from which incidents are opened and resolved.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The current outage of a service.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outage")]
pub struct Model {
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Database key of the organisation.
    pub organisation_id: i64,
    /// Kind: `unstable`, `degraded` or `down`.
    pub kind: String,
    /// Time since when the outage has been of the present `kind`.
    pub began_at: i64,
    /// Time at which the service started to flap since it was last up; null if it has not.
    pub first_unstable_at: Option<i64>,
    /// First time at which the service was degraded since it was last up; null if it was not.
    pub first_degraded_at: Option<i64>,
    /// First time at which the service was down since it was last up; null if it was not.
    pub first_down_at: Option<i64>,
    /// While the service flaps and is down, the time at which it went down; null otherwise, and once it counts as down.
    pub down_since: Option<i64>,
    /// False while there is no data, as in a pause.
    pub is_measured: bool,
    /// True while the service flaps.
    pub is_flapping: bool,
    /// Time at which the outage was reported to an incident; null while this is undecided.
    pub told_at: Option<i64>,
    /// Database key of the incident; null for none.
    pub incident_id: Option<i64>,
    /// Time at which the service recovered, while the incident waits whether this lasts; null otherwise.
    pub recovered_at: Option<i64>,
    /// Time at which a check of the service's dependencies, or of the service itself, was requested; null for none.
    pub asked_at: Option<i64>,
    /// Time until which the outage waits for the requested checks; null for none.
    pub held_until: Option<i64>,
    /// Time since when the service has been unreachable, because a service that it depends on is down; null if it is not.
    pub unreachable_since: Option<i64>,
    /// Time at which the outage is evaluated next; null for not before the next change.
    pub look_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
