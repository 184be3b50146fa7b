//! Tables for check results, status changes, and hourly sums of the results.
//!
//! Services are stored as their database key only; locations as their number in a dictionary.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, binary_null, integer, integer_null, pk_auto, small_integer, small_integer_null, string,
    text_null,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let location =
            Table::create().table("location").col(pk_auto("id")).col(string("code").unique_key()).to_owned();
        manager.create_table(location).await?;
        manager.create_table(check_result()).await?;
        let by_service = Index::create()
            .name("check_result_by_service")
            .table("check_result")
            .col("service_id")
            .col("checked_at")
            .col("location_id")
            .unique()
            .to_owned();
        manager.create_index(by_service).await?;
        manager.create_table(status_change()).await?;
        let by_service = Index::create()
            .name("status_change_by_service")
            .table("status_change")
            .col("service_id")
            .col("at")
            .col("from_status")
            .col("to_status")
            .unique()
            .to_owned();
        manager.create_index(by_service).await?;
        manager.create_table(check_hour()).await?;
        let progress = Table::create()
            .table("history_progress")
            .col(string("name").primary_key())
            .col(big_integer("value"))
            .to_owned();
        manager.create_table(progress).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["history_progress", "check_hour", "status_change", "check_result", "location"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

pub(super) fn check_result() -> TableCreateStatement {
    Table::create()
        .table("check_result")
        .col(pk_auto("id").big_integer())
        .col(big_integer("service_id"))
        .col(big_integer("checked_at"))
        .col(integer("location_id"))
        .col(big_integer("scheduled_at"))
        .col(small_integer("status"))
        .col(small_integer("attempt"))
        .col(small_integer("role"))
        .col(small_integer_null("status_code"))
        .col(integer_null("response_us"))
        .col(integer_null("dns_us"))
        .col(integer_null("connect_us"))
        .col(integer_null("tls_us"))
        .col(integer_null("ttfb_us"))
        .col(integer_null("transfer_us"))
        .col(integer_null("total_us"))
        .col(small_integer_null("error_code"))
        .col(text_null("error_message"))
        .to_owned()
}

fn status_change() -> TableCreateStatement {
    Table::create()
        .table("status_change")
        .col(pk_auto("id").big_integer())
        .col(big_integer("service_id"))
        .col(big_integer("at"))
        .col(small_integer("from_status"))
        .col(small_integer("to_status"))
        .col(small_integer("cause"))
        .to_owned()
}

pub(super) fn check_hour() -> TableCreateStatement {
    Table::create()
        .table("check_hour")
        .col(big_integer("service_id"))
        .col(big_integer("start"))
        .col(integer("location_id"))
        .col(integer("checks"))
        .col(integer("failed"))
        .col(integer("answered"))
        .col(big_integer("sum_us"))
        .col(integer("min_us"))
        .col(integer("max_us"))
        .col(binary_null("histogram"))
        .primary_key(Index::create().col("service_id").col("start").col("location_id"))
        .to_owned()
}
