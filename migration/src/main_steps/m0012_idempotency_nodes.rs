//! The node on which a request with an idempotency key runs.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::string_null;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = Table::alter().table("idempotency_key").add_column(string_null("node")).to_owned();
        manager.alter_table(column).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("idempotency_key").drop_column("node").to_owned()).await
    }
}
