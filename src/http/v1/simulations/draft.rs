//! Reads a simulation request from a body: the period, and the settings and the incident policy to be simulated.
//!
//! Settings are read in the same way as in an update of the service. Changes whose effect stored results cannot show are
//! refused: another configuration of the check, or a longer timeout.

use serde_json::{Map, Value};

use crate::clock::{DAY_MS, Timestamp};
use crate::engine::definition::PlannedChecks;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::history::history_start;
use crate::http::v1::incident_policies::draft::read_rules;
use crate::http::v1::services::{SettingsSubject, merge_settings};
use crate::http::v1::state::AppState;
use crate::model::incident_policy::{IncidentRules, first_match};
use crate::model::service::{Service, ServiceSettings};
use crate::model::time_range::TimeRange;
use crate::model::verdict::freshness_ms;
use crate::model::watch::{PlannedLocation, RoundKeeper, WatchPlan};
use crate::store::{incident_policies, tags};

const DAYS_MAX: i64 = 31;
/// Names of the settings that may be simulated.
const SETTINGS: [&str; 10] = [
    "interval_seconds",
    "timeout_seconds",
    "retries",
    "assigned_probes",
    "probe_roles",
    "config",
    "confirmation",
    "recovery_checks",
    "flapping_changes",
    "flapping_minutes",
];
/// Names of the fields of an incident policy that are accepted; the last three have no effect here.
const POLICY_FIELDS: [&str; 12] = [
    "open_after_seconds",
    "resolve_after_seconds",
    "down_severity",
    "degraded_severity",
    "unstable_severity",
    "publish",
    "group_by",
    "group_by_tag_keys",
    "group_window_seconds",
    "name",
    "position",
    "tag_id",
];
/// Longest time before the period that is replayed as well, in milliseconds, so that the period starts in the right state.
const LEAD_MAX_MS: i64 = DAY_MS;

pub(super) struct SimulationRequest {
    pub(super) period: TimeRange,
    /// Start of the replayed results. It is before the period, because the state at the start of the period depends on them.
    pub(super) origin: Timestamp,
    /// Present settings and policy.
    pub(super) present: DecisionSettings,
    /// Simulated settings and policy.
    pub(super) draft: DecisionSettings,
}

/// The settings and the policy by which status and incidents are decided.
pub(super) struct DecisionSettings {
    pub(super) plan: WatchPlan,
    /// Codes of the locations of the plan.
    pub(super) locations: Vec<String>,
    /// Rules of the matching policy; `None` when none matches.
    pub(super) rules: Option<IncidentRules>,
}

/// Reads a simulation request for this service.
pub(super) async fn read(
    state: &AppState,
    caller: &Caller,
    service: &Service,
    body: &Map<String, Value>,
) -> Result<SimulationRequest, ApiError> {
    let Some(stored) = service.settings.as_ref().filter(|_| service.check_type.is_probed()) else {
        return Err(ApiError::Fields(FieldErrors::of("check_type", FieldRule::NotProbed)));
    };
    let rules = present_rules(state, caller, service).await?;
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let period = read_period(&fields, state.now());
    let settings = read_settings(state, caller, service, &fields, stored, &errors);
    let draft_rules = match fields.skippable("incident_policy") {
        Some(field) => field.object().map(|members| {
            members.refuse_unknown(&POLICY_FIELDS);
            read_rules(&members, &rules.clone().unwrap_or_default())
        }),
        None => rules.clone(),
    };
    let found = errors.into_inner();
    let (Some(period), Some(settings)) = (period, settings) else { return Err(ApiError::Fields(found)) };
    let start = history_start(state.now(), &caller.limits);
    let period = TimeRange { from: period.from.max(start), ..period };
    if period.if_not_empty().is_none() {
        return Err(ApiError::Fields(FieldErrors::of("to", FieldRule::NotKept)));
    }
    found.into_result(()).map_err(ApiError::Fields)?;
    let present = decided(state, caller, service, stored, rules)?;
    let draft = decided(state, caller, service, &settings, draft_rules)?;
    let lead_ms = lead_ms(&present).max(lead_ms(&draft)).min(LEAD_MAX_MS);
    let origin = period.from.plus_ms(-lead_ms).max(start);
    Ok(SimulationRequest { period, origin, present, draft })
}

