//! The newest trusted time of the wall clock. The table has one row.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The newest time that the wall clock showed while it was trusted.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "clock_mark")]
pub struct Model {
    /// Always 1, because the table has one row.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    /// The newest trusted time.
    pub newest_at: i64,
    /// Time that the clock showed when it was last in doubt; null while the clock is trusted.
    pub doubted_at: Option<i64>,
    /// Time for which the doubted clock had been steady, in milliseconds.
    pub steady_ms: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
