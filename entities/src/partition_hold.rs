//! The engine node that may write the measurements of a partition of the services. One row per partition that was
//! ever taken.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The engine node that may write the measurements of a partition of the services.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "partition_hold")]
pub struct Model {
    /// Number of the partition.
    #[sea_orm(primary_key, auto_increment = false)]
    pub partition: i16,
    /// Id of the node's data folder.
    pub holder: String,
    /// First part of the fencing token: the moment in which the store of the leases was made.
    pub epoch: i64,
    /// Second part of the fencing token: the revision of the ledger.
    pub revision: i64,
    /// The time at which the holder took it.
    pub taken_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