/// Returns the rules of the policy that matches the service now.
async fn present_rules(
    state: &AppState,
    caller: &Caller,
    service: &Service,
) -> Result<Option<IncidentRules>, ApiError> {
    let reader = state.databases.main.reader();
    let policies = incident_policies::list(reader, caller.organisation.key).await?;
    let mut carried = tags::of_services(reader, &[service.key]).await?;
    let carried: Vec<i64> =
        carried.remove(&service.key).unwrap_or_default().iter().map(|tag| tag.row).collect();
    Ok(first_match(&policies, &carried).map(|policy| policy.rules.clone()))
}

/// Reads the period, with the last day as the default.
fn read_period(fields: &BodyFields<'_>, now: Timestamp) -> Option<TimeRange> {
    let from = fields.optional("from");
    let to = fields.optional("to");
    let until = match &to {
        Some(field) => field.timestamp()?,
        None => now,
    };
    let since = match &from {
        Some(field) => field.timestamp()?,
        None => until.plus_ms(-DAY_MS),
    };
    let broken = match () {
        () if until > now => Some(("to", FieldRule::NotFuture)),
        () if until <= since => Some(("to", FieldRule::After("from"))),
        () if until.ms_since(since) > DAYS_MAX * DAY_MS => Some(("from", FieldRule::PeriodDays(DAYS_MAX))),
        () => None,
    };
    match broken {
        None => Some(TimeRange { from: since, to: until }),
        Some((name, rule)) => {
            fields.refuse(name, rule);
            None
        }
    }
}

/// Reads the simulated settings; adds an error for each whose effect stored results cannot show.
fn read_settings(
    state: &AppState,
    caller: &Caller,
    service: &Service,
    fields: &BodyFields<'_>,
    stored: &ServiceSettings,
    errors: &ErrorCollector,
) -> Option<ServiceSettings> {
    let Some(sent) = fields.skippable("settings") else { return Some(stored.clone()) };
    // An update ignores unknown settings; a simulation would only show no effect, so they are refused.
    if let Some(members) = sent.value().as_object() {
        BodyFields::new(members, "settings", errors).refuse_unknown(&SETTINGS);
    }
    let written = SettingsSubject { state, caller, id: service.id, check_type: service.check_type };
    let settings =
        merge_settings(written, sent.value(), Some(stored)).map_err(|found| errors.extend(found)).ok()?;
    if settings.config != stored.config {
        errors.add("settings.config", FieldRule::NotReplayed);
    }
    if settings.timeout_seconds > stored.timeout_seconds {
        errors.add("settings.timeout_seconds", FieldRule::NotReplayed);
    }
    Some(settings)
}

fn decided(
    state: &AppState,
    caller: &Caller,
    service: &Service,
    settings: &ServiceSettings,
    rules: Option<IncidentRules>,
) -> Result<DecisionSettings, ApiError> {
    let watched = Service { settings: Some(settings.clone()), pause: None, ..service.clone() };
    let planned = state.compiler.planned_checks(&watched, caller.organisation.id);
    let planned = planned.map_err(|error| ApiError::Internal(error.into()))?;
    let Some(PlannedChecks { mut plan, locations, .. }) = planned else {
        return Err(ApiError::Fields(FieldErrors::of("target", FieldRule::Required)));
    };
    // All locations are treated alike: a remote one keeps no schedule of its own in a simulation.
    let here = |location: &PlannedLocation| PlannedLocation { round: RoundKeeper::Watch, ..*location };
    plan.locations = plan.locations.iter().map(here).collect();
    let locations = locations.iter().map(|known| known.location.code.to_string()).collect();
    Ok(DecisionSettings { plan, locations, rules })
}

/// Returns for how many milliseconds the state at a moment may depend on the time before.
fn lead_ms(decided: &DecisionSettings) -> i64 {
    let flapping_ms = decided.plan.rules.flapping.window_ms();
    let rules = decided.rules.as_ref();
    let patience_ms = rules.map_or(0, |rules| rules.open_after_ms() + rules.resolve_after_ms().unwrap_or(0));
    freshness_ms(decided.plan.interval_ms).max(flapping_ms).max(patience_ms)
}
