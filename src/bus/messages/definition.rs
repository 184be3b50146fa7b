//! The checks of one service at a location: in clear while it is created and used, sealed in transit.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::bus::sealing::{SealingKey, SealingProblem};
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{ProbeRole, ServiceKey};
use crate::model::status_rules::StatusRules;
use crate::model::watch::{PlannedLocation, RoundKeeper, WatchPlan};

/// A service as checked by one location.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationDefinition {
    /// Public id of the service.
    pub service: Id,
    /// Database key of the service, by which results are stored.
    pub key: ServiceKey,
    /// Name of the service, for the location's log.
    pub name: String,
    /// Name of the check type.
    pub check_type: String,
    /// Hash of type, target, timeout and configuration. Results stay valid for a later definition with the same
    /// version.
    pub version: u64,
    /// Revision of the stored service.
    pub revision: i64,
    /// Target of the check.
    pub target: String,
    /// Configuration of the check, with its secrets in clear.
    pub config: Map<String, Value>,
    /// The schedule of the checks.
    pub rhythm: LocationSchedule,
}

/// The schedule of one location's checks of one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationSchedule {
    /// Hash that determines the phase of the schedule.
    pub hash: u64,
    /// Milliseconds between two checks.
    pub interval_ms: i64,
    /// Seconds that one attempt may take.
    pub timeout_seconds: u8,
    /// Attempts before a bad result counts, from 1.
    pub attempts: u8,
    /// Wait before the second attempt, in milliseconds; doubled for each further attempt.
    pub backoff_ms: i64,
    /// Longest wait before a further attempt, in milliseconds.
    pub backoff_max_ms: i64,
    /// Shortest time between two checks of an uncertain service, in milliseconds.
    pub uncertain_interval_ms: i64,
}

impl LocationSchedule {
    /// The schedule of a plan with a single location.
    #[must_use]
    pub fn of(plan: &WatchPlan, timeout_seconds: u8) -> Self {
        Self {
            hash: plan.hash,
            interval_ms: plan.interval_ms,
            timeout_seconds,
            attempts: plan.attempts,
            backoff_ms: plan.backoff_ms,
            backoff_max_ms: plan.backoff_max_ms,
            uncertain_interval_ms: plan.uncertain_interval_ms,
        }
    }

    /// Returns the plan of this one location; `None` if the interval or the number of attempts is zero.
    #[must_use]
    pub fn plan(&self) -> Option<WatchPlan> {
        let alone = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Watch };
        (self.interval_ms > 0 && self.attempts > 0).then(|| WatchPlan {
            hash: self.hash,
            interval_ms: self.interval_ms,
            timeout_ms: i64::from(self.timeout_seconds) * 1_000,
            attempts: self.attempts,
            backoff_ms: self.backoff_ms,
            backoff_max_ms: self.backoff_max_ms,
            uncertain_interval_ms: self.uncertain_interval_ms,
            // A location only measures; the engine applies the rules.
            rules: StatusRules::default(),
            locations: [alone].into(),
        })
    }
}

/// Omits the secrets.
impl fmt::Debug for LocationDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, check_type, version, .. } = self;
        write!(f, "LocationDefinition({service}, {check_type}, {version:x})")
    }
}

impl LocationDefinition {
    /// Returns the version of this target with this configuration.
    #[must_use]
    pub fn version_of(
        check_type: CheckType,
        target: &str,
        timeout_seconds: u8,
        config: &Map<String, Value>,
    ) -> u64 {
        let config = Value::Object(config.clone()).to_string();
        let timeout = timeout_seconds.to_string();
        let hash = Sha256::digest([check_type.as_str(), target, &timeout, &config].join("\0"));
        hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// A sealed definition as it is sent over the bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedDefinition {
    /// Public key of the sender.
    pub from: String,
    /// The definition, sealed.
    pub sealed: String,
}

/// Bytes that a sealed definition has in addition to its JSON (keys, seal and names), with a margin.
const BESIDE_JSON_BYTES: usize = 512;

/// A definition cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionProblem {
    /// The bytes are not a definition.
    #[error("not a service definition")]
    Form,
    /// The definition cannot be opened.
    #[error(transparent)]
    Sealing(#[from] SealingProblem),
}

impl SealedDefinition {
    /// Seals the JSON of a definition to a location.
    ///
    /// # Errors
    ///
    /// When the recipient's key is invalid.
    pub fn new(json: &[u8], sender: &SealingKey, recipient: &str) -> Result<Self, SealingProblem> {
        let sealed = BASE64.encode(sender.seal(json, recipient)?);
        Ok(Self { from: sender.public(), sealed })
    }

