//! The index of lists of services also contains the check type and the pause. So a list by type, and the count of services that
//! are not paused, read only the index.

use sea_orm_migration::prelude::*;

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "service";
const BEFORE: (&str, &[&str]) = ("service_by_organisation", &["organisation_id", "created_at", "public_id"]);
const AFTER: (&str, &[&str]) =
    ("service_by_age", &["organisation_id", "created_at", "public_id", "check_type", "paused_at"]);

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        replace(manager, BEFORE, AFTER).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        replace(manager, AFTER, BEFORE).await
    }
}

async fn replace(
    manager: &SchemaManager<'_>,
    (old, _): (&'static str, &[&'static str]),
    (new, columns): (&'static str, &[&'static str]),
) -> Result<(), DbErr> {
    manager.create_index(index(new, TABLE, columns)).await?;
    manager.drop_index(Index::drop().name(old).table(TABLE).to_owned()).await
}
