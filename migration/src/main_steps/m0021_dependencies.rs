//! Dependencies of services on other services, named directly or by a tag.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, integer, pk_auto};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "service_dependency";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let dependencies = Table::create()
            .table(TABLE)
            .col(pk_auto("id").big_integer())
            .col(big_integer("service_id"))
            .col(integer("position"))
            .col(big_integer_null("parent_id"))
            .col(big_integer_null("tag_id"))
            .foreign_key(&mut reference((TABLE, "service_id"), "service", ForeignKeyAction::Cascade))
            .foreign_key(&mut reference((TABLE, "parent_id"), "service", ForeignKeyAction::Cascade))
            .foreign_key(&mut reference((TABLE, "tag_id"), "tag", ForeignKeyAction::Restrict))
            .to_owned();
        manager.create_table(dependencies).await?;
        for (name, column) in [
            ("service_dependency_by_service", "service_id"),
            ("service_dependency_by_parent", "parent_id"),
            ("service_dependency_by_tag", "tag_id"),
        ] {
            manager.create_index(index(name, TABLE, &[column])).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}
