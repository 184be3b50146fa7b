//! Blocks of finished checks of one series (a service and a location).

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A block: sealed checks of one series (a service and a location).
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "check_block")]
pub struct Model {
    /// Number of the segment that contains the block.
    #[sea_orm(primary_key, auto_increment = false)]
    pub segment: i32,
    /// Number of the batch in which the block was written.
    #[sea_orm(primary_key, auto_increment = false)]
    pub batch: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Number of the location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// Start of the first check, in Unix milliseconds.
    pub first_at: i64,
    /// Start of the last check, in Unix milliseconds.
    #[sea_orm(primary_key, auto_increment = false)]
    pub last_at: i64,
    /// Number of checks that were up.
    pub up: i32,
    /// Number of checks that were degraded.
    pub degraded: i32,
    /// Number of checks that were down.
    pub down: i32,
    /// The checks, encoded column by column.
    pub body: Vec<u8>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
