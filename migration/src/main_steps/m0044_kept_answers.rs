//! The sizes of the answers stored for idempotency keys, and the resources from which large answers are rendered again.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string_null};

use super::index;

const TABLE: &str = "idempotency_key";
const INDEX: &str = "idempotency_key_kept";

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in [string_null("resource"), big_integer("body_bytes").default(0).to_owned()] {
            manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        }
        manager.create_index(index(INDEX, TABLE, &["token_id", "accepted_at", "body_bytes"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(INDEX).table(TABLE).to_owned()).await?;
        for column in ["body_bytes", "resource"] {
            manager.alter_table(Table::alter().table(TABLE).drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
