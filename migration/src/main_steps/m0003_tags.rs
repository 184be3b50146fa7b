//! Tags, and their links with services.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, pk_auto, string, text};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(tag()).await?;
        manager
            .create_index(
                index("tag_by_name", "tag", &["organisation_id", "key", "value"]).unique().to_owned(),
            )
            .await?;
        manager.create_table(service_tag()).await?;
        manager.create_index(index("service_tag_by_tag", "service_tag", &["tag_id"]).to_owned()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["service_tag", "tag"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn tag() -> TableCreateStatement {
    Table::create()
        .table("tag")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(string("key"))
        .col(text("value"))
        .col(string("color"))
        .col(string("source"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(("tag", "organisation_id"), "organisation", ForeignKeyAction::Cascade))
        .to_owned()
}

fn service_tag() -> TableCreateStatement {
    Table::create()
        .table("service_tag")
        .col(big_integer("service_id"))
        .col(big_integer("tag_id"))
        .primary_key(Index::create().col("service_id").col("tag_id"))
        .foreign_key(&mut reference(("service_tag", "service_id"), "service", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference(("service_tag", "tag_id"), "tag", ForeignKeyAction::Cascade))
        .to_owned()
}
