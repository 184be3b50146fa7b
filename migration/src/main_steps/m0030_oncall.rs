//! On-call schedules, and the exceptions from their layers: overrides, absences and cover requests.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, text, text_null};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [schedules(), overrides(), absences(), cover_requests()] {
            manager.create_table(table).await?;
        }
        for (name, table, columns) in [
            ("oncall_schedule_by_organisation", "oncall_schedule", ["organisation_id", "id"].as_slice()),
            ("oncall_override_by_organisation", "oncall_override", &["organisation_id", "starts_at"]),
            ("oncall_override_by_schedule", "oncall_override", &["schedule_id", "ends_at"]),
            ("oncall_override_by_contact", "oncall_override", &["contact_id", "ends_at"]),
            ("oncall_absence_by_organisation", "oncall_absence", &["organisation_id", "starts_at"]),
            ("oncall_absence_by_contact", "oncall_absence", &["contact_id", "ends_at"]),
            ("oncall_cover_request_by_organisation", "oncall_cover_request", &["organisation_id", "id"]),
            ("oncall_cover_request_by_schedule", "oncall_cover_request", &["schedule_id"]),
            ("oncall_cover_request_by_contact", "oncall_cover_request", &["contact_id"]),
        ] {
            manager.create_index(index(name, table, columns)).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["oncall_cover_request", "oncall_absence", "oncall_override", "oncall_schedule"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn schedules() -> TableCreateStatement {
    let table = "oncall_schedule";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    owned(table)
        .col(text("name"))
        .col(string("time_zone"))
        .col(text("layers"))
        .foreign_key(&mut organisation)
        .to_owned()
}

fn overrides() -> TableCreateStatement {
    let table = "oncall_override";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut schedule = reference((table, "schedule_id"), "oncall_schedule", ForeignKeyAction::Cascade);
    let mut contact = reference((table, "contact_id"), "contact", ForeignKeyAction::Cascade);
    owned(table)
        .col(big_integer("schedule_id"))
        .col(big_integer("contact_id"))
        .col(big_integer("starts_at"))
        .col(big_integer("ends_at"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut schedule)
        .foreign_key(&mut contact)
        .to_owned()
}

fn absences() -> TableCreateStatement {
    let table = "oncall_absence";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut contact = reference((table, "contact_id"), "contact", ForeignKeyAction::Cascade);
    owned(table)
        .col(big_integer("contact_id"))
        .col(big_integer("starts_at"))
        .col(big_integer("ends_at"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut contact)
        .to_owned()
}

fn cover_requests() -> TableCreateStatement {
    let table = "oncall_cover_request";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut schedule = reference((table, "schedule_id"), "oncall_schedule", ForeignKeyAction::Cascade);
    let mut contact = reference((table, "contact_id"), "contact", ForeignKeyAction::Cascade);
    let mut accepted_by = reference((table, "accepted_by_id"), "contact", ForeignKeyAction::SetNull);
    let mut placed = reference((table, "override_id"), "oncall_override", ForeignKeyAction::SetNull);
    owned(table)
        .col(big_integer("schedule_id"))
        .col(big_integer("contact_id"))
        .col(big_integer("starts_at"))
        .col(big_integer("ends_at"))
        .col(text_null("note"))
        .col(text("asked"))
        .col(string("status"))
        .col(big_integer_null("accepted_by_id"))
        .col(big_integer_null("override_id"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut schedule)
        .foreign_key(&mut contact)
        .foreign_key(&mut accepted_by)
        .foreign_key(&mut placed)
        .to_owned()
}

/// A table with the columns that all on-call tables have.
fn owned(table: &'static str) -> TableCreateStatement {
    Table::create()
        .table(table)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .to_owned()
}
