//! Monitoring locations as clients see them (contract 4.1).

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::engine::registry::RegisteredLocation;
use crate::http::gate::auth::Caller;
use crate::http::openapi::shape::{ApiSchema, enum_of, string, text, timestamp_or_null, view};
use crate::model::access::Permission;
use crate::model::check::LocalFault;
use crate::model::location::{LocationReport, LocationStatus};

/// A location that checks services.
#[derive(Serialize, ToSchema)]
#[schema(as = Probe)]
pub(super) struct ProbeView<'a> {
    #[schema(schema_with = code)]
    code: &'a str,
    #[schema(schema_with = name)]
    name: &'a str,
    /// Name of the country or region.
    location: &'a str,
    #[schema(schema_with = country_code)]
    country_code: &'a str,
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = impaired_by)]
    impaired_by: Option<&'static str>,
    #[schema(schema_with = timestamp_or_null, required)]
    last_seen_at: Option<Timestamp>,
    /// The last report of a remote location; missing if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = agent)]
    agent: Option<AgentView>,
}

/// The last report of a remote location about itself (an addition to the contract). Its counts cover the services of all
/// organisations, so only operators see them: callers with the permission `engine.view` who are not confined to an access
/// scope.
#[derive(Serialize, ToSchema)]
#[schema(as = ProbeAgent)]
pub(super) struct AgentView {
    /// Version of the location's program.
    version: String,
    /// Milliseconds by which the location's clock is ahead; negative when it is behind. Above 2,000 its times are corrected.
    clock_ahead_ms: i64,
    /// Number of services that the location checks. Only for operators, like the other counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    services: Option<u64>,
    /// 99 of 100 checks of the location started late by at most this many milliseconds.
    lateness_p99_ms: f64,
    /// Number of checks that were due but not started, since the location's process started.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed_runs: Option<u64>,
    /// Number of results in the location's memory that have not arrived yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_results: Option<u64>,
    /// Bytes of results on the location's disk that have not arrived yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    spool_bytes: Option<u64>,
    /// Number of results that the location has dropped since its process started.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_results: Option<u64>,
}

impl AgentView {
    fn of(seen: &LocationReport, is_operator: bool) -> Self {
        let for_operators = |count: u64| is_operator.then_some(count);
        Self {
            version: seen.version.clone(),
            clock_ahead_ms: seen.clock_ahead_ms,
            services: for_operators(seen.services),
            lateness_p99_ms: f64::from(u32::try_from(seen.lateness_p99_us).unwrap_or(u32::MAX)) / 1_000.0,
            missed_runs: for_operators(seen.missed),
            waiting_results: for_operators(seen.waiting),
            spool_bytes: for_operators(seen.spool_bytes),
            lost_results: for_operators(seen.shed),
        }
    }
}

impl<'a> ProbeView<'a> {
    /// Creates the view of a location for this caller. A local location is alive at `now`; a remote one has the state of its
    /// last report.
    pub(super) fn of(known: &'a RegisteredLocation, caller: &Caller, now: Timestamp) -> Self {
        let has_right = caller.token.permissions.contains(Permission::EngineView);
        let is_operator = has_right && !caller.visibility().is_confined();
        let location = &known.location;
        let standing = known.standing(caller.organisation.key, now);
        let impaired_by = known.impaired_by().filter(|_| standing == LocationStatus::Impaired);
        Self {
            code: location.code.as_str(),
            name: &location.name,
            location: &location.place,
            country_code: &location.country_code,
            kind: "public",
            status: standing.as_str(),
            impaired_by: impaired_by.map(LocalFault::as_str),
            last_seen_at: known.last_seen_at(now),
            agent: known.last_seen().map(|seen| AgentView::of(&seen, is_operator)),
        }
    }
}

fn agent() -> ApiSchema {
    view::<AgentView>()
}

fn code() -> ApiSchema {
    string().pattern("^[a-z0-9][a-z0-9._-]{0,31}$")
}

fn name() -> ApiSchema {
    text(1, 255)
}

fn country_code() -> ApiSchema {
    string().pattern("^[A-Z]{2}$").says("ISO 3166-1 alpha-2; `ZZ` when unknown.")
}

fn kind() -> ApiSchema {
    enum_of(&["public", "private"])
}

fn status() -> ApiSchema {
    enum_of(&LocationStatus::ALL.map(LocationStatus::as_str)).says(
        "`offline`: no report for a minute. `impaired`: its own network has failed, it could make no check for a minute, or it \
         sees services of this organisation down that all others see up; its results do not count for a status.",
    )
}

fn impaired_by() -> ApiSchema {
    enum_of(&LocalFault::ALL.map(LocalFault::as_str)).says(
        "Why its own machine is `impaired`; absent when it is not, or when the reason is that it contradicts all others. \
         `location_impaired`: none of its reference targets answers.",
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Counts of a location cover the services of all organisations, so only operators see them.
    #[rstest]
    #[case(false, &["version", "clock_ahead_ms", "lateness_p99_ms"])]
    #[case(true, &[
        "version", "clock_ahead_ms", "services", "lateness_p99_ms", "missed_runs", "waiting_results",
        "spool_bytes", "lost_results",
    ])]
    fn counts_of_a_location_are_shown_to_operators(#[case] is_operator: bool, #[case] members: &[&str]) {
        let view = json!(AgentView::of(&LocationReport::default(), is_operator));
        let shown: Vec<&str> = view.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(shown, members);
    }
}
