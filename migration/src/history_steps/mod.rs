//! Steps of the history database in the order in which they are applied.

mod m0001_measurements;

use sea_orm_migration::MigrationTrait;

pub(crate) fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(m0001_measurements::Step)]
}
