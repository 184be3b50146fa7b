//! The services that a change of an incident or a maintenance has unlinked, so that readers who filter by these services
//! learn of the change.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let former = text("former_services").default("").to_owned();
        manager.alter_table(Table::alter().table("event").add_column(former).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("event").drop_column("former_services").to_owned()).await
    }
}
