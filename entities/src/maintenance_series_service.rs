//! Links between maintenance series and the services that they cover.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A service that a maintenance series covers.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_series_service")]
pub struct Model {
    /// Database key of the series.
    #[sea_orm(primary_key, auto_increment = false)]
    pub series_id: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
