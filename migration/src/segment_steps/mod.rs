//! Steps of a segment file (SQLite), in the order in which they are applied.

mod m0001_sealed_checks;

use sea_orm_migration::MigrationTrait;

pub(crate) fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(m0001_sealed_checks::Step)]
}
