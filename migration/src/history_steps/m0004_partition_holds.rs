//! Holds on partitions of the services: the fencing tokens with which engine nodes write.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, small_integer, string};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let hold = Table::create()
            .table("partition_hold")
            .col(small_integer("partition"))
            .col(string("holder"))
            .col(big_integer("epoch"))
            .col(big_integer("revision"))
            .col(big_integer("taken_at"))
            .primary_key(Index::create().col("partition"))
            .to_owned();
        manager.create_table(hold).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("partition_hold").to_owned()).await
    }
}
