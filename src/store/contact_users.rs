//! The resources that use a contact. While there are any, the contact cannot be deleted.

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;
use crate::store::escalation_policies;
use crate::store::oncall::{cover_requests, overrides, schedules};

/// Names of the resources that use a contact: schedules, escalation policies, overrides that have not ended, open cover
/// requests.
pub async fn names(
    connection: &dyn StoreConnection,
    contact: &Contact,
    now: Timestamp,
) -> Result<Vec<String>, MainError> {
    let owner = contact.organisation;
    let schedules = schedules::names_of_contact(connection, owner, contact.key).await?;
    let mut names: Vec<String> = schedules.iter().map(|name| format!("on-call schedule {name}")).collect();
    let policies = escalation_policies::names_of_contact(connection, owner, contact.key).await?;
    names.extend(policies.iter().map(|name| format!("escalation policy {name}")));
    let overrides = overrides::schedules_of_contact(connection, contact.key, now).await?;
    names.extend(overrides.iter().map(|name| format!("override of {name}")));
    let requests = cover_requests::schedules_of_contact(connection, owner, contact.key, now).await?;
    names.extend(requests.iter().map(|name| format!("cover request of {name}")));
    Ok(names)
}
