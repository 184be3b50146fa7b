//! Maintenances, their timelines, the services that they cover and the pages chosen for them.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, pk_auto, string, string_null, text, text_null,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(maintenance()).await?;
        manager
            .create_index(
                index(
                    "maintenance_by_organisation",
                    "maintenance",
                    &["organisation_id", "scheduled_start", "public_id"],
                )
                .to_owned(),
            )
            .await?;
        manager
            .create_index(
                index("maintenance_by_status", "maintenance", &["status", "scheduled_start"]).to_owned(),
            )
            .await?;
        manager.create_table(maintenance_update()).await?;
        manager
            .create_index(
                index("maintenance_update_by_maintenance", "maintenance_update", &["maintenance_id"])
                    .to_owned(),
            )
            .await?;
        manager.create_table(maintenance_service()).await?;
        manager
            .create_index(
                index("maintenance_service_by_service", "maintenance_service", &["service_id"]).to_owned(),
            )
            .await?;
        manager.create_table(maintenance_statuspage()).await?;
        manager
            .create_index(
                index("maintenance_statuspage_by_page", "maintenance_statuspage", &["statuspage_id"])
                    .to_owned(),
            )
            .await?;
        let of_maintenance =
            Table::alter().table("service_window").add_column(big_integer_null("maintenance_id")).to_owned();
        manager.alter_table(of_maintenance).await?;
        manager
            .create_index(
                index("service_window_by_maintenance", "service_window", &["maintenance_id"]).to_owned(),
            )
            .await?;
        let in_maintenance = Table::alter()
            .table("service")
            .add_column(boolean("in_planned_maintenance").default(false))
            .to_owned();
        manager.alter_table(in_maintenance).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let in_maintenance = Table::alter().table("service").drop_column("in_planned_maintenance").to_owned();
        manager.alter_table(in_maintenance).await?;
        manager
            .drop_index(
                Index::drop().name("service_window_by_maintenance").table("service_window").to_owned(),
            )
            .await?;
        let of_maintenance = Table::alter().table("service_window").drop_column("maintenance_id").to_owned();
        manager.alter_table(of_maintenance).await?;
        for table in ["maintenance_statuspage", "maintenance_service", "maintenance_update", "maintenance"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn maintenance() -> TableCreateStatement {
    Table::create()
        .table("maintenance")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("title"))
        .col(string("kind"))
        .col(string("status"))
        .col(big_integer("scheduled_start"))
        .col(big_integer_null("scheduled_end"))
        .col(big_integer_null("actual_start"))
        .col(big_integer_null("actual_end"))
        .col(boolean("auto_start"))
        .col(boolean("auto_complete"))
        .col(boolean("notify_announcement"))
        .col(boolean("notify_24h"))
        .col(boolean("notify_1h"))
        .col(boolean("notify_start"))
        .col(boolean("notify_complete"))
        .col(string_null("created_by_id"))
        .col(text_null("created_by_name"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut reference(
            ("maintenance", "organisation_id"),
            "organisation",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn maintenance_update() -> TableCreateStatement {
    Table::create()
        .table("maintenance_update")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("maintenance_id"))
        .col(string("status"))
        .col(text("message"))
        .col(boolean("notify_subscribers"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(
            ("maintenance_update", "maintenance_id"),
            "maintenance",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn maintenance_service() -> TableCreateStatement {
    Table::create()
        .table("maintenance_service")
        .col(big_integer("maintenance_id"))
        .col(big_integer("service_id"))
        .primary_key(Index::create().col("maintenance_id").col("service_id"))
        .foreign_key(&mut reference(
            ("maintenance_service", "maintenance_id"),
            "maintenance",
            ForeignKeyAction::Cascade,
        ))
        .foreign_key(&mut reference(
            ("maintenance_service", "service_id"),
            "service",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn maintenance_statuspage() -> TableCreateStatement {
    Table::create()
        .table("maintenance_statuspage")
        .col(big_integer("maintenance_id"))
        .col(big_integer("statuspage_id"))
        .col(integer("position"))
        .primary_key(Index::create().col("maintenance_id").col("statuspage_id"))
        .foreign_key(&mut reference(
            ("maintenance_statuspage", "maintenance_id"),
            "maintenance",
            ForeignKeyAction::Cascade,
        ))
        .foreign_key(&mut reference(
            ("maintenance_statuspage", "statuspage_id"),
            "statuspage",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}
