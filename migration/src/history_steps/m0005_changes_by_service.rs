//! An index of the status changes of a service by number, so that the changes after a number are found without reading
//! older ones or those of other services.

use sea_orm_migration::prelude::*;

const NAME: &str = "status_change_by_number";
const TABLE: &str = "status_change";

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let index = Index::create().name(NAME).table(TABLE).col("service_id").col("id").to_owned();
        manager.create_index(index).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(NAME).table(TABLE).to_owned()).await
    }
}
