//! The page that gave up a held slug, so that the number of held slugs per page can be limited.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::big_integer_null;

use crate::main_steps::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "slug_hold";
const PAGE: &str = "statuspage_id";
const BY_OWNER: &str = "slug_hold_by_owner";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = big_integer_null(PAGE);
        manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        manager.create_index(index(BY_OWNER, TABLE, &["organisation_id", PAGE, "freed_at"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(BY_OWNER).table(TABLE).to_owned()).await?;
        manager.alter_table(Table::alter().table(TABLE).drop_column(PAGE).to_owned()).await
    }
}
