//! The evidence that a service of an incident has failed, which messages contain, and a flag for timeline entries that
//! name services and are hidden from readers who see only some services.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{boolean, text_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let evidence = Table::alter().table("incident_service").add_column(text_null("evidence")).to_owned();
        manager.alter_table(evidence).await?;
        let names_services = boolean("names_services").default(false).to_owned();
        let mut entries = Table::alter();
        manager.alter_table(entries.table("incident_update").add_column(names_services).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (table, column) in [("incident_update", "names_services"), ("incident_service", "evidence")] {
            manager.alter_table(Table::alter().table(table).drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
