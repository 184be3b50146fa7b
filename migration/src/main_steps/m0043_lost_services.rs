//! A flag for components that were linked with a service, which tells a deleted service from one that was never set.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::boolean;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "component";
const LINKED: &str = "is_linked";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = boolean(LINKED).default(false).to_owned();
        manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        let linked = format!("UPDATE {TABLE} SET {LINKED} = TRUE WHERE service_id IS NOT NULL");
        manager.get_connection().execute_unprepared(&linked).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table(TABLE).drop_column(LINKED).to_owned()).await
    }
}
