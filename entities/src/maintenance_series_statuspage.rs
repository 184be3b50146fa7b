//! Links between maintenance series and the status pages chosen for them.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A status page that was chosen for a maintenance series.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_series_statuspage")]
pub struct Model {
    /// Database key of the series.
    #[sea_orm(primary_key, auto_increment = false)]
    pub series_id: i64,
    /// Database key of the status page.
    #[sea_orm(primary_key, auto_increment = false)]
    pub statuspage_id: i64,
    /// Position in the list that the client gave, from 0.
    pub position: i32,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
