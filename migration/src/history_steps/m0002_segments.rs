//! The table of fresh results in buckets, and the catalogue of segments for sealed results.
//!
//! On SQLite a segment is a separate file (`SegmentMigrator`), on PostgreSQL a pair of table partitions. Earlier results
//! are kept as fresh results. Hourly sums are no longer stored.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use super::m0001_measurements::{check_hour, check_result};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const COLUMNS: &str = "service_id, checked_at, location_id, scheduled_at, status, attempt, role, status_code, response_us, \
    dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us, error_code, error_message";

const FRESH_CHECK: &str = "CREATE TABLE fresh_check (
    bucket SMALLINT NOT NULL, checked_at BIGINT NOT NULL, service_id BIGINT NOT NULL, location_id INTEGER NOT NULL,
    scheduled_at BIGINT NOT NULL, status SMALLINT NOT NULL, attempt SMALLINT NOT NULL, role SMALLINT NOT NULL,
    status_code SMALLINT, response_us INTEGER, dns_us INTEGER, connect_us INTEGER, tls_us INTEGER, ttfb_us INTEGER,
    transfer_us INTEGER, total_us INTEGER, error_code SMALLINT, error_message TEXT,
    PRIMARY KEY (bucket, checked_at, service_id, location_id))";

/// The tables of segments: partitioned tables, to which each segment adds its partitions.
const PARTITIONED: [&str; 2] = [
    "CREATE TABLE check_block (
    segment INTEGER NOT NULL, batch BIGINT NOT NULL, service_id BIGINT NOT NULL,
    location_id INTEGER NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL,
    up INTEGER NOT NULL, degraded INTEGER NOT NULL, down INTEGER NOT NULL, body BYTEA NOT NULL)
    PARTITION BY LIST (segment)",
    "CREATE TABLE check_rollup (
    segment INTEGER NOT NULL, batch BIGINT NOT NULL, service_id BIGINT NOT NULL,
    location_id INTEGER NOT NULL, start BIGINT NOT NULL, body BYTEA NOT NULL)
    PARTITION BY LIST (segment)",
];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    /// In a transaction on SQLite as well, because copying a long history takes a while and may be interrupted.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        let is_postgres = manager.get_database_backend() == DbBackend::Postgres;
        let clustered = if is_postgres { "" } else { " WITHOUT ROWID" };
        connection.execute_unprepared(&format!("{FRESH_CHECK}{clustered}")).await?;
        let copy = format!(
            "INSERT INTO fresh_check (bucket, {COLUMNS}) SELECT service_id % 1024, {COLUMNS} FROM check_result"
        );
        connection.execute_unprepared(&copy).await?;
        for table in ["check_hour", "check_result"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        connection.execute_unprepared("DELETE FROM history_progress WHERE name = 'hours'").await?;
        // Nothing has been sealed yet. The rows also serve as locks for writers.
        let rows = "INSERT INTO history_progress (name, value) VALUES ('sealing', 0), ('moving', 0), ('compactor', 0)";
        connection.execute_unprepared(rows).await?;
        let serial = if is_postgres {
            "INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        } else {
            "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
        };
        let segment = format!(
            "CREATE TABLE history_segment (id {serial}, level SMALLINT NOT NULL, retention_days INTEGER NOT NULL, \
            from_at BIGINT NOT NULL, to_at BIGINT NOT NULL, sealed_batch BIGINT NOT NULL, retired_at BIGINT)"
        );
        connection.execute_unprepared(&segment).await?;
        if is_postgres {
            for table in PARTITIONED {
                connection.execute_unprepared(table).await?;
            }
        }
        Ok(())
    }

    /// Deletes sealed results and keeps fresh ones.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            for table in ["check_rollup", "check_block"] {
                manager.drop_table(Table::drop().table(table).to_owned()).await?;
            }
        }
        manager.drop_table(Table::drop().table("history_segment").to_owned()).await?;
        connection
            .execute_unprepared(
                "DELETE FROM history_progress WHERE name IN ('sealing', 'moving', 'compactor')",
            )
            .await?;
        manager.create_table(check_result()).await?;
        let by_service = Index::create()
            .name("check_result_by_service")
            .table("check_result")
            .col("service_id")
            .col("checked_at")
            .col("location_id")
            .unique()
            .to_owned();
        manager.create_index(by_service).await?;
        manager.create_table(check_hour()).await?;
        let copy = format!("INSERT INTO check_result ({COLUMNS}) SELECT {COLUMNS} FROM fresh_check");
        connection.execute_unprepared(&copy).await?;
        manager.drop_table(Table::drop().table("fresh_check").to_owned()).await
    }
}
