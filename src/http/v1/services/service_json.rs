//! A service as clients see it (contract 4.3.1), in the order of the contract's table.
//!
//! It joins what is stored with what was measured. Secrets show as the placeholder.

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::http::v1::services::settings::settings_json;
use crate::http::v1::tags::tag_json;
use crate::model::service::{OverrideStatus, Service, ServiceStatus};
use crate::model::tag::Tag;
use crate::model::verdict::Verdict;
use crate::probe::catalogue::definition;

/// What the measurements say about a service at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LiveFigures {
    /// The verdict of its locations.
    pub verdict: Verdict,
    /// Time of the newest stored result.
    pub last_check_at: Option<Timestamp>,
    /// Availability over 30 days in percent.
    pub uptime_30d: Option<f64>,
    /// Mean response time over 30 days, one decimal.
    pub avg_response_ms: Option<f64>,
    /// Whether planned work that covers it is in progress.
    pub in_maintenance: bool,
}

/// What is shown of a service beside its own row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Beside<'a> {
    /// What the measurements say.
    pub live: LiveFigures,
    /// Its tags by label.
    pub tags: &'a [Tag],
    /// `heartbeat` of services that report themselves.
    pub heartbeat: Option<&'a Value>,
}

/// The service object.
#[must_use]
pub(crate) fn service_json(service: &Service, beside: &Beside<'_>, keep: &str) -> Value {
    let Beside { live, tags, heartbeat } = beside;
    let stated = service.status_override.as_ref();
    let configured_at =
        if service.check_type.is_probed() { service.configured_at } else { Some(service.created_at) };
    json!({
        "id": service.id.as_str(),
        "name": service.name,
        "check_type": service.check_type.as_str(),
        "check_type_label": definition(service.check_type).label,
        "target": service.target,
        "status": ServiceStatus::measured(service, live.verdict).as_str(),
        "effective_status": ServiceStatus::effective(service, live.verdict, live.in_maintenance).as_str(),
        "status_override": stated.map(|stated| stated.status).map(OverrideStatus::as_str),
        "status_override_reason": stated.map(|stated| &stated.reason),
        "status_override_at": stated.map(|stated| stated.at.to_string()),
        "status_override_by": stated.map(|stated| &stated.by),
        "is_paused": service.pause.is_some(),
        "paused_reason": service.pause.map(|pause| pause.reason.as_str()),
        "paused_at": service.pause.map(|pause| pause.at.to_string()),
        "is_configured": service.is_configured(),
        "configured_at": configured_at.map(|at| at.to_string()),
        "uptime_30d": live.uptime_30d,
        "avg_response_ms": live.avg_response_ms,
        "last_check_at": live.last_check_at.map(|at| at.to_string()),
        "favicon_url": null,
        "tags": tags.iter().map(tag_json).collect::<Vec<_>>(),
        "settings": service.settings.as_ref().map(|settings| settings_json(settings, keep)),
        "heartbeat": heartbeat,
        "created_at": service.created_at.to_string(),
        "updated_at": service.updated_at.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::model::check::CheckType;
    use crate::model::service::{Pause, PauseReason, Settings, StatusOverride};
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

    fn settings() -> Settings {
        let config = json!({
            "method": "GET", "headers": {"X-Api-Key": "sealed"}, "auth": {"type": "bearer", "token": "sealed"},
            "body": "", "follow_redirects": true, "verify_ssl": true, "ip_version": "auto", "smart_dualstack": false,
            "conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]
        });
        Settings {
            interval_seconds: 60,
            timeout_seconds: 10,
            retries: 2,
            assigned_probes: Some(vec!["fra".into(), "hel".into()]),
            probe_roles: None,
            config: config.as_object().unwrap().clone(),
        }
    }

    /// Contract 4.3.1, the example.
    #[test]
    fn a_measured_service_is_the_one_of_the_example() {
        let service = Service {
            id: "rNSJxMbDTX2uHc08AiCqo".parse().unwrap(),
            target: Some("https://shop.example.com/health".into()),
            settings: Some(settings()),
            configured_at: Some(CREATED_AT),
            ..service(CheckType::Http)
        };
        let live = LiveFigures {
            verdict: Verdict::Up,
            last_check_at: Some(Timestamp::from_ms(1_795_193_431_120)),
            uptime_30d: Some(99.982),
            avg_response_ms: Some(142.5),
            in_maintenance: false,
        };
        let expected: Value = serde_json::from_str(
            r##"{
            "id": "rNSJxMbDTX2uHc08AiCqo", "name": "Shop front", "check_type": "http", "check_type_label": "HTTP",
            "target": "https://shop.example.com/health", "status": "up", "effective_status": "up",
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
                }
            },
            "heartbeat": null, "created_at": "2026-11-01T08:00:00.000Z", "updated_at": "2026-11-01T08:00:00.000Z"
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
        let beside = Beside { live, tags: &[tag], heartbeat: None };
        assert_eq!(service_json(&service, &beside, KEEP).to_string(), expected.to_string());
    }

    #[test]
    fn a_service_without_settings_is_not_configured_unless_it_is_manual() {
        for (check_type, is_configured, configured_at, effective) in [
            (CheckType::Tcp, false, Value::Null, "unknown"),
            (CheckType::Manual, true, "2026-11-01T08:00:00.000Z".into(), "operational"),
            (CheckType::Heartbeat, true, "2026-11-01T08:00:00.000Z".into(), "unknown"),
        ] {
            let shown = service_json(&service(check_type), &Beside::default(), KEEP);
            assert_eq!(shown["is_configured"], is_configured);
            assert_eq!(shown["configured_at"], configured_at);
            assert_eq!(shown["effective_status"], effective);
            for null in ["settings", "uptime_30d", "avg_response_ms", "last_check_at", "target"] {
                assert_eq!(shown[null], Value::Null, "{null}");
            }
        }
    }

    #[test]
    fn a_pause_and_an_override_say_why_and_since_when() {
        let at = CREATED_AT.plus_ms(1);
        let service = Service {
            pause: Some(Pause { reason: PauseReason::PlanLimit, at }),
            status_override: Some(StatusOverride {
                status: OverrideStatus::Maintenance,
                reason: "Moving house".into(),
                at,
                by: "Deploy bot".into(),
            }),
            ..service(CheckType::Http)
        };
        let shown = service_json(&service, &Beside::default(), KEEP);
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
