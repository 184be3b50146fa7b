//! Steps of the history database, in the order in which they are applied.

mod m0001_measurements;
mod m0002_segments;
mod m0003_clock_changes;
mod m0004_partition_holds;
mod m0005_changes_by_service;

use sea_orm_migration::MigrationTrait;

pub(crate) fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0001_measurements::Step),
        Box::new(m0002_segments::Step),
        Box::new(m0003_clock_changes::Step),
        Box::new(m0004_partition_holds::Step),
        Box::new(m0005_changes_by_service::Step),
    ]
}
