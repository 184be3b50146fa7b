//! Rollups: the checks of one series over an hour or a day, summed up.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A rollup: the checks of one series over an hour or a day, summed up.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "check_rollup")]
pub struct Model {
    /// Number of the segment that contains the rollup.
    #[sea_orm(primary_key, auto_increment = false)]
    pub segment: i32,
    /// Number of the batch in which the rollup was written.
    #[sea_orm(primary_key, auto_increment = false)]
    pub batch: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Number of the location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// Start of the hour or day, in Unix milliseconds.
    #[sea_orm(primary_key, auto_increment = false)]
    pub start: i64,
    /// Encoded counts and response times of the whole time and of its parts.
    pub body: Vec<u8>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
