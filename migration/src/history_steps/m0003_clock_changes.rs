//! An index of the places where the wall clock was set back: nearly always empty, asked with every look at a service's past.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // The cause `clock` has the number 6.
        let index = "CREATE INDEX status_change_clock ON status_change (service_id) WHERE cause = 6";
        manager.get_connection().execute_unprepared(index).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared("DROP INDEX status_change_clock").await?;
        Ok(())
    }
}
