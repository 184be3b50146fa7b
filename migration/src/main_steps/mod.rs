//! Steps of the main database, in the order in which they are applied.

mod m0001_organisations;
mod m0002_services;
mod m0003_tags;
mod m0004_statuspages;
mod m0005_incidents;
mod m0006_maintenances;
mod m0007_custom_domains;
mod m0008_assets;
mod m0009_idempotency_keys;
mod m0010_heartbeats;
mod m0011_page_appearance;
mod m0012_idempotency_nodes;
mod m0013_clock_mark;
mod m0014_probe_locations;
mod m0015_verdict_rules;
mod m0016_maintenance_series;
mod m0017_access_scopes;
mod m0018_acknowledgements;
mod m0019_incident_policies;
mod m0020_automatic_incidents;
mod m0021_dependencies;
mod m0022_events;
mod m0023_former_services;
mod m0024_notifications;
mod m0025_sla_targets;
mod m0026_escalation;
mod m0027_held_messages;
mod m0028_notices;
mod m0029_contacts;
mod m0030_oncall;
mod m0031_messages_of_contacts;
mod m0032_subscriber_facts;
mod m0033_waiting_messages;
mod m0034_duty_indexes;
mod m0035_group_by_tag_keys;
mod m0036_due_messages;
mod m0037_outage_edges;
mod m0038_listening_spans;
mod m0039_events_of_channels;
mod m0040_outage_evidence;
mod m0041_incident_group_keys;
mod m0042_slug_holds_of_pages;
mod m0043_lost_services;
mod m0044_kept_answers;
mod m0045_domain_claims;
mod m0046_events_by_organisation;
mod m0047_subscribers;
mod m0048_subscriber_deliveries;
mod m0050_certificates;
mod m0051_page_access_links;
mod m0052_page_figures;
mod m0053_console_users;
mod m0054_audit_entries;
mod m0055_passkeys;
mod m0056_passkey_origins;
mod m0057_service_list_index;

use sea_orm_migration::MigrationTrait;
use sea_orm_migration::prelude::{
    ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, Index, IndexCreateStatement,
};

pub(crate) fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0001_organisations::Step),
        Box::new(m0002_services::Step),
        Box::new(m0003_tags::Step),
        Box::new(m0004_statuspages::Step),
        Box::new(m0005_incidents::Step),
        Box::new(m0006_maintenances::Step),
        Box::new(m0007_custom_domains::Step),
        Box::new(m0008_assets::Step),
        Box::new(m0009_idempotency_keys::Step),
        Box::new(m0010_heartbeats::Step),
        Box::new(m0011_page_appearance::Step),
        Box::new(m0012_idempotency_nodes::Step),
        Box::new(m0013_clock_mark::Step),
        Box::new(m0014_probe_locations::Step),
        Box::new(m0015_verdict_rules::Step),
        Box::new(m0016_maintenance_series::Step),
        Box::new(m0017_access_scopes::Step),
        Box::new(m0018_acknowledgements::Step),
        Box::new(m0019_incident_policies::Step),
        Box::new(m0020_automatic_incidents::Step),
        Box::new(m0021_dependencies::Step),
        Box::new(m0022_events::Step),
        Box::new(m0023_former_services::Step),
        Box::new(m0024_notifications::Step),
        Box::new(m0025_sla_targets::Step),
        Box::new(m0026_escalation::Step),
        Box::new(m0027_held_messages::Step),
        Box::new(m0028_notices::Step),
        Box::new(m0029_contacts::Step),
        Box::new(m0030_oncall::Step),
        Box::new(m0031_messages_of_contacts::Step),
        Box::new(m0032_subscriber_facts::Step),
        Box::new(m0033_waiting_messages::Step),
        Box::new(m0034_duty_indexes::Step),
        Box::new(m0035_group_by_tag_keys::Step),
        Box::new(m0036_due_messages::Step),
        Box::new(m0037_outage_edges::Step),
        Box::new(m0038_listening_spans::Step),
        Box::new(m0039_events_of_channels::Step),
        Box::new(m0040_outage_evidence::Step),
        Box::new(m0041_incident_group_keys::Step),
        Box::new(m0042_slug_holds_of_pages::Step),
        Box::new(m0043_lost_services::Step),
        Box::new(m0044_kept_answers::Step),
        Box::new(m0045_domain_claims::Step),
        Box::new(m0046_events_by_organisation::Step),
        Box::new(m0047_subscribers::Step),
        Box::new(m0048_subscriber_deliveries::Step),
        Box::new(m0050_certificates::Step),
        Box::new(m0051_page_access_links::Step),
        Box::new(m0052_page_figures::Step),
        Box::new(m0053_console_users::Step),
        Box::new(m0054_audit_entries::Step),
        Box::new(m0055_passkeys::Step),
        Box::new(m0056_passkey_origins::Step),
        Box::new(m0057_service_list_index::Step),
    ]
}

/// The statement for an index on these columns.
fn index(name: &'static str, table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(*column);
    }
    index
}

/// A foreign key from a column to the `id` of another table.
fn reference(
    (table, column): (&'static str, &'static str),
    other: &'static str,
    on_delete: ForeignKeyAction,
) -> ForeignKeyCreateStatement {
    ForeignKey::create().from(table, column).to(other, "id").on_delete(on_delete).to_owned()
}
