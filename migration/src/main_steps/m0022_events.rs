//! Events: changes of incidents and maintenances in the order of writing, for the readers of the event log.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, text};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "event";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let events = Table::create()
            .table(TABLE)
            .col(pk_auto("id").big_integer())
            .col(big_integer("organisation_id"))
            .col(string("kind"))
            .col(string("act"))
            .col(string("subject_id"))
            .col(text("services"))
            .col(big_integer_null("noticed_at"))
            .foreign_key(&mut reference(
                (TABLE, "organisation_id"),
                "organisation",
                ForeignKeyAction::Cascade,
            ))
            .to_owned();
        manager.create_table(events).await?;
        manager.create_index(index("event_by_age", TABLE, &["noticed_at"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}
