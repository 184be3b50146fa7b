//! Holds of messages, which wait for the end of quiet hours or for a digest, and the digest that includes a message.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer_null, string_null};

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "notification_delivery";
const COLUMNS: [&str; 3] = ["held_until", "held_by", "digest_id"];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let [until, by, digest] = COLUMNS;
        for column in [big_integer_null(until), string_null(by), string_null(digest)] {
            manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        }
        let recent = index("notification_delivery_by_channel", TABLE, &["channel_id", "created_at"]);
        manager.create_index(recent).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let recent = Index::drop().name("notification_delivery_by_channel").table(TABLE).to_owned();
        manager.drop_index(recent).await?;
        for column in COLUMNS {
            manager.alter_table(Table::alter().table(TABLE).drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
