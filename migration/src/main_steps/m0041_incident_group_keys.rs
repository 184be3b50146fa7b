//! What incidents of the engine gather failures by, and the services of an incident in the order in which they joined.
//!
//! Open incidents get the keys of their services as they are now, so that what fails next joins them as before.
//!
//! The policy of a key is no reference: what a policy has opened is found, and taken over by another one, when it is deleted.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "incident_group_key";
const BY_TIME: &str = "incident_service_by_time";

/// The keys of each service: its tags, and the services that it depends on, with itself if it depends on one or one on it.
const KEYS: &str = "SELECT 'tag' AS kind, tag_id AS key_id, service_id FROM service_tag \
    UNION SELECT 'service', parent_id, service_id FROM service_dependency WHERE parent_id IS NOT NULL \
    UNION SELECT 'service', service_id, service_id FROM service_dependency WHERE parent_id IS NOT NULL \
    UNION SELECT 'service', parent_id, parent_id FROM service_dependency WHERE parent_id IS NOT NULL";

/// Lets each key lead to the newest open incident of each policy that a service with the key has joined; 0 stands for a policy that
/// is gone.
fn fill() -> String {
    format!(
        "INSERT INTO incident_group_key (kind, key_id, policy_id, incident_id) \
        SELECT keys.kind, keys.key_id, COALESCE(incident_automation.policy_id, 0), MAX(incident.id) FROM incident \
        JOIN incident_automation ON incident_automation.incident_id = incident.id \
        JOIN incident_service ON incident_service.incident_id = incident.id \
        JOIN ({KEYS}) AS keys ON keys.service_id = incident_service.service_id \
        WHERE incident.resolved_at IS NULL \
        GROUP BY keys.kind, keys.key_id, COALESCE(incident_automation.policy_id, 0)"
    )
}

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
        manager.create_index(index(BY_TIME, "incident_service", &columns)).await?;
        manager.get_connection().execute_unprepared(&fill()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(BY_TIME).table("incident_service").to_owned()).await?;
        manager.drop_table(Table::drop().table(TABLE).to_owned()).await
    }
}
