//! Figures that a status page shows if its owner wants it: locations, and the agreed availability.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::boolean;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "statuspage";
const COLUMNS: [&str; 2] = ["show_locations", "show_sla"];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in COLUMNS {
            let column = boolean(name).default(false).to_owned();
            manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in COLUMNS {
            manager.alter_table(Table::alter().table(TABLE).drop_column(name).to_owned()).await?;
        }
        Ok(())
    }
}
