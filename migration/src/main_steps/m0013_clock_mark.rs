//! The newest time that the wall clock showed while it was trusted.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, integer};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mark = Table::create()
            .table("clock_mark")
            .col(integer("id"))
            .col(big_integer("newest_at"))
            .col(big_integer_null("doubted_at"))
            .col(big_integer("steady_ms"))
            .primary_key(Index::create().col("id"))
            .to_owned();
        manager.create_table(mark).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("clock_mark").to_owned()).await
    }
}
