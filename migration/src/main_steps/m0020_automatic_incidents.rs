//! Incidents that the engine opens: the outages behind them, the fields that people have edited, and the positions up to
//! which status changes have been read.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, integer, string, string_null};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(position()).await?;
        manager.create_table(automation()).await?;
        manager
            .create_index(index("incident_automation_by_policy", "incident_automation", &["policy_id"]))
            .await?;
        manager.create_table(outage()).await?;
        for (name, column) in [
            ("outage_by_look", "look_at"),
            ("outage_by_incident", "incident_id"),
            ("outage_by_organisation", "organisation_id"),
        ] {
            manager.create_index(index(name, "outage", &[column])).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["outage", "incident_automation", "feed_position"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn position() -> TableCreateStatement {
    Table::create()
        .table("feed_position")
        .col(string("reader"))
        .col(integer("partition"))
        .col(big_integer("position"))
        .primary_key(Index::create().col("reader").col("partition"))
        .to_owned()
}

fn automation() -> TableCreateStatement {
    Table::create()
        .table("incident_automation")
        .col(big_integer("incident_id").primary_key())
        .col(big_integer_null("policy_id"))
        .col(string_null("edited"))
        .foreign_key(&mut reference(
            ("incident_automation", "incident_id"),
            "incident",
            ForeignKeyAction::Cascade,
        ))
        .foreign_key(&mut reference(
            ("incident_automation", "policy_id"),
            "incident_policy",
            ForeignKeyAction::SetNull,
        ))
        .to_owned()
}

fn outage() -> TableCreateStatement {
    Table::create()
        .table("outage")
        .col(big_integer("service_id").primary_key())
        .col(big_integer("organisation_id"))
        .col(string("kind"))
        .col(big_integer("began_at"))
        .col(boolean("is_measured"))
        .col(boolean("is_flapping"))
        .col(big_integer_null("told_at"))
        .col(big_integer_null("incident_id"))
        .col(big_integer_null("recovered_at"))
        .col(big_integer_null("asked_at"))
        .col(big_integer_null("held_until"))
        .col(big_integer_null("unreachable_since"))
        .col(big_integer_null("look_at"))
        .foreign_key(&mut reference(("outage", "service_id"), "service", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference(("outage", "organisation_id"), "organisation", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference(("outage", "incident_id"), "incident", ForeignKeyAction::SetNull))
        .to_owned()
}
