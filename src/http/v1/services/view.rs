//! A service as clients see it (contract 4.3.1), in the order of the contract's table.
//!
//! A view joins stored and measured data, with a placeholder in place of secrets.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, duration_or_null, enum_of, id, percent_or_null, string, string_or_null, text_in, timestamp,
    timestamp_or_null, url_or_null, view,
};
use crate::http::v1::services::dependency_view::{DependencyView, UnreachableView, depends_on, unreachable};
use crate::http::v1::services::settings::view::SettingsView;
use crate::http::v1::tags::view::ServiceTagView;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::dependency::{Dependency, UnreachableState};
use crate::model::service::{NAME_LENGTH, OverrideStatus, Service, ServiceStatus};
use crate::model::tag::Tag;
use crate::model::verdict::Verdict;
use crate::probe::catalogue::definition;

/// A service.
#[derive(Serialize, ToSchema)]
#[schema(as = Service)]
pub(super) struct ServiceView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = check_type)]
    check_type: &'static str,
    check_type_label: &'static str,
    /// The target of the checks; its form depends on the check type.
    #[schema(required)]
    target: Option<&'a str>,
    #[schema(schema_with = measured_status)]
    status: &'static str,
    #[schema(schema_with = effective_status)]
    effective_status: &'static str,
    /// True while the service is flapping: its status has changed more than `settings.flapping_changes` times recently.
    is_flapping: bool,
    #[schema(schema_with = stated_status, required)]
    status_override: Option<&'static str>,
    #[schema(schema_with = string_or_null, required)]
    status_override_reason: Option<&'a str>,
    #[schema(schema_with = timestamp_or_null, required)]
    status_override_at: Option<Timestamp>,
    /// Name of the token or user who set the status override.
    #[schema(required)]
    status_override_by: Option<&'a str>,
    is_paused: bool,
    #[schema(schema_with = paused_reason, required)]
    paused_reason: Option<&'static str>,
    #[schema(schema_with = timestamp_or_null, required)]
    paused_at: Option<Timestamp>,
    /// False while the service has no settings, so that it is not checked.
    is_configured: bool,
    #[schema(schema_with = timestamp_or_null, required)]
    configured_at: Option<Timestamp>,
    #[schema(schema_with = uptime, required)]
    uptime_30d: Option<f64>,
    #[schema(schema_with = duration_or_null, required)]
    avg_response_ms: Option<f64>,
    #[schema(schema_with = timestamp_or_null, required)]
    last_check_at: Option<Timestamp>,
    #[schema(schema_with = url_or_null, required)]
    favicon_url: Option<&'a str>,
    tags: Vec<ServiceTagView<'a>>,
    #[schema(required)]
    settings: Option<SettingsView<'a>>,
    #[schema(schema_with = heartbeat, required)]
    heartbeat: Option<&'a HeartbeatView>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = updated_at)]
    updated_at: Timestamp,
    #[schema(schema_with = depends_on)]
    depends_on: Vec<DependencyView<'a>>,
    #[schema(schema_with = unreachable, required)]
    unreachable: Option<UnreachableView<'a>>,
}

/// The data that only heartbeat services have.
#[derive(Serialize, ToSchema)]
pub(super) struct HeartbeatView {
    #[schema(schema_with = ping_url, required)]
    pub(super) ping_url: Option<String>,
    #[schema(schema_with = timestamp_or_null, required)]
    pub(super) last_ping_at: Option<Timestamp>,
}

/// Current measurements of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LiveFigures {
    pub(super) verdict: Verdict,
    /// True while the service is flapping.
    pub(super) is_flapping: bool,
    /// Time of the newest stored result.
    pub(super) last_check_at: Option<Timestamp>,
    /// Availability over 30 days in per cent; `None` without measurements.
    pub(super) uptime_30d: Option<f64>,
    /// Mean response time over 30 days in milliseconds, with one decimal.
    pub(super) avg_response_ms: Option<f64>,
    /// True if a maintenance that covers the service is in progress.
    pub(super) in_maintenance: bool,
}

/// Data of a service in addition to its own row.
#[derive(Clone, Copy, Default)]
pub(super) struct ServiceDetails<'a> {
    pub(super) live: LiveFigures,
    /// Tags of the service, by label.
    pub(super) tags: &'a [Tag],
    /// Data of a heartbeat service; `None` for other types.
    pub(super) heartbeat: Option<&'a HeartbeatView>,
    pub(super) depends_on: &'a [Dependency],
    /// Dependencies because of which the service is unreachable.
    pub(super) unreachable: Option<&'a UnreachableState>,
    /// True if names of other services are hidden from the caller.
    pub(super) is_confined: bool,
}

