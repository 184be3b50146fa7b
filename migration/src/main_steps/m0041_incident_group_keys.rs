//! What incidents of the engine gather failures by, and the services of an incident in the order in which they joined.
//!
//! The policy of a key is no reference: what a policy has opened is found, and taken over by another one, when it is deleted.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "incident_group_key";
const BY_TIME: &str = "incident_service_by_time";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut incident = reference((TABLE, "incident_id"), "incident", ForeignKeyAction::Cascade);
        let keys = Table::create()
            .table(TABLE)
            .col(string("kind"))
            .col(big_integer("key_id"))
            .col(big_integer("policy_id"))
            .col(big_integer("incident_id"))
            .primary_key(Index::create().col("kind").col("key_id").col("policy_id"))
            .foreign_key(&mut incident)
            .to_owned();
        manager.create_table(keys).await?;
        manager.create_index(index("incident_group_key_by_incident", TABLE, &["incident_id"])).await?;
        let columns = ["incident_id", "added_at", "service_id"];
        manager.create_index(index(BY_TIME, "incident_service", &columns)).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(BY_TIME).table("incident_service").to_owned()).await?;
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}
