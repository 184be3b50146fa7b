//! Incidents, their timelines, the services that they affect and the pages chosen for them.

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
        manager.create_table(incident()).await?;
        manager
            .create_index(
                index(
                    "incident_by_organisation",
                    "incident",
                    &["organisation_id", "started_at", "public_id"],
                )
                .to_owned(),
            )
            .await?;
        manager.create_table(incident_update()).await?;
        manager
            .create_index(
                index("incident_update_by_incident", "incident_update", &["incident_id"]).to_owned(),
            )
            .await?;
        manager.create_table(incident_service()).await?;
        manager
            .create_index(
                index("incident_service_by_service", "incident_service", &["service_id"]).to_owned(),
            )
            .await?;
        manager.create_table(incident_statuspage()).await?;
        manager
            .create_index(
                index("incident_statuspage_by_page", "incident_statuspage", &["statuspage_id"]).to_owned(),
            )
            .await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["incident_statuspage", "incident_service", "incident_update", "incident"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn incident() -> TableCreateStatement {
    Table::create()
        .table("incident")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("title"))
        .col(string("kind"))
        .col(string("status"))
        .col(string("severity"))
        .col(boolean("is_published"))
        .col(big_integer("started_at"))
        .col(big_integer_null("resolved_at"))
        .col(boolean("sla_counts_as_downtime"))
        .col(string_null("created_by_id"))
        .col(text_null("created_by_name"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut reference(
            ("incident", "organisation_id"),
            "organisation",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn incident_update() -> TableCreateStatement {
    Table::create()
        .table("incident_update")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("incident_id"))
        .col(string("status"))
        .col(text("message"))
        .col(boolean("notify_subscribers"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(
            ("incident_update", "incident_id"),
            "incident",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn incident_service() -> TableCreateStatement {
    Table::create()
        .table("incident_service")
        .col(big_integer("incident_id"))
        .col(big_integer("service_id"))
        .col(string_null("impact"))
        .col(boolean("is_derived"))
        .col(big_integer("added_at"))
        .col(big_integer_null("recovered_at"))
        .primary_key(Index::create().col("incident_id").col("service_id"))
        .foreign_key(&mut reference(
            ("incident_service", "incident_id"),
            "incident",
            ForeignKeyAction::Cascade,
        ))
        .foreign_key(&mut reference(("incident_service", "service_id"), "service", ForeignKeyAction::Cascade))
        .to_owned()
}

fn incident_statuspage() -> TableCreateStatement {
    Table::create()
        .table("incident_statuspage")
        .col(big_integer("incident_id"))
        .col(big_integer("statuspage_id"))
        .col(integer("position"))
        .primary_key(Index::create().col("incident_id").col("statuspage_id"))
        .foreign_key(&mut reference(
            ("incident_statuspage", "incident_id"),
            "incident",
            ForeignKeyAction::Cascade,
        ))
        .foreign_key(&mut reference(
            ("incident_statuspage", "statuspage_id"),
            "statuspage",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}
