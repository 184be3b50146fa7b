//! SLA targets: agreed availabilities of services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An SLA target: an agreed availability of one service, or of all services with a tag.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sla_target")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// Database key of the service; null if the target is for a tag.
    pub service_id: Option<i64>,
    /// Database key of the tag whose services are meant; null if the target is for one service.
    pub tag_id: Option<i64>,
    /// Objective: the share of the measured time that must be up, in millionths.
    pub objective: i32,
    /// Kind of the period, as in the API.
    pub period: String,
    /// Length of a rolling period in days; null for a calendar period.
    pub rolling_days: Option<i32>,
    /// Name of the time zone in the IANA database.
    pub time_zone: String,
    /// Business hours, in which time counts, as text; null for all hours.
    pub business_hours: Option<String>,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
