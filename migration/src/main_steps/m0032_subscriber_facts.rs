//! Facts for the subscribers of status pages, and reminders of scheduled maintenances.
//!
//! Maintenances that are already scheduled get the reminders that are not due yet.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, string_null, text};
use sea_orm_migration::sea_orm::DbBackend;

use super::{index, reference};

/// Kind of the reminder, the flag of a maintenance that requests it, and the time before the start in milliseconds.
const REMINDERS: [(&str, &str, i64); 2] =
    [("day_before", "notify_24h", 86_400_000), ("hour_before", "notify_1h", 3_600_000)];

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(facts()).await?;
        for (name, columns) in [
            ("subscriber_fact_by_organisation", ["organisation_id", "id"].as_slice()),
            ("subscriber_fact_by_incident", &["incident_id"]),
            ("subscriber_fact_by_time", &["at"]),
        ] {
            manager.create_index(index(name, "subscriber_fact", columns)).await?;
        }
        for (name, columns) in [
            ("subscriber_fact_of_entry", ["entry"].as_slice()),
            ("subscriber_fact_of_reminder", &["maintenance_id", "kind", "window_start"]),
        ] {
            manager.create_index(index(name, "subscriber_fact", columns).unique().to_owned()).await?;
        }
        manager.create_table(pages()).await?;
        let of_page =
            index("subscriber_fact_page_by_page", "subscriber_fact_page", &["statuspage_id", "fact_id"]);
        manager.create_index(of_page).await?;
        manager.create_table(reminders()).await?;
        manager
            .create_index(index("maintenance_reminder_by_due", "maintenance_reminder", &["due_at"]))
            .await?;
        plan_reminders(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["maintenance_reminder", "subscriber_fact_page", "subscriber_fact"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn facts() -> TableCreateStatement {
    let table = "subscriber_fact";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut incident = reference((table, "incident_id"), "incident", ForeignKeyAction::Cascade);
    let mut maintenance = reference((table, "maintenance_id"), "maintenance", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(string("kind"))
        .col(big_integer_null("incident_id"))
        .col(big_integer_null("maintenance_id"))
        .col(string_null("entry"))
        .col(big_integer_null("window_start"))
        .col(text("title"))
        .col(text("message"))
        .col(big_integer("at"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut incident)
        .foreign_key(&mut maintenance)
        .to_owned()
}

fn pages() -> TableCreateStatement {
    let table = "subscriber_fact_page";
    let mut fact = reference((table, "fact_id"), "subscriber_fact", ForeignKeyAction::Cascade);
    let mut page = reference((table, "statuspage_id"), "statuspage", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(big_integer("fact_id"))
        .col(big_integer("statuspage_id"))
        .primary_key(Index::create().col("fact_id").col("statuspage_id"))
        .foreign_key(&mut fact)
        .foreign_key(&mut page)
        .to_owned()
}

fn reminders() -> TableCreateStatement {
    let table = "maintenance_reminder";
    let mut maintenance = reference((table, "maintenance_id"), "maintenance", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(big_integer("maintenance_id"))
        .col(string("kind"))
        .col(big_integer("due_at"))
        .primary_key(Index::create().col("maintenance_id").col("kind"))
        .foreign_key(&mut maintenance)
        .to_owned()
}

async fn plan_reminders(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    let now = match connection.get_database_backend() {
        DbBackend::Postgres => "CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)",
        _ => "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
    };
    for (kind, flag, before_ms) in REMINDERS {
        let plan = format!(
            "INSERT INTO maintenance_reminder (maintenance_id, kind, due_at) \
             SELECT id, '{kind}', scheduled_start - {before_ms} FROM maintenance \
             WHERE status = 'scheduled' AND {flag} = TRUE AND scheduled_start - {before_ms} > {now}"
        );
        connection.execute_unprepared(&plan).await?;
    }
    Ok(())
}