    /// Returns the maximum size of sealed JSON of this length, in bytes.
    #[must_use]
    pub const fn sealed_bytes(json_bytes: usize) -> usize {
        BESIDE_JSON_BYTES + json_bytes.div_ceil(3) * 4
    }

    /// Parses a definition from the bus, without opening it.
    ///
    /// # Errors
    ///
    /// [`DefinitionProblem::Form`] when the bytes are not a definition.
    pub fn read(bytes: &[u8]) -> Result<Self, DefinitionProblem> {
        serde_json::from_slice(bytes).map_err(|_| DefinitionProblem::Form)
    }

    /// Opens the sealed definition with the location's key.
    pub fn open(&self, key: &SealingKey) -> Result<LocationDefinition, DefinitionProblem> {
        let sealed = BASE64.decode(&self.sealed).map_err(|_| DefinitionProblem::Form)?;
        let json = key.open(&sealed, &self.from)?;
        serde_json::from_slice(&json).map_err(|_| DefinitionProblem::Form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> LocationDefinition {
        let config = serde_json::json!({"auth": {"password": "geheim"}}).as_object().unwrap().clone();
        LocationDefinition {
            service: Id::random(),
            key: 7,
            name: "Shop".into(),
            check_type: "http".into(),
            version: LocationDefinition::version_of(CheckType::Http, "https://a.example/", 10, &config),
            revision: 3,
            target: "https://a.example/".into(),
            config,
            rhythm: LocationSchedule {
                hash: u64::MAX,
                interval_ms: 60_000,
                timeout_seconds: 10,
                attempts: 3,
                backoff_ms: 1_000,
                backoff_max_ms: 5_000,
                uncertain_interval_ms: 5_000,
            },
        }
    }

    #[test]
    fn only_its_location_can_read_a_definition() {
        let [engine, location, other] = [(); 3].map(|()| SealingKey::random());
        let made = definition();
        let json = serde_json::to_vec(&made).unwrap();
        let sealed = SealedDefinition::new(&json, &engine, &location.public()).unwrap();
        let text = serde_json::to_vec(&sealed).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains("geheim"));
        let most = SealedDefinition::sealed_bytes(json.len());
        assert!((most - BESIDE_JSON_BYTES..=most).contains(&text.len()), "{} of {most}", text.len());
        let read = SealedDefinition::read(&text).unwrap();
        assert_eq!(read.open(&location), Ok(made));
        assert_eq!(read.open(&other), Err(DefinitionProblem::Sealing(SealingProblem::Foreign)));
    }

    #[test]
    fn a_changed_target_secret_or_timeout_changes_the_version() {
        let made = definition();
        let version = |target: &str, timeout, config| {
            LocationDefinition::version_of(CheckType::Http, target, timeout, config)
        };
        assert_eq!(version(&made.target, 10, &made.config), made.version);
        assert_ne!(version("https://b.example/", 10, &made.config), made.version);
        assert_ne!(version(&made.target, 11, &made.config), made.version);
        assert_ne!(version(&made.target, 10, &Map::new()), made.version);
    }

    #[test]
    fn a_schedule_without_interval_or_attempts_is_refused() {
        let rhythm = definition().rhythm;
        assert!(rhythm.plan().is_some());
        assert_eq!(LocationSchedule { interval_ms: 0, ..rhythm.clone() }.plan(), None);
        assert_eq!(LocationSchedule { attempts: 0, ..rhythm }.plan(), None);
    }
}
