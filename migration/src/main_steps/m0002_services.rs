//! Services, service windows, and the services whose history must be erased.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, integer_null, pk_auto, small_integer_null, string, string_null, text,
    text_null,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(service()).await?;
        let by_organisation = Index::create()
            .name("service_by_organisation")
            .table("service")
            .col("organisation_id")
            .col("created_at")
            .col("public_id")
            .to_owned();
        manager.create_index(by_organisation).await?;
        manager.create_table(service_window()).await?;
        let by_service = Index::create()
            .name("service_window_by_service")
            .table("service_window")
            .col("service_id")
            .col("from_at")
            .to_owned();
        manager.create_index(by_service).await?;
        let erasure =
            Table::create().table("history_erasure").col(big_integer("service_id").primary_key()).to_owned();
        manager.create_table(erasure).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["history_erasure", "service_window", "service"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn service() -> TableCreateStatement {
    Table::create()
        .table("service")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("name"))
        .col(string("check_type"))
        .col(text_null("target"))
        .col(integer_null("interval_seconds"))
        .col(small_integer_null("timeout_seconds"))
        .col(small_integer_null("retries"))
        .col(text_null("assigned_probes"))
        .col(text_null("probe_roles"))
        .col(text_null("config"))
        .col(big_integer_null("configured_at"))
        .col(string_null("paused_reason"))
        .col(big_integer_null("paused_at"))
        .col(string_null("override_status"))
        .col(text_null("override_reason"))
        .col(big_integer_null("override_at"))
        .col(text_null("override_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(big_integer("revision"))
        .foreign_key(
            ForeignKey::create()
                .from("service", "organisation_id")
                .to("organisation", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}

fn service_window() -> TableCreateStatement {
    Table::create()
        .table("service_window")
        .col(pk_auto("id").big_integer())
        .col(big_integer("service_id"))
        .col(string("kind"))
        .col(string_null("status"))
        .col(big_integer("from_at"))
        .col(big_integer_null("to_at"))
        .foreign_key(
            ForeignKey::create()
                .from("service_window", "service_id")
                .to("service", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}
