//! An index of the events of an organisation by number, so that events that a client has missed are read without those of
//! other organisations.

use sea_orm_migration::prelude::*;

use super::index;

const NAME: &str = "event_by_organisation";
const TABLE: &str = "event";

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_index(index(NAME, TABLE, &["organisation_id", "id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(NAME).table(TABLE).to_owned()).await
    }
}
