//! Custom domains: host names of status pages in addition to their slugs.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, string_null};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(custom_domain()).await?;
        manager
            .create_index(
                index("custom_domain_by_statuspage", "custom_domain", &["statuspage_id"]).to_owned(),
            )
            .await?;
        manager
            .create_index(index("custom_domain_by_next_look", "custom_domain", &["next_look_at"]).to_owned())
            .await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["custom_domain"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn custom_domain() -> TableCreateStatement {
    Table::create()
        .table("custom_domain")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("statuspage_id"))
        .col(string("hostname").unique_key())
        .col(string("status"))
        .col(string("txt_value"))
        .col(big_integer_null("verified_at"))
        .col(string_null("last_error_code"))
        .col(big_integer_null("next_look_at"))
        .col(big_integer_null("wrong_since"))
        .col(big_integer_null("asked_at"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(
            ("custom_domain", "statuspage_id"),
            "statuspage",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}
