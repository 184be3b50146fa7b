//! How messages name a service, and how many services they name.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::incident::{AffectedService, Impact};
use crate::model::outage_evidence::{OutageEvidence, seconds_between};

/// Maximum number of services that a message names; `services_count` counts all.
pub const SERVICES_MAX: usize = 50;

/// A service that an incident affects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// The id that clients see.
    pub id: String,
    /// Name of the service.
    pub name: String,
    /// The impact of the incident on the service, as a word; `None` for notices.
    pub impact: Option<String>,
    /// True if the service has recovered.
    pub is_recovered: bool,
    /// Start of the impact in milliseconds since 1970; `None` in messages that earlier versions stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Time of the recovery in milliseconds since 1970; `None` while the service is affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_at: Option<i64>,
    /// Evidence of the failure, if the engine has detected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<OutageEvidence>>,
}

impl ServiceFacts {
    /// The facts about a service in its present state.
    #[must_use]
    pub fn from_affected(affected: &AffectedService) -> Self {
        Self {
            id: affected.id.to_string(),
            name: affected.name.clone(),
            impact: affected.impact.map(|impact: Impact| impact.as_str().to_owned()),
            is_recovered: affected.recovered_at.is_some(),
            since: Some(affected.evidence.as_ref().map_or(affected.added_at.ms(), |known| known.since)),
            recovered_at: affected.recovered_at.map(Timestamp::ms),
            evidence: affected.evidence.clone(),
        }
    }

    /// Duration of the impact in seconds; `None` while the service is affected, or if the start is unknown.
    #[must_use]
    pub fn duration_seconds(&self) -> Option<i64> {
        Some(seconds_between(self.since?, self.recovered_at?))
    }
}
