//! Indexes to find waiting digests and held messages of a channel.

use sea_orm_migration::prelude::*;

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "notification_delivery";
const INDEXES: [(&str, [&str; 3]); 2] = [
    ("notification_delivery_by_event", ["channel_id", "event", "ended_at"]),
    ("notification_delivery_by_hold", ["channel_id", "ended_at", "held_until"]),
];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, columns) in INDEXES {
            manager.create_index(index(name, TABLE, &columns)).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, _) in INDEXES {
            manager.drop_index(Index::drop().name(name).table(TABLE).to_owned()).await?;
        }
        Ok(())
    }
}
