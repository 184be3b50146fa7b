//! The definition of a service for the engine, made from the stored one: parsed, secrets opened, locations resolved.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::config::limits::EngineLimits;
use crate::engine::registry::{LocationRegistry, RegisteredLocation};
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::heartbeat::{HeartbeatPlan, StoredPings};
use crate::model::location::LocationKey;
use crate::model::secret::{SecretSealer, UnsealError};
use crate::model::service::{OverrideStatus, Service, ServiceKey, ServiceSettings};
use crate::model::service_secrets::{each_leaf, place_of};
use crate::model::watch::{PlannedLocation, WatchPlan};
use crate::probe::compile::SpecError;
use crate::probe::spec::CheckSpec;

/// A service as the engine uses it.
#[derive(Debug)]
pub struct WatchDefinition {
    /// Database key of the service.
    pub key: ServiceKey,
    /// Public id of the service, which decides its shard and phase.
    pub id: Id,
    /// Database key of the organisation that owns the service.
    pub organisation: i64,
    /// Name of the service, for logs.
    pub name: Box<str>,
    /// Type of the checks, for the counters.
    pub check_type: CheckType,
    /// Revision of the stored service; an older one is not applied.
    pub revision: i64,
    /// The checks to make; `None` while the service is paused or unconfigured, and for types that are not
    /// checked. While no location is known no checks are made, but earlier results stay valid for as long as
    /// they otherwise would.
    pub task: Option<CompiledChecks>,
    /// The pings that are expected; `None` for other types, and while paused.
    pub heartbeat: Option<HeartbeatPlan>,
    /// True while the service is paused, so that its time is excluded.
    pub is_paused: bool,
    /// True during a planned maintenance of the service, so that its time is excluded.
    pub in_planned_maintenance: bool,
    /// The status that a person has set by hand.
    pub stated: Option<OverrideStatus>,
}

impl WatchDefinition {
    /// Returns true if the engine has anything to do for the service.
    #[must_use]
    pub const fn is_watched(&self) -> bool {
        self.task.is_some() || self.heartbeat.is_some()
    }

    /// Returns the definition with the stored state of its heartbeat.
    #[must_use]
    pub fn with_heartbeat(mut self, stored: Option<StoredPings>) -> Self {
        if let (Some(plan), Some(stored)) = (&mut self.heartbeat, stored) {
            plan.stored = stored;
        }
        self
    }
}

/// The checks of a service: their plan, their specification and their locations.
#[derive(Debug)]
pub struct CompiledChecks {
    /// The times and the frequency of the checks.
    pub plan: WatchPlan,
    /// The specification of the check.
    pub spec: Arc<CheckSpec>,
    /// The locations that check, in the order of the plan.
    pub locations: Box<[LocationKey]>,
    /// Checks with equal keys go to the same host.
    pub host_key: u64,
    /// Hash of target and configuration. Results of one definition are valid for another with the same
    /// fingerprint.
    pub fingerprint: u64,
}

/// The checks of a service before they are compiled, in the form that is sent to every location, including remote ones.
#[derive(Clone)]
pub struct PlannedChecks {
    /// The times and the frequency of the checks.
    pub plan: WatchPlan,
    /// The locations that check, in the order of the plan.
    pub locations: Vec<Arc<RegisteredLocation>>,
    /// The target as stored.
    pub target: String,
    /// Seconds that one attempt may take.
    pub timeout_seconds: u8,
    /// The configuration, with its secrets in clear.
    pub config: Map<String, Value>,
}

/// Omits the secrets.
impl fmt::Debug for PlannedChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannedChecks").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// The reason why a stored service cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// A secret cannot be opened.
    #[error("{field}: {source}")]
    Secret {
        /// Path of the field with the secret.
        field: String,
        /// Reason why the secret cannot be opened.
        source: UnsealError,
    },
    /// Target or configuration cannot be used.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// The key, the locations and the limits with which definitions are made.
#[derive(Clone, Debug)]
pub struct DefinitionCompiler {
    /// Opens secrets with the installation's key.
    pub sealer: SecretSealer,
    /// The locations that the engine knows.
    pub roster: Arc<LocationRegistry>,
    /// Limits of the engine.
    pub limits: EngineLimits,
}

