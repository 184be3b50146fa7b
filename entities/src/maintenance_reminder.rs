//! Reminders of maintenances that are not due yet. A row is deleted when its fact is written.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A reminder of a maintenance that is not due yet.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "maintenance_reminder")]
pub struct Model {
    /// Database key of the maintenance.
    #[sea_orm(primary_key, auto_increment = false)]
    pub maintenance_id: i64,
    /// Kind of the reminder: `day_before` or `hour_before`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// Time at which the reminder is due.
    pub due_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
