//! Holds on partitions: which engine node may write their measurements. A partition that was ever taken has a row.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A hold on a partition of the services: the engine node that may write its measurements.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "partition_hold")]
pub struct Model {
    /// Number of the partition.
    #[sea_orm(primary_key, auto_increment = false)]
    pub partition: i16,
    /// Id of the node's data folder.
    pub holder: String,
    /// First part of the fencing token: the time at which the store of the leases was created.
    pub epoch: i64,
    /// Second part of the fencing token: the revision of the ledger.
    pub revision: i64,
    /// Time at which the node took the partition.
    pub taken_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
