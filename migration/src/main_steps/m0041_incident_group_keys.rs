//! The keys by which the engine groups failures into incidents, and an index of an incident's services in the order in
//! which they joined.
//!
//! Open incidents get the present keys of their services, so that later failures join them as before.
//!
//! The column of the policy is not a foreign key: when a policy is deleted, its keys stay, so that another policy can take
//! over its incidents.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "incident_group_key";
const BY_TIME: &str = "incident_service_by_time";

/// The keys of each service: its tags, the services that it depends on, and the service itself if it depends on another
/// one or another one depends on it.
const KEYS: &str = "SELECT 'tag' AS kind, tag_id AS key_id, service_id FROM service_tag \
    UNION SELECT 'service', parent_id, service_id FROM service_dependency WHERE parent_id IS NOT NULL \
    UNION SELECT 'service', service_id, service_id FROM service_dependency WHERE parent_id IS NOT NULL \
    UNION SELECT 'service', parent_id, parent_id FROM service_dependency WHERE parent_id IS NOT NULL";

/// The statement that assigns each key, for each policy, to the newest open incident of a service with the key. The policy
/// 0 stands for deleted policies.
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
