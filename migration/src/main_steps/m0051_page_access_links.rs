//! Links by which the readers on the list of a page open it.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(page_access_link()).await?;
        let mut by_id = index("page_access_link_by_id", "page_access_link", &["link_id"]);
        manager.create_index(by_id.unique().to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("page_access_link").to_owned()).await
    }
}

fn page_access_link() -> TableCreateStatement {
    Table::create()
        .table("page_access_link")
        .col(big_integer("statuspage_id"))
        .col(string("address"))
        .col(string("link_id"))
        .col(big_integer("asked_at"))
        .primary_key(Index::create().col("statuspage_id").col("address"))
        .foreign_key(&mut reference(
            ("page_access_link", "statuspage_id"),
            "statuspage",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}
