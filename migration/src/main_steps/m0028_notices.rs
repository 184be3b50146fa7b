//! Notices: events that are not incidents, with their start and end.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, text};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "notice";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(notices()).await?;
        for (name, columns) in [
            ("notice_by_organisation", ["organisation_id", "id"].as_slice()),
            ("notice_by_source", &["event", "source", "organisation_id"]),
            ("notice_by_end", &["ended_at"]),
        ] {
            manager.create_index(index(name, TABLE, columns)).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}

fn notices() -> TableCreateStatement {
    let mut organisation = reference((TABLE, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut service = reference((TABLE, "service_id"), "service", ForeignKeyAction::SetNull);
    Table::create()
        .table(TABLE)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(string("event"))
        .col(string("source"))
        .col(string("severity"))
        .col(text("title"))
        .col(text("text"))
        .col(big_integer_null("service_id"))
        .col(big_integer("began_at"))
        .col(big_integer_null("ended_at"))
        .foreign_key(&mut organisation)
        .foreign_key(&mut service)
        .to_owned()
}
