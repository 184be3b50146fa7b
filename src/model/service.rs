//! A monitored service: its stored fields and its status for clients (contract 4.3).

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::status_rules::StatusRules;
use crate::model::verdict::Verdict;
use crate::model::word_enum::words;

/// Permitted number of characters of the name of a service.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of the reason of a status override.
pub const REASON_LENGTH: RangeInclusive<usize> = 1..=500;

/// Maximum size of stored settings in bytes (contract 7 no. 45), so that they fit into messages to remote locations.
pub const SETTINGS_MAX_BYTES: usize = 256 * 1_024;

/// Database key of a service. Small and never reused; measurements are stored under this key.
pub type ServiceKey = i64;

/// A service as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Key of the row, under which measurements are stored.
    pub key: ServiceKey,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the service.
    pub organisation: i64,
    /// Name, 1..255 characters; need not be unique.
    pub name: String,
    /// Type of the checks; never changes after creation.
    pub check_type: CheckType,
    /// The target as the client wrote it; `None` only for manual services.
    pub target: Option<String>,
    /// The check settings; `None` for manual services, and until the service is configured.
    pub settings: Option<ServiceSettings>,
    /// The time at which settings were first stored; `None` before that.
    pub configured_at: Option<Timestamp>,
    /// The pause; `None` while the service is not paused.
    pub pause: Option<ServicePause>,
    /// The status that a person has set instead of the measured one, if any.
    pub status_override: Option<StatusOverride>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client; checks do not change it.
    pub updated_at: Timestamp,
    /// Number that rises with every write. Results of checks for an older revision are dropped.
    pub revision: i64,
    /// True while planned maintenance excludes the time of the service from its uptime. Only maintenances change it.
    pub in_planned_maintenance: bool,
}

impl Service {
    /// Returns true if the service can be monitored: `is_configured` of contract 4.3.1.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.settings.is_some() || !self.check_type.is_probed()
    }

    /// Returns the id and the key by which the engine finds the service.
    #[must_use]
    pub const fn address(&self) -> ServiceAddress {
        ServiceAddress { id: self.id, key: self.key }
    }

    /// Returns the facts other than measurements that decide the status.
    #[must_use]
    pub fn status_facts(&self) -> StatusFacts {
        StatusFacts {
            check_type: self.check_type,
            is_paused: self.pause.is_some(),
            stated: self.status_override.as_ref().map(|stated| stated.status),
        }
    }
}

/// Facts other than measurements and planned maintenance that decide the status of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusFacts {
    /// Type of the service's checks.
    pub check_type: CheckType,
    /// True while the service is paused.
    pub is_paused: bool,
    /// The status of the override, if there is one.
    pub stated: Option<OverrideStatus>,
}

/// The two identifiers by which the engine finds a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceAddress {
    /// The id that clients see. Its hash decides on which shard the service runs.
    pub id: Id,
    /// Key of the row.
    pub key: ServiceKey,
}

/// A service as other resources refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedService {
    /// Key of the row.
    pub key: ServiceKey,
    /// The id that clients see.
    pub id: Id,
    /// Display name.
    pub name: String,
}

/// `settings` of contract 4.3.4 with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceSettings {
    /// Seconds between two checks of one location.
    pub interval_seconds: u32,
    /// Seconds that one attempt may take, 1..60.
    pub timeout_seconds: u8,
    /// Further attempts before a bad result counts, 0..5.
    pub retries: u8,
    /// Codes of the checking locations, in the order of the client; `None` = all locations.
    pub assigned_probes: Option<Vec<String>>,
    /// Roles by location code, in the order of the client; `None` = every role is `full`.
    pub probe_roles: Option<Vec<(String, ProbeRole)>>,
    /// The configuration of the check type, with all defaults. Secret values are sealed (`model::secret`).
    pub config: Map<String, Value>,
    /// The rules by which the status is decided (an addition to the contract).
    pub rules: StatusRules,
}

impl ServiceSettings {
    /// Returns the stored size, in bytes, of the parts whose size the client decides: configuration, locations and roles.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let config = serde_json::to_string(&self.config).map_or(0, |text| text.len());
        let codes = self.assigned_probes.iter().flatten().map(|code| code.len() + r#""","#.len());
        let roles = self.probe_roles.iter().flatten();
        let roles = roles.map(|(code, role)| code.len() + role.as_str().len() + r#""":"","#.len());
        config + codes.chain(roles).sum::<usize>()
    }

    /// The role of a location; `full` for codes that have no role.
    #[must_use]
    pub fn role_of(&self, code: &str) -> ProbeRole {
        let roles = self.probe_roles.iter().flatten();
        roles.filter(|(name, _)| name == code).map(|(_, role)| *role).next().unwrap_or(ProbeRole::Full)
    }
}

words! {
    /// The role of a location: what its results count for.
    #[derive(strum::FromRepr)]
    #[repr(u8)]
    pub enum ProbeRole {
        /// Results count for the verdict, for uptime and for response times.
        Full = 0,
        /// Results count for the verdict only.
        Reachability = 1,
    }
}

impl ProbeRole {
    /// The number that stands for the role in the database and in encoded facts.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The role with this number; `None` for other numbers.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::from_repr(code)
    }
}

