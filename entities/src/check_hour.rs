//! The results of one service, one location and one hour, summed up.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The results of one service, one location and one hour, summed up.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "check_hour")]
pub struct Model {
    /// The service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Start of the hour.
    #[sea_orm(primary_key, auto_increment = false)]
    pub start: i64,
    /// The location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// Finished checks.
    pub checks: i32,
    /// Checks that were `down`.
    pub failed: i32,
    /// Checks with role `full` that got an answer.
    pub answered: i32,
    /// Sum of the response times of the answered ones.
    pub sum_us: i64,
    /// The shortest of them; 0 when none.
    pub min_us: i32,
    /// The longest of them; 0 when none.
    pub max_us: i32,
    /// Their hdrhistogram (2 significant digits), in the sparse form.
    pub histogram: Option<Vec<u8>>,
}

/// No relation is followed by the entities; `store` says what it joins.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
