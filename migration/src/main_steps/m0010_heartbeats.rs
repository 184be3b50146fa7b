//! Ping addresses of heartbeat services and their last pings.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, text, var_binary};

use super::reference;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(heartbeat()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["heartbeat"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn heartbeat() -> TableCreateStatement {
    Table::create()
        .table("heartbeat")
        .col(big_integer("service_id"))
        .col(var_binary("secret_hash", 32).unique_key())
        .col(text("secret"))
        .col(big_integer_null("last_ping_at"))
        .col(boolean("last_ping_failed"))
        .col(big_integer_null("counts_from"))
        .primary_key(Index::create().col("service_id"))
        .foreign_key(&mut reference(("heartbeat", "service_id"), "service", ForeignKeyAction::Cascade))
        .to_owned()
}
