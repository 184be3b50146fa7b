//! Indexes for columns that refer to overrides, contacts and services, and for the open notices of an event.
//!
//! Without them, the deletion of an override, a contact or a service would read all cover requests or notices.

use sea_orm_migration::prelude::*;

use super::index;

const INDEXES: [(&str, &str, &[&str]); 4] = [
    ("oncall_cover_request_by_override", "oncall_cover_request", &["override_id"]),
    ("oncall_cover_request_by_accepted", "oncall_cover_request", &["accepted_by_id"]),
    ("notice_by_service", "notice", &["service_id"]),
    ("notice_by_event", "notice", &["event", "ended_at"]),
];

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, table, columns) in INDEXES {
            manager.create_index(index(name, table, columns)).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, table, _) in INDEXES {
            manager.drop_index(Index::drop().name(name).table(table).to_owned()).await?;
        }
        Ok(())
    }
}