impl<'a> ServiceView<'a> {
    /// Creates the view of a service; `keep` is the placeholder for secrets.
    pub(super) fn of(service: &'a Service, beside: &ServiceDetails<'a>, keep: &str) -> Self {
        let ServiceDetails { live, tags, heartbeat, depends_on, unreachable, is_confined } = *beside;
        let stated = service.status_override.as_ref();
        let configured_at =
            if service.check_type.is_probed() { service.configured_at } else { Some(service.created_at) };
        Self {
            id: service.id,
            name: &service.name,
            check_type: service.check_type.as_str(),
            check_type_label: definition(service.check_type).label,
            target: service.target.as_deref(),
            status: ServiceStatus::measured(service.status_facts(), live.verdict).as_str(),
            effective_status: ServiceStatus::effective(
                service.status_facts(),
                live.verdict,
                live.in_maintenance,
            )
            .as_str(),
            is_flapping: live.is_flapping && service.pause.is_none(),
            status_override: stated.map(|stated| stated.status.as_str()),
            status_override_reason: stated.map(|stated| stated.reason.as_str()),
            status_override_at: stated.map(|stated| stated.at),
            status_override_by: stated.map(|stated| stated.by.as_str()),
            is_paused: service.pause.is_some(),
            paused_reason: service.pause.map(|pause| pause.reason.as_str()),
            paused_at: service.pause.map(|pause| pause.at),
            is_configured: service.is_configured(),
            configured_at,
            uptime_30d: live.uptime_30d,
            avg_response_ms: live.avg_response_ms,
            last_check_at: live.last_check_at,
            favicon_url: None,
            tags: tags.iter().map(ServiceTagView::of).collect(),
            settings: service.settings.as_ref().map(|settings| SettingsView::of(settings, keep)),
            heartbeat,
            created_at: service.created_at,
            updated_at: service.updated_at,
            depends_on: depends_on.iter().filter(|_| !is_confined).map(DependencyView::from).collect(),
            unreachable: unreachable.map(|unreachable| UnreachableView::of(unreachable, is_confined)),
        }
    }
}

/// The schema of a check type's slug.
pub(in crate::http::v1) fn check_type() -> ApiSchema {
    enum_of(CheckType::WORDS)
}

fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

fn measured_status() -> ApiSchema {
    enum_of(&["unknown", "up", "down", "degraded", "paused"]).says("What was measured.")
}

fn effective_status() -> ApiSchema {
    enum_of(&["unknown", "up", "down", "degraded", "paused", "maintenance", "operational"])
        .says("The displayed status: an override, a pause or a maintenance takes precedence over `status`.")
}

fn stated_status() -> ApiSchema {
    enum_of(OverrideStatus::WORDS).nullable()
}

fn paused_reason() -> ApiSchema {
    string().nullable().says("`manual`, `plan_limit`; there may be more in future.").example("manual")
}

fn uptime() -> ApiSchema {
    percent_or_null().says("Percent over 30 days; null without data.")
}

fn heartbeat() -> ApiSchema {
    view::<HeartbeatView>().nullable()
}

fn ping_url() -> ApiSchema {
    url_or_null().says("The address that the monitored job calls; null for tokens without `services.edit`.")
}

