//! Maintenance series: their rules and templates, the occurrences that people removed from them, and for each maintenance
//! its occurrence.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, pk_auto, string, string_null, text, text_null,
};

use super::{index, reference};

const TABLES: [&str; 4] =
    ["maintenance_skip", "maintenance_series_statuspage", "maintenance_series_service", "maintenance_series"];

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [series(), series_service(), series_statuspage(), skip()] {
            manager.create_table(table).await?;
        }
        for (name, table, columns) in [
            (
                "maintenance_series_by_organisation",
                "maintenance_series",
                &["organisation_id", "created_at", "public_id"][..],
            ),
            ("maintenance_series_by_look", "maintenance_series", &["status", "next_look_at"]),
            ("maintenance_series_service_by_service", "maintenance_series_service", &["service_id"]),
            ("maintenance_series_statuspage_by_page", "maintenance_series_statuspage", &["statuspage_id"]),
        ] {
            manager.create_index(index(name, table, columns).to_owned()).await?;
        }
        for column in [
            big_integer_null("series_id"),
            big_integer_null("occurrence"),
            boolean("is_adjusted").default(false).take(),
        ] {
            let of_series = Table::alter().table("maintenance").add_column(column).to_owned();
            manager.alter_table(of_series).await?;
        }
        let once =
            index("maintenance_occurrence", "maintenance", &["series_id", "occurrence"]).unique().to_owned();
        manager.create_index(once).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let once = Index::drop().name("maintenance_occurrence").table("maintenance").to_owned();
        manager.drop_index(once).await?;
        for column in ["is_adjusted", "occurrence", "series_id"] {
            let of_series = Table::alter().table("maintenance").drop_column(column).to_owned();
            manager.alter_table(of_series).await?;
        }
        for table in TABLES {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn series() -> TableCreateStatement {
    Table::create()
        .table("maintenance_series")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("title"))
        .col(text_null("message"))
        .col(string("kind"))
        .col(string("status"))
        .col(text("rrule"))
        .col(string("time_zone"))
        .col(big_integer("first_wall_ms"))
        .col(big_integer("length_ms"))
        .col(boolean("auto_start"))
        .col(boolean("auto_complete"))
        .col(boolean("notify_announcement"))
        .col(boolean("notify_24h"))
        .col(boolean("notify_1h"))
        .col(boolean("notify_start"))
        .col(boolean("notify_complete"))
        .col(big_integer("next_look_at"))
        .col(string_null("created_by_id"))
        .col(text_null("created_by_name"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut reference(
            ("maintenance_series", "organisation_id"),
            "organisation",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn series_service() -> TableCreateStatement {
    Table::create()
        .table("maintenance_series_service")
        .col(big_integer("series_id"))
        .col(big_integer("service_id"))
        .primary_key(Index::create().col("series_id").col("service_id"))
        .foreign_key(&mut of_series("maintenance_series_service"))
        .foreign_key(&mut reference(
            ("maintenance_series_service", "service_id"),
            "service",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn series_statuspage() -> TableCreateStatement {
    Table::create()
        .table("maintenance_series_statuspage")
        .col(big_integer("series_id"))
        .col(big_integer("statuspage_id"))
        .col(integer("position"))
        .primary_key(Index::create().col("series_id").col("statuspage_id"))
        .foreign_key(&mut of_series("maintenance_series_statuspage"))
        .foreign_key(&mut reference(
            ("maintenance_series_statuspage", "statuspage_id"),
            "statuspage",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn skip() -> TableCreateStatement {
    Table::create()
        .table("maintenance_skip")
        .col(big_integer("series_id"))
        .col(big_integer("occurrence"))
        .primary_key(Index::create().col("series_id").col("occurrence"))
        .foreign_key(&mut of_series("maintenance_skip"))
        .to_owned()
}

fn of_series(table: &'static str) -> ForeignKeyCreateStatement {
    reference((table, "series_id"), "maintenance_series", ForeignKeyAction::Cascade)
}
