//! Several claims of one host name, of which at most one is active.
//!
//! Until now the column was unique, so that the first claim of a name excluded all others. SQLite cannot remove this from
//! a column, so the table is recreated and filled with its rows.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, string_null};
use sea_orm_migration::sea_orm::DbBackend;

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "custom_domain";
const FORMER: &str = "custom_domain_former";
const COLUMNS: &str = "id, public_id, statuspage_id, hostname, status, txt_value, verified_at, last_error_code, \
    next_look_at, wrong_since, asked_at, created_at";
const BY_HOSTNAME: &str = "custom_domain_by_hostname";
const ACTIVE: &str = "custom_domain_active_hostname";
/// The name that PostgreSQL gives to the constraint of the unique column.
const UNIQUE: &str = "custom_domain_hostname_key";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            execute(manager, &format!("ALTER TABLE {TABLE} DROP CONSTRAINT {UNIQUE}")).await?;
        } else {
            rebuild(manager, string("hostname")).await?;
        }
        let mut active = index(ACTIVE, TABLE, &["hostname"]);
        active.unique().and_where(Expr::col("status").eq("active"));
        manager.create_index(active).await?;
        manager.create_index(index(BY_HOSTNAME, TABLE, &["hostname"])).await
    }

    /// Keeps one of several claims of a name: the active one, or else the oldest. Earlier versions do not know the new
    /// error code.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let delete = format!(
            "DELETE FROM {TABLE} WHERE EXISTS (SELECT 1 FROM {TABLE} AS other WHERE other.hostname = {TABLE}.hostname \
            AND other.id <> {TABLE}.id AND (other.status = 'active' \
            OR ({TABLE}.status <> 'active' AND other.id < {TABLE}.id)))"
        );
        execute(manager, &delete).await?;
        let recode = format!(
            "UPDATE {TABLE} SET last_error_code = 'verification_timeout' WHERE last_error_code = 'claimed_elsewhere'"
        );
        execute(manager, &recode).await?;
        for name in [BY_HOSTNAME, ACTIVE] {
            manager.drop_index(Index::drop().name(name).table(TABLE).to_owned()).await?;
        }
        if manager.get_database_backend() == DbBackend::Postgres {
            return execute(
                manager,
                &format!("ALTER TABLE {TABLE} ADD CONSTRAINT {UNIQUE} UNIQUE (hostname)"),
            )
            .await;
        }
        rebuild(manager, string("hostname").unique_key().to_owned()).await
    }
}

async fn execute(manager: &SchemaManager<'_>, sql: &str) -> Result<(), DbErr> {
    manager.get_connection().execute_unprepared(sql).await.map(drop)
}

/// Recreates the table with this definition of the host name column, and its other columns, indexes and rows unchanged.
/// Keys that were assigned are not assigned again.
async fn rebuild(manager: &SchemaManager<'_>, hostname: impl IntoColumnDef) -> Result<(), DbErr> {
    execute(manager, &format!("ALTER TABLE {TABLE} RENAME TO {FORMER}")).await?;
    manager.create_table(custom_domain(hostname)).await?;
    for sql in [
        format!("INSERT INTO {TABLE} ({COLUMNS}) SELECT {COLUMNS} FROM {FORMER}"),
        format!("DELETE FROM sqlite_sequence WHERE name = '{TABLE}'"),
        format!("UPDATE sqlite_sequence SET name = '{TABLE}' WHERE name = '{FORMER}'"),
        format!("DROP TABLE {FORMER}"),
    ] {
        execute(manager, &sql).await?;
    }
    manager.create_index(index("custom_domain_by_statuspage", TABLE, &["statuspage_id"])).await?;
    manager.create_index(index("custom_domain_by_next_look", TABLE, &["next_look_at"])).await
}

fn custom_domain(hostname: impl IntoColumnDef) -> TableCreateStatement {
    Table::create()
        .table(TABLE)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("statuspage_id"))
        .col(hostname)
        .col(string("status"))
        .col(string("txt_value"))
        .col(big_integer_null("verified_at"))
        .col(string_null("last_error_code"))
        .col(big_integer_null("next_look_at"))
        .col(big_integer_null("wrong_since"))
        .col(big_integer_null("asked_at"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference((TABLE, "statuspage_id"), "statuspage", ForeignKeyAction::Cascade))
        .to_owned()
}
