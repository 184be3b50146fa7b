//! The checks of one series over an hour or a day, summed up.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The checks of one series over an hour or a day, summed up.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "check_rollup")]
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
    /// Start of the hour or day.
    #[sea_orm(primary_key, auto_increment = false)]
    pub start: i64,
    /// Counts and response times of the whole and of its parts.
    pub body: Vec<u8>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
