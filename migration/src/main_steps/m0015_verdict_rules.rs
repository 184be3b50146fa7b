//! The rules by which the status of a service is decided. They are null in existing rows, which stands for the defaults.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{small_integer_null, string_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = [
            string_null("confirmation"),
            small_integer_null("recovery_checks"),
            small_integer_null("flapping_changes"),
            small_integer_null("flapping_minutes"),
        ];
        for column in columns {
            manager.alter_table(Table::alter().table("service").add_column(column).to_owned()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in ["flapping_minutes", "flapping_changes", "recovery_checks", "confirmation"] {
            manager.alter_table(Table::alter().table("service").drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