fn updated_at() -> ApiSchema {
    timestamp().says("Time of the last change by a user; checks do not change it.")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::http::kit::view::to_json;
    use crate::model::service::{PauseReason, ServicePause, ServiceSettings, StatusOverride};
    use crate::model::status_rules::StatusRules;
    use crate::model::tag::TagSource;

    const KEEP: &str = "__SERVICE_KEEP_UNCHANGED__";
    const CREATED_AT: Timestamp = Timestamp::from_ms(1_793_520_000_000);

    fn service(check_type: CheckType) -> Service {
        Service {
            key: 1,
            id: Id::random(),
            organisation: 1,
            name: "Shop front".into(),
            check_type,
            target: None,
            settings: None,
            configured_at: None,
            pause: None,
            status_override: None,
            created_at: CREATED_AT,
            updated_at: CREATED_AT,
            revision: 1,
            in_planned_maintenance: false,
        }
    }

    fn settings() -> ServiceSettings {
        let config = json!({
            "method": "GET", "headers": {"X-Api-Key": "sealed"}, "auth": {"type": "bearer", "token": "sealed"},
            "body": "", "follow_redirects": true, "verify_ssl": true, "ip_version": "auto", "smart_dualstack": false,
            "conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]
        });
        ServiceSettings {
            interval_seconds: 60,
            timeout_seconds: 10,
            retries: 2,
            assigned_probes: Some(vec!["fra".into(), "hel".into()]),
            probe_roles: None,
            config: config.as_object().unwrap().clone(),
            rules: StatusRules::default(),
        }
    }

    fn shown(service: &Service, beside: &ServiceDetails<'_>) -> Value {
        to_json(&ServiceView::of(service, beside, KEEP))
    }

    /// Contract 4.3.1: the example.
    #[test]
    fn a_measured_service_matches_the_example_of_the_contract() {
        let service = Service {
            id: "rNSJxMbDTX2uHc08AiCqo".parse().unwrap(),
            target: Some("https://shop.example.com/health".into()),
            settings: Some(settings()),
            configured_at: Some(CREATED_AT),
            ..service(CheckType::Http)
        };
        let live = LiveFigures {
            verdict: Verdict::Up,
            is_flapping: false,
            last_check_at: Some(Timestamp::from_ms(1_795_193_431_120)),
            uptime_30d: Some(99.982),
            avg_response_ms: Some(142.5),
            in_maintenance: false,
        };
        let expected: Value = serde_json::from_str(
            r##"{
            "id": "rNSJxMbDTX2uHc08AiCqo", "name": "Shop front", "check_type": "http", "check_type_label": "HTTP",
            "target": "https://shop.example.com/health", "status": "up", "effective_status": "up", "is_flapping": false,
            "status_override": null, "status_override_reason": null, "status_override_at": null,
            "status_override_by": null,
            "is_paused": false, "paused_reason": null, "paused_at": null,
            "is_configured": true, "configured_at": "2026-11-01T08:00:00.000Z",
            "uptime_30d": 99.982, "avg_response_ms": 142.5, "last_check_at": "2026-11-20T16:50:31.120Z",
            "favicon_url": null,
            "tags": [{"id": "8rumoia4tHtM30RLo1EcP", "key": "env", "value": "prod", "color": "#2563eb",
                      "label": "env:prod", "source": "user"}],
            "settings": {
                "interval_seconds": 60, "timeout_seconds": 10, "retries": 2, "assigned_probes": ["fra", "hel"],
                "probe_roles": null,
                "config": {
                    "method": "GET", "headers": {"X-Api-Key": "__SERVICE_KEEP_UNCHANGED__"}, "auth": {"type": "bearer", "token": "__SERVICE_KEEP_UNCHANGED__"},
                    "body": "", "follow_redirects": true, "verify_ssl": true, "ip_version": "auto",
                    "smart_dualstack": false,
                    "conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]
                },
                "confirmation": "majority", "recovery_checks": 1, "flapping_changes": 6, "flapping_minutes": 30
            },
            "heartbeat": null, "created_at": "2026-11-01T08:00:00.000Z", "updated_at": "2026-11-01T08:00:00.000Z", "depends_on": [],
            "unreachable": null
        }"##,
        )
        .unwrap();
        let tag = Tag {
            row: 1,
            id: "8rumoia4tHtM30RLo1EcP".parse().unwrap(),
            organisation: 1,
            name: "env:prod".parse().unwrap(),
            color: "#2563eb".into(),
            source: TagSource::User,
            created_at: CREATED_AT,
        };
        let beside = ServiceDetails { live, tags: &[tag], ..ServiceDetails::default() };
        assert_eq!(shown(&service, &beside).to_string(), expected.to_string());
    }

    #[test]
    fn a_service_without_settings_is_not_configured_unless_it_is_manual() {
        for (check_type, is_configured, configured_at, effective) in [
            (CheckType::Tcp, false, Value::Null, "unknown"),
            (CheckType::Manual, true, "2026-11-01T08:00:00.000Z".into(), "operational"),
            (CheckType::Heartbeat, true, "2026-11-01T08:00:00.000Z".into(), "unknown"),
        ] {
            let shown = shown(&service(check_type), &ServiceDetails::default());
            assert_eq!(shown["is_configured"], is_configured);
            assert_eq!(shown["configured_at"], configured_at);
            assert_eq!(shown["effective_status"], effective);
            for null in ["settings", "uptime_30d", "avg_response_ms", "last_check_at", "target"] {
                assert_eq!(shown[null], Value::Null, "{null}");
            }
        }
    }

    #[test]
    fn a_pause_and_an_override_show_reason_and_time() {
        let at = CREATED_AT.plus_ms(1);
        let service = Service {
            pause: Some(ServicePause { reason: PauseReason::PlanLimit, at }),
            status_override: Some(StatusOverride {
                status: OverrideStatus::Maintenance,
                reason: "Moving house".into(),
                at,
                by: "Deploy bot".into(),
            }),
            ..service(CheckType::Http)
        };
        let shown = shown(&service, &ServiceDetails::default());
        for (key, value) in [
            ("status", json!("paused")),
            ("effective_status", json!("maintenance")),
            ("status_override", json!("maintenance")),
            ("status_override_reason", json!("Moving house")),
            ("status_override_at", json!("2026-11-01T08:00:00.001Z")),
            ("status_override_by", json!("Deploy bot")),
            ("is_paused", json!(true)),
            ("paused_reason", json!("plan_limit")),
            ("paused_at", json!("2026-11-01T08:00:00.001Z")),
        ] {
            assert_eq!(shown[key], value, "{key}");
        }
    }
}
