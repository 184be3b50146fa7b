//! A promise about services.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An SLA target: a promised availability of services.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sla_target")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// Display name.
    pub name: String,
    /// The service that it is about; null = those with the tag.
    pub service_id: Option<i64>,
    /// The tag of the services that it is about; null = one service.
    pub tag_id: Option<i64>,
    /// Millionths of the measured time that must be up.
    pub objective: i32,
    /// The kind of its period.
    pub period: String,
    /// Days of a rolling period; null = of the calendar.
    pub rolling_days: Option<i32>,
    /// A name of the IANA database.
    pub time_zone: String,
    /// The hours that count, as text; null = all.
    pub business_hours: Option<String>,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
