//! A segment of the history: the unit in which sealed results are kept and dropped.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A segment of the history: the unit in which sealed results are kept and dropped.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "history_segment")]
pub struct Model {
    /// Names its file (SQLite) or its partitions (PostgreSQL).
    #[sea_orm(primary_key)]
    pub id: i32,
    /// 1 a day of small blocks, 2 a longer period of large ones.
    pub level: i16,
    /// The number of days for which its contents are kept.
    pub retention_days: i32,
    /// Start of the time that it holds.
    pub from_at: i64,
    /// End of its time, exclusive.
    pub to_at: i64,
    /// The newest batch that is published. Rows of later batches are not published yet.
    pub sealed_batch: i64,
    /// The time at which it was retired. It is dropped once it can have no readers any more.
    pub retired_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
