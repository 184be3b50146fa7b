//! Indexes to find the due messages of each channel: all of them, and those without an attempt. They contain waiting
//! messages only, and replace an index of all messages.

use sea_orm_migration::prelude::*;

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "notification_delivery";
const FORMER: &str = "notification_delivery_by_due";
const INDEXES: [(&str, &str); 2] = [
    ("notification_delivery_due", "due_at IS NOT NULL"),
    ("notification_delivery_due_first", "due_at IS NOT NULL AND tries = 0"),
];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, condition) in INDEXES {
            let text = format!("CREATE INDEX {name} ON {TABLE} (channel_id, due_at, id) WHERE {condition}");
            manager.get_connection().execute_unprepared(&text).await?;
        }
        manager.drop_index(Index::drop().name(FORMER).table(TABLE).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_index(index(FORMER, TABLE, &["due_at", "id"])).await?;
        for (name, _) in INDEXES {
            manager.drop_index(Index::drop().name(name).table(TABLE).to_owned()).await?;
        }
        Ok(())
    }
}
