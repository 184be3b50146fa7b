//! Organisations, their API tokens, and facts about the installation itself.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, pk_auto, string, text, var_binary};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let installation = Table::create()
            .table("installation")
            .col(string("name").primary_key())
            .col(text("value"))
            .to_owned();
        manager.create_table(installation).await?;
        manager.create_table(organisation()).await?;
        manager.create_table(token()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["token", "organisation", "installation"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn organisation() -> TableCreateStatement {
    Table::create()
        .table("organisation")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(text("name"))
        .col(string("plan"))
        .col(boolean("self_hosted"))
        .col(text("locales"))
        .col(string("default_locale"))
        .col(big_integer("created_at"))
        .to_owned()
}

fn token() -> TableCreateStatement {
    Table::create()
        .table("token")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("name"))
        .col(var_binary("hash", 32).unique_key())
        .col(text("permissions"))
        .col(big_integer_null("expires_at"))
        .col(big_integer("created_at"))
        .foreign_key(
            ForeignKey::create()
                .from("token", "organisation_id")
                .to("organisation", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}
