//! Occurrences that members have removed from a maintenance series.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// An occurrence that members have removed from a maintenance series.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_skip")]
pub struct Model {
    /// Database key of the series.
    #[sea_orm(primary_key, auto_increment = false)]
    pub series_id: i64,
    /// Start that the rule gives for the occurrence.
    #[sea_orm(primary_key, auto_increment = false)]
    pub occurrence: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
