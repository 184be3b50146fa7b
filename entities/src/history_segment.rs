//! The catalogue of segments, the units in which sealed results are stored and dropped.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A segment of the history: the unit in which sealed results are stored and dropped.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "history_segment")]
pub struct Model {
    /// Number of the segment, part of the name of its file (SQLite) or its table partitions (PostgreSQL).
    #[sea_orm(primary_key)]
    pub id: i32,
    /// Level: 1 for a day of small blocks, 2 for a longer period of large blocks.
    pub level: i16,
    /// Number of days for which the results in the segment are kept.
    pub retention_days: i32,
    /// Start of the time range of the segment, inclusive.
    pub from_at: i64,
    /// End of the time range of the segment, exclusive.
    pub to_at: i64,
    /// Number of the last published batch. Rows of later batches are not valid yet.
    pub sealed_batch: i64,
    /// Time at which the segment was retired; null while it is in use. It is dropped once no reader can use it any longer.
    pub retired_at: Option<i64>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
