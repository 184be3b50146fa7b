//! The colour scheme of status pages, and a flag for component names that people have chosen.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{boolean, string};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let appearance = string("appearance").default("system").to_owned();
        let may_switch = boolean("allow_appearance_switch").default(true).to_owned();
        for column in [appearance, may_switch] {
            manager.alter_table(Table::alter().table("statuspage").add_column(column).to_owned()).await?;
        }
        // Until now the flag was kept only for managed components. Components that are not managed were created, or at
        // least kept, by people.
        let named = Query::update()
            .table("component")
            .value("has_own_name", true)
            .and_where(Expr::col("is_sync_managed").eq(false))
            .to_owned();
        manager.execute(named).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in ["allow_appearance_switch", "appearance"] {
            manager.alter_table(Table::alter().table("statuspage").drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
