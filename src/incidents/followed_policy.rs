//! The policy of an automatic incident.
//!
//! An incident stores the policy that opened it. When that policy is deleted, the first policy that now matches one of the
//! incident's services applies, so that a replacement takes over open incidents.

use crate::incidents::context::IncidentContext;
use crate::model::incident::WholeIncident;
use crate::model::incident_policy::{IncidentPolicy, first_match_of_any};
use crate::model::service::ServiceKey;
use crate::store::incidents::excerpt;
use crate::store::{MainError, tags};

/// Returns the policy of this incident; `None` if a person created the incident, or no policy matches.
pub(super) async fn policy_of<'a>(
    context: &IncidentContext<'a>,
    incident: &WholeIncident,
) -> Result<Option<&'a IncidentPolicy>, MainError> {
    let Some(automation) = incident.automation else { return Ok(None) };
    let own = context.policies.iter().find(|policy| Some(policy.key) == automation.policy);
    if own.is_some() {
        return Ok(own);
    }
    if incident.others > 0 {
        let tags = excerpt::tags_of(context.transaction, incident.incident.key).await?;
        return Ok(first_match_of_any(context.policies, &[tags]));
    }
    let services: Vec<ServiceKey> = incident.services.iter().map(|affected| affected.service).collect();
    let mut found = tags::of_services(context.transaction, &services).await?;
    let tags_of = |service| found.remove(&service).unwrap_or_default();
    let tags: Vec<Vec<i64>> =
        services.into_iter().map(tags_of).map(|tags| tags.iter().map(|tag| tag.row).collect()).collect();
    Ok(first_match_of_any(context.policies, &tags))
}
