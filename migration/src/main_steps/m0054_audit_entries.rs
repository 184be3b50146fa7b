//! The audit log: who changed what, written in the transaction of the change.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, pk_auto, string, string_null, text};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "audit_entry";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(entries()).await?;
        for (name, columns) in [
            ("audit_entry_by_organisation", ["organisation_id", "id"]),
            ("audit_entry_by_object", ["object_id", "id"]),
            ("audit_entry_by_actor", ["actor_id", "id"]),
        ] {
            manager.create_index(index(name, TABLE, &columns)).await?;
        }
        manager.create_index(index("audit_entry_by_time", TABLE, &["at"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}

fn entries() -> TableCreateStatement {
    Table::create()
        .table(TABLE)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(big_integer("at"))
        .col(string("actor_kind"))
        .col(string_null("actor_id"))
        .col(string("actor_name"))
        .col(string_null("address"))
        .col(string("action"))
        .col(string("object_kind"))
        .col(string_null("object_id"))
        .col(string_null("object_name"))
        .col(text("changes"))
        .col(string_null("request_id"))
        .foreign_key(&mut reference((TABLE, "organisation_id"), "organisation", ForeignKeyAction::Cascade))
        .to_owned()
}
