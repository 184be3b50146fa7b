//! Time spans in which processes listened for pings. A ping missed outside of them is not the fault of its service.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, pk_auto, string};

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "listening_span";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let spans = Table::create()
            .table(TABLE)
            .col(pk_auto("id").big_integer())
            .col(string("node"))
            .col(big_integer("from_at"))
            .col(big_integer("to_at"))
            .to_owned();
        manager.create_table(spans).await?;
        manager.create_index(index("listening_span_by_node", TABLE, &["node", "id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}
