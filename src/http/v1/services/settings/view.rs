//! Settings of a service as clients see them (contract 4.3.4), with a placeholder in place of secrets.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::openapi::shape::ApiSchema;
use crate::http::v1::services::settings::openapi;
use crate::http::v1::services::settings::secrets::masked;
use crate::model::quorum::Quorum;
use crate::model::service::ServiceSettings;

/// The settings of a service, with all members.
#[derive(Serialize, ToSchema)]
#[schema(as = Settings)]
pub struct SettingsView<'a> {
    #[schema(schema_with = openapi::interval)]
    interval_seconds: u32,
    #[schema(schema_with = openapi::timeout)]
    timeout_seconds: u8,
    #[schema(schema_with = openapi::retries)]
    retries: u8,
    #[schema(schema_with = openapi::probes, required)]
    assigned_probes: Option<&'a [String]>,
    #[schema(schema_with = openapi::probe_roles, required)]
    probe_roles: Option<Map<String, Value>>,
    #[schema(schema_with = config)]
    config: Map<String, Value>,
    #[schema(schema_with = openapi::confirmation)]
    confirmation: Value,
    #[schema(schema_with = openapi::recovery_checks)]
    recovery_checks: u8,
    #[schema(schema_with = openapi::flapping_changes)]
    flapping_changes: u8,
    #[schema(schema_with = openapi::flapping_minutes)]
    flapping_minutes: u16,
}

impl<'a> SettingsView<'a> {
    /// Creates the view of stored settings; `keep` is the placeholder.
    #[must_use]
    pub fn of(settings: &'a ServiceSettings, keep: &str) -> Self {
        let roles = settings.probe_roles.as_ref().map(|roles| {
            roles.iter().map(|(code, role)| (code.clone(), Value::from(role.as_str()))).collect()
        });
        Self {
            interval_seconds: settings.interval_seconds,
            timeout_seconds: settings.timeout_seconds,
            retries: settings.retries,
            assigned_probes: settings.assigned_probes.as_deref(),
            probe_roles: roles,
            config: masked(settings.config.clone(), keep),
            confirmation: match settings.rules.quorum {
                Quorum::AtLeast(number) => number.into(),
                word => word.to_string().into(),
            },
            recovery_checks: settings.rules.recovery_checks,
            flapping_changes: settings.rules.flapping.changes,
            flapping_minutes: settings.rules.flapping.minutes,
        }
    }
}

fn config() -> ApiSchema {
    openapi::config("")
}
