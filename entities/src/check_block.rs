//! Finished checks of one series (a service and a location), sealed.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// Finished checks of one series (a service and a location), sealed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "check_block")]
pub struct Model {
    /// The segment that contains it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub segment: i32,
    /// The batch that it was written in.
    #[sea_orm(primary_key, auto_increment = false)]
    pub batch: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Number of the location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// Start of the first check.
    pub first_at: i64,
    /// Start of the last check.
    #[sea_orm(primary_key, auto_increment = false)]
    pub last_at: i64,
    /// Checks that were up.
    pub up: i32,
    /// Checks that were degraded.
    pub degraded: i32,
    /// Checks that were down.
    pub down: i32,
    /// The checks, column by column.
    pub body: Vec<u8>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
