//! Positions of the readers of status changes, by partition.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The position of a reader of status changes in one partition.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "feed_position")]
pub struct Model {
    /// Name of the reader.
    #[sea_orm(primary_key, auto_increment = false)]
    pub reader: String,
    /// Number of the partition of services.
    #[sea_orm(primary_key, auto_increment = false)]
    pub partition: i32,
    /// Number of the last change whose effects are stored in this database.
    pub position: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
