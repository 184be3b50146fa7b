//! The tables of a segment file: the same ones that PostgreSQL has as table partitions.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLES: [&str; 4] = [
    "CREATE TABLE check_block (
    segment INTEGER NOT NULL, batch BIGINT NOT NULL, service_id BIGINT NOT NULL,
    location_id INTEGER NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL,
    up INTEGER NOT NULL, degraded INTEGER NOT NULL, down INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE INDEX check_block_by_service ON check_block (service_id, last_at)",
    "CREATE TABLE check_rollup (
    segment INTEGER NOT NULL, batch BIGINT NOT NULL, service_id BIGINT NOT NULL,
    location_id INTEGER NOT NULL, start BIGINT NOT NULL, body BLOB NOT NULL)",
    "CREATE INDEX check_rollup_by_service ON check_rollup (service_id, start)",
];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    /// A transaction, because segments are created while the program runs, and the process may be killed meanwhile.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for text in TABLES {
            manager.get_connection().execute_unprepared(text).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["check_rollup", "check_block"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}
