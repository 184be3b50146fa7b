//! The migrations ("steps") of Watchkeeper's databases.
//!
//! Each database has its own list and its own table of applied steps, so that both can also be in one PostgreSQL database.
//! A step is never changed after its release; both directions of each step are tested on SQLite and PostgreSQL.

mod history_steps;
mod main_steps;
mod segment_steps;
mod whole_step;

use sea_orm_migration::prelude::{Alias, DynIden, IntoIden, MigrationTrait, MigratorTrait};

/// Steps of the main database: organisations, tokens, services and all other configuration.
#[derive(Debug)]
pub struct MainMigrator;

impl MigratorTrait for MainMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        whole_step::whole_steps(main_steps::all())
    }

    fn migration_table_name() -> DynIden {
        Alias::new("main_migration").into_iden()
    }
}

/// Steps of the history database: measurements, and data derived from them.
#[derive(Debug)]
pub struct HistoryMigrator;

impl MigratorTrait for HistoryMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        whole_step::whole_steps(history_steps::all())
    }

    fn migration_table_name() -> DynIden {
        Alias::new("history_migration").into_iden()
    }
}

/// Steps of a segment file, which contains sealed results of a SQLite history. On PostgreSQL segments are table partitions
/// of the history database.
#[derive(Debug)]
pub struct SegmentMigrator;

impl MigratorTrait for SegmentMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        whole_step::whole_steps(segment_steps::all())
    }

    fn migration_table_name() -> DynIden {
        Alias::new("segment_migration").into_iden()
    }
}