impl DefinitionCompiler {
    /// Makes the definition of a stored service; `organisation` is the id of its owner.
    ///
    /// # Errors
    ///
    /// When a secret cannot be opened, or the check cannot be compiled.
    pub fn define(&self, service: &Service, organisation: Id) -> Result<WatchDefinition, DefinitionError> {
        let planned = self.planned_checks(service, organisation)?;
        let task = planned.map(|planned| compile_checks(service.check_type, planned)).transpose()?;
        let reports_itself = service.check_type == CheckType::Heartbeat && service.pause.is_none();
        let heartbeat = service.settings.as_ref().filter(|_| reports_itself).map(HeartbeatPlan::new);
        Ok(WatchDefinition {
            key: service.key,
            id: service.id,
            organisation: service.organisation,
            name: service.name.as_str().into(),
            check_type: service.check_type,
            revision: service.revision,
            task,
            heartbeat,
            is_paused: service.pause.is_some(),
            in_planned_maintenance: service.in_planned_maintenance,
            stated: service.status_override.as_ref().map(|stated| stated.status),
        })
    }

    /// Returns the specification of a single check of this service, which need not be stored. `None` if it has nothing to
    /// check.
    ///
    /// # Errors
    ///
    /// As [`Self::define`].
    pub fn spec_of(
        &self,
        service: &Service,
        organisation: Id,
    ) -> Result<Option<Arc<CheckSpec>>, DefinitionError> {
        Ok(self.define(service, organisation)?.task.map(|task| task.spec))
    }

    /// Returns the planned checks of a stored service; their locations may all be unknown here. `None` while
    /// the service is paused or unconfigured, and for types that are not checked.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Secret`] when a secret cannot be opened.
    pub fn planned_checks(
        &self,
        service: &Service,
        organisation: Id,
    ) -> Result<Option<PlannedChecks>, DefinitionError> {
        let is_checked = service.pause.is_none() && service.check_type.is_probed();
        let (Some(settings), Some(target), true) = (&service.settings, &service.target, is_checked) else {
            return Ok(None);
        };
        let locations = self.roster.locations_for(settings.assigned_probes.as_deref());
        let planned = locations.iter().map(|known| PlannedLocation {
            role: settings.role_of(known.location.code.as_str()),
            round: known.round(),
        });
        Ok(Some(PlannedChecks {
            plan: self.plan(service, settings, planned.collect()),
            locations,
            target: target.clone(),
            timeout_seconds: settings.timeout_seconds,
            config: open_secrets(&self.sealer, &settings.config, organisation, service.id)?,
        }))
    }

    fn plan(
        &self,
        service: &Service,
        settings: &ServiceSettings,
        locations: Box<[PlannedLocation]>,
    ) -> WatchPlan {
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        WatchPlan {
            hash: service.id.stable_hash(),
            interval_ms: i64::from(settings.interval_seconds) * 1_000,
            timeout_ms: i64::from(settings.timeout_seconds) * 1_000,
            attempts: settings.retries + 1,
            backoff_ms: ms(self.limits.retry_backoff_ms),
            backoff_max_ms: ms(self.limits.retry_backoff_max_ms),
            uncertain_interval_ms: self.limits.uncertain_interval_ms,
            rules: settings.rules,
            locations,
        }
    }
}

/// Compiles planned checks into a task.
pub fn compile_checks(check_type: CheckType, planned: PlannedChecks) -> Result<CompiledChecks, SpecError> {
    let PlannedChecks { plan, locations, target, timeout_seconds, config } = planned;
    let spec = CheckSpec::compile(check_type, &target, timeout_seconds, &config)?;
    Ok(CompiledChecks {
        plan,
        spec: Arc::new(spec),
        locations: locations.iter().map(|known| known.key).collect(),
        host_key: hash_of(&host_of(check_type, &target)),
        fingerprint: hash_of(&(target, Value::Object(config).to_string())),
    })
}

fn open_secrets(
    sealer: &SecretSealer,
    config: &Map<String, Value>,
    organisation: Id,
    service: Id,
) -> Result<Map<String, Value>, DefinitionError> {
    let mut opened = config.clone();
    each_leaf(&mut opened, |field, value| -> Result<(), DefinitionError> {
        let Value::String(text) = value else { return Ok(()) };
        let clear = sealer.open(place_of(&organisation, &service, &field), text);
        *text = clear.map_err(|source| DefinitionError::Secret { field, source })?;
        Ok(())
    })?;
    Ok(opened)
}

fn host_of(check_type: CheckType, target: &str) -> String {
    let url = (check_type == CheckType::Http).then(|| url::Url::parse(target).ok()).flatten();
    let host = url.and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| target.rsplit_once(':').map_or(target, |(host, _)| host).to_lowercase())
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
