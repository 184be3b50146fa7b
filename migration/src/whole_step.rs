//! Steps that are applied whole or not at all: a process that is killed in one can be started again.
//!
//! The migrator puts a step and its record into one transaction on PostgreSQL by itself, on SQLite only where a step asks
//! for it.

use sea_orm_migration::prelude::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

/// A step in a transaction of its own, on every database.
struct WholeStep(Box<dyn MigrationTrait>);

/// The same steps, each in a transaction of its own.
pub(crate) fn whole_steps(steps: Vec<Box<dyn MigrationTrait>>) -> Vec<Box<dyn MigrationTrait>> {
    steps.into_iter().map(|step| Box::new(WholeStep(step)) as Box<dyn MigrationTrait>).collect()
}

impl MigrationName for WholeStep {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl MigrationTrait for WholeStep {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.up(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.down(manager).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