/// The pause of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServicePause {
    /// Who paused the service.
    pub reason: PauseReason,
    /// Start of the pause.
    pub at: Timestamp,
}

words! {
    /// Who paused a service.
    pub enum PauseReason {
        /// A client, through the API.
        Manual,
        /// The server, because the plan allows fewer services.
        PlanLimit,
    }
}

/// A status that a person has set instead of the measured one (contract 4.3.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusOverride {
    /// Status that is shown instead of the measured one.
    pub status: OverrideStatus,
    /// Internal reason, never shown on a status page.
    pub reason: String,
    /// The time at which it was set.
    pub at: Timestamp,
    /// Name of the token or the user that set it.
    pub by: String,
}

words! {
    /// The statuses that an override can set, and what they count as for uptime.
    pub enum OverrideStatus {
        /// Counts as up.
        Up,
        /// Counts as down.
        Down,
        /// Counts as up.
        Degraded,
        /// Left out of uptime.
        Maintenance,
    }
}

words! {
    /// Values of `status` and `effective_status` in the API (contract 4.3.1, 4.3.7).
    pub enum ServiceStatus {
        /// Not measured: no result counts.
        Unknown,
        /// Measured as up, or set by an override.
        Up,
        /// Measured as down, or set by an override.
        Down,
        /// Measured as degraded, or set by an override.
        Degraded,
        /// The service is paused.
        Paused,
        /// `effective_status` only: planned maintenance, or set by an override.
        Maintenance,
        /// `effective_status` only: a manual service without an override.
        Operational,
    }
}

impl ServiceStatus {
    /// The measured status: `paused` while the service is paused, otherwise the verdict. Manual services are `unknown`.
    #[must_use]
    pub const fn measured(facts: StatusFacts, verdict: Verdict) -> Self {
        match (facts.is_paused, verdict) {
            (true, _) => Self::Paused,
            (false, Verdict::Unknown) => Self::Unknown,
            (false, Verdict::Up) => Self::Up,
            (false, Verdict::Degraded) => Self::Degraded,
            (false, Verdict::Down) => Self::Down,
        }
    }

    /// Returns the effective status: the first row that applies in the table of contract 4.3.7.
    #[must_use]
    pub fn effective(facts: StatusFacts, verdict: Verdict, in_maintenance: bool) -> Self {
        match facts.stated {
            Some(stated) => stated.into(),
            None if facts.is_paused => Self::Paused,
            None if in_maintenance => Self::Maintenance,
            None if facts.check_type == CheckType::Manual => Self::Operational,
            None => Self::measured(facts, verdict),
        }
    }
}

impl From<OverrideStatus> for ServiceStatus {
    fn from(status: OverrideStatus) -> Self {
        match status {
            OverrideStatus::Up => Self::Up,
            OverrideStatus::Down => Self::Down,
            OverrideStatus::Degraded => Self::Degraded,
            OverrideStatus::Maintenance => Self::Maintenance,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn service(check_type: CheckType, stated: Option<OverrideStatus>, paused: bool) -> Service {
        let at = Timestamp::from_ms(0);
        Service {
            key: 1,
            id: Id::random(),
            organisation: 1,
            name: "shop".into(),
            check_type,
            target: None,
            settings: None,
            configured_at: None,
            pause: paused.then_some(ServicePause { reason: PauseReason::Manual, at }),
            status_override: stated.map(|status| StatusOverride {
                status,
                reason: "because".into(),
                at,
                by: "ops".into(),
            }),
            created_at: at,
            updated_at: at,
            revision: 1,
            in_planned_maintenance: false,
        }
    }

    /// Contract 4.3.7, the table of `effective_status`: the first row that applies decides.
    #[rstest]
    #[case(CheckType::Http, Some(OverrideStatus::Up), true, true, Verdict::Down, "paused", "up")]
    #[case(CheckType::Http, None, true, true, Verdict::Up, "paused", "paused")]
    #[case(CheckType::Http, None, false, true, Verdict::Down, "down", "maintenance")]
    #[case(CheckType::Manual, None, false, false, Verdict::Unknown, "unknown", "operational")]
    #[case(
        CheckType::Manual,
        Some(OverrideStatus::Maintenance),
        false,
        false,
        Verdict::Unknown,
        "unknown",
        "maintenance"
    )]
    #[case(CheckType::Manual, None, true, false, Verdict::Unknown, "paused", "paused")]
    #[case(CheckType::Tcp, None, false, false, Verdict::Degraded, "degraded", "degraded")]
    #[case(CheckType::Tcp, None, false, false, Verdict::Unknown, "unknown", "unknown")]
    fn the_first_row_that_applies_decides(
        #[case] check_type: CheckType,
        #[case] stated: Option<OverrideStatus>,
        #[case] paused: bool,
        #[case] in_maintenance: bool,
        #[case] verdict: Verdict,
        #[case] status: &str,
        #[case] effective: &str,
    ) {
        let service = service(check_type, stated, paused);
        assert_eq!(ServiceStatus::measured(service.status_facts(), verdict).as_str(), status);
        assert_eq!(
            ServiceStatus::effective(service.status_facts(), verdict, in_maintenance).as_str(),
            effective
        );
    }
}
