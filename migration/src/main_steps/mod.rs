//! Steps of the main database in the order in which they are applied.

mod m0001_organisations;
mod m0002_services;

use sea_orm_migration::MigrationTrait;

pub(crate) fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(m0001_organisations::Step), Box::new(m0002_services::Step)]
}
