//! The origin of the console at which a passkey was registered, and for which a challenge was given out.
//!
//! Passkeys without an origin are removed, because nothing tells where they were registered: their users sign in as before they
//! had them, and add them again.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLES: [&str; 2] = ["passkey_challenge", "passkey"];
const COLUMN: &str = "origin";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in TABLES {
            manager.execute(Query::delete().from_table(table).to_owned()).await?;
            let column = text(COLUMN).default("").to_owned();
            manager.alter_table(Table::alter().table(table).add_column(column).to_owned()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in TABLES {
            manager.alter_table(Table::alter().table(table).drop_column(COLUMN).to_owned()).await?;
        }
        Ok(())
    }
}
