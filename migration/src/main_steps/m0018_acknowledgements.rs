//! Acknowledgements of incidents, and timeline entries that only members of the organisation see.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer_null, boolean, string_null, text_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

/// The columns of an acknowledgement.
const COLUMNS: [&str; 3] = ["acknowledged_at", "acknowledged_by_id", "acknowledged_by_name"];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let [at, by, name] = COLUMNS;
        for column in [big_integer_null(at), string_null(by), text_null(name)] {
            manager.alter_table(Table::alter().table("incident").add_column(column).to_owned()).await?;
        }
        let is_internal = boolean("is_internal").default(false).to_owned();
        manager.alter_table(Table::alter().table("incident_update").add_column(is_internal).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Without the column, everybody would see internal entries.
        let internal = Query::delete()
            .from_table("incident_update")
            .and_where(Expr::col("is_internal").eq(true))
            .to_owned();
        manager.execute(internal).await?;
        let is_internal = Table::alter().table("incident_update").drop_column("is_internal").to_owned();
        manager.alter_table(is_internal).await?;
        for column in COLUMNS {
            manager.alter_table(Table::alter().table("incident").drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
