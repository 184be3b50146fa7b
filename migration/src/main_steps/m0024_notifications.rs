//! Notification channels, and the outbox: messages for channels, with all attempts to deliver them.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, integer_null, pk_auto, string, text,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(channels()).await?;
        let of_organisation =
            index("notification_channel_by_organisation", "notification_channel", &["organisation_id", "id"]);
        manager.create_index(of_organisation).await?;
        manager.create_table(deliveries()).await?;
        for (name, columns) in [
            ("notification_delivery_by_organisation", ["organisation_id", "id"].as_slice()),
            ("notification_delivery_by_status", &["organisation_id", "status", "id"]),
            ("notification_delivery_by_subject", &["subject", "channel_id", "id"]),
            ("notification_delivery_by_due", &["due_at", "id"]),
            ("notification_delivery_by_end", &["ended_at"]),
        ] {
            manager.create_index(index(name, "notification_delivery", columns)).await?;
        }
        manager.create_table(tries()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["notification_try", "notification_delivery", "notification_channel"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn channels() -> TableCreateStatement {
    let mut organisation =
        reference(("notification_channel", "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    Table::create()
        .table("notification_channel")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(string("kind"))
        .col(text("name"))
        .col(boolean("is_enabled"))
        .col(text("settings"))
        .col(text("routing"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut organisation)
        .to_owned()
}

fn deliveries() -> TableCreateStatement {
    let table = "notification_delivery";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut channel = reference((table, "channel_id"), "notification_channel", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(big_integer("channel_id"))
        .col(string("subject"))
        .col(string("event"))
        .col(text("message"))
        .col(string("status"))
        .col(integer("tries"))
        .col(big_integer("created_at"))
        .col(big_integer("expires_at"))
        .col(big_integer_null("due_at"))
        .col(big_integer_null("ended_at"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut channel)
        .to_owned()
}

fn tries() -> TableCreateStatement {
    let table = "notification_try";
    let mut delivery = reference((table, "delivery_id"), "notification_delivery", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(big_integer("delivery_id"))
        .col(integer("number"))
        .col(big_integer("at"))
        .col(big_integer("took_ms"))
        .col(string("outcome"))
        .col(integer_null("status_code"))
        .col(text("detail"))
        .primary_key(Index::create().col("delivery_id").col("number"))
        .foreign_key(&mut delivery)
        .to_owned()
}
