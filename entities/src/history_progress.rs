//! Progress of background work on the history.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A number that records the progress of background work on the history.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "history_progress")]
pub struct Model {
    /// Name of the number, such as `sealing`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The number. What it means depends on the name: often a time in Unix milliseconds, or a fencing token.
    pub value: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
