//! Steps that are applied completely or not at all, so that a step whose process was killed can be applied again.
//!
//! On PostgreSQL the migrator itself applies a step and records it in one transaction; on SQLite it does so only if the
//! step requests it.

use sea_orm_migration::prelude::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

/// A step that is applied in one transaction on every database.
struct WholeStep(Box<dyn MigrationTrait>);

/// The same steps, each of which is applied in one transaction.
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
