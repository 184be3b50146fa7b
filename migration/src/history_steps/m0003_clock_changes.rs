//! An index for status changes with the cause `clock`, which record that the wall clock was set back. It is nearly always
//! empty, and is used by every query for the past of a service.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // 6 is the number of the cause `clock`.
        let index = "CREATE INDEX status_change_clock ON status_change (service_id) WHERE cause = 6";
        manager.get_connection().execute_unprepared(index).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared("DROP INDEX status_change_clock").await?;
        Ok(())
    }
}
