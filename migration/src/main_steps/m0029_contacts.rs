//! Contacts: people who can be notified, and the secret addresses of their calendars.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, pk_auto, string, text, text_null, var_binary};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(contacts()).await?;
        manager.create_index(index("contact_by_organisation", "contact", &["organisation_id", "id"])).await?;
        manager.create_table(calendars()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["contact_calendar", "contact"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn contacts() -> TableCreateStatement {
    let mut organisation =
        reference(("contact", "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    Table::create()
        .table("contact")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("name"))
        .col(text("email"))
        .col(string("time_zone"))
        .col(string("language"))
        .col(text("channels"))
        .col(text_null("quiet_hours"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut organisation)
        .to_owned()
}

fn calendars() -> TableCreateStatement {
    let table = "contact_calendar";
    let mut contact = reference((table, "contact_id"), "contact", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(big_integer("contact_id").primary_key())
        .col(var_binary("secret_hash", 32).unique_key())
        .col(big_integer("created_at"))
        .foreign_key(&mut contact)
        .to_owned()
}
