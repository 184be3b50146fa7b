//! A service as messages name it, and how many they name.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::incident::{AffectedService, Impact};
use crate::model::outage_evidence::{OutageEvidence, seconds_between};

/// Maximum number of services that a message names; `services_count` is the full number.
pub const SERVICES_MAX: usize = 50;

/// A service that an incident affects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// The id that clients see.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The word of the impact; `None` for notices.
    pub impact: Option<String>,
    /// True if it has recovered.
    pub is_recovered: bool,
    /// The time since which it is affected; `None` in messages that earlier versions stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The time of its recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_at: Option<i64>,
    /// Evidence of its trouble, where the engine has detected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<OutageEvidence>>,
}

impl ServiceFacts {
    /// A service as it is affected now.
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

    /// The seconds for which it was affected; `None` while it is.
    #[must_use]
    pub fn duration_seconds(&self) -> Option<i64> {
        Some(seconds_between(self.since?, self.recovered_at?))
    }
}
