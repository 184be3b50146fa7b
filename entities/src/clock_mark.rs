//! The newest time that the wall clock showed while it was trusted. One row.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The newest time that the wall clock showed while it was trusted.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "clock_mark")]
pub struct Model {
    /// Always 1: there is one row.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    /// The newest trusted time.
    pub newest_at: i64,
    /// The time that a doubted clock showed; `None` while it is trusted.
    pub doubted_at: Option<i64>,
    /// Milliseconds for which the doubted clock had been steady.
    pub steady_ms: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
