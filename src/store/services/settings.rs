//! Conversion between the settings of a service and columns of its row.

use sea_orm::ActiveValue::Set;
use serde_json::{Map, Value};
use watchkeeper_entities::service::{ActiveModel, Model};

use crate::model::quorum::UnknownQuorum;
use crate::model::service::{ProbeRole, ServiceSettings};
use crate::model::status_rules::FlappingRule;
use crate::model::status_rules::StatusRules;

/// Returns a row in which only the columns of the settings are set.
pub(super) fn to_columns(settings: Option<&ServiceSettings>) -> ActiveModel {
    let rules = settings.map(|settings| settings.rules);
    ActiveModel {
        interval_seconds: Set(settings.and_then(|settings| i32::try_from(settings.interval_seconds).ok())),
        timeout_seconds: Set(settings.map(|settings| settings.timeout_seconds.into())),
        retries: Set(settings.map(|settings| settings.retries.into())),
        assigned_probes: Set(settings
            .and_then(|settings| settings.assigned_probes.clone())
            .map(|codes| Value::from(codes).to_string())),
        probe_roles: Set(settings.and_then(|settings| settings.probe_roles.as_deref()).map(roles_to_text)),
        config: Set(settings.map(|settings| Value::Object(settings.config.clone()).to_string())),
        confirmation: Set(rules.map(|rules| rules.quorum.to_string())),
        recovery_checks: Set(rules.map(|rules| rules.recovery_checks.into())),
        flapping_changes: Set(rules.map(|rules| rules.flapping.changes.into())),
        flapping_minutes: Set(rules.and_then(|rules| i16::try_from(rules.flapping.minutes).ok())),
        ..ActiveModel::default()
    }
}

fn roles_to_text(roles: &[(String, ProbeRole)]) -> String {
    let object: Map<String, Value> =
        roles.iter().map(|(code, role)| (code.clone(), Value::from(role.as_str()))).collect();
    Value::Object(object).to_string()
}

/// Returns the settings stored in a row; `None` if it has none.
pub(super) fn from_columns(row: &Model) -> Result<Option<ServiceSettings>, String> {
    let (Some(interval), Some(timeout), Some(retries), Some(config)) =
        (row.interval_seconds, row.timeout_seconds, row.retries, &row.config)
    else {
        return Ok(None);
    };
    let unreadable = |error: serde_json::Error| error.to_string();
    let roles: Option<Map<String, Value>> =
        row.probe_roles.as_deref().map(serde_json::from_str).transpose().map_err(unreadable)?;
    Ok(Some(ServiceSettings {
        interval_seconds: u32::try_from(interval).map_err(|_| "negative interval")?,
        timeout_seconds: u8::try_from(timeout).map_err(|_| "timeout out of range")?,
        retries: u8::try_from(retries).map_err(|_| "retries out of range")?,
        assigned_probes: codes_from(row.assigned_probes.as_deref())?,
        probe_roles: roles.map(roles_from).transpose()?,
        config: serde_json::from_str(config).map_err(unreadable)?,
        rules: rules_from(row)?,
    }))
}

/// Returns location codes from their stored form, a JSON array.
pub(super) fn codes_from(stored: Option<&str>) -> Result<Option<Vec<String>>, String> {
    stored.map(serde_json::from_str).transpose().map_err(|error: serde_json::Error| error.to_string())
}

/// Returns a stored number, or `or` if none is stored.
pub(super) fn number_from<T: TryFrom<i16>>(stored: Option<i16>, or: T) -> Result<T, String> {
    stored.map_or(Ok(or), |number| T::try_from(number).map_err(|_| format!("{number} is out of range")))
}

/// Returns the rules stored in a row. Rows from before rules existed have none and get the defaults.
fn rules_from(row: &Model) -> Result<StatusRules, String> {
    let StatusRules { quorum, recovery_checks, flapping } = StatusRules::default();
    let stored = row.confirmation.as_deref().map(str::parse).transpose();
    Ok(StatusRules {
        quorum: stored.map_err(|error: UnknownQuorum| error.to_string())?.unwrap_or(quorum),
        recovery_checks: number_from(row.recovery_checks, recovery_checks)?,
        flapping: FlappingRule {
            changes: number_from(row.flapping_changes, flapping.changes)?,
            minutes: number_from(row.flapping_minutes, flapping.minutes)?,
        },
    })
}

fn roles_from(object: Map<String, Value>) -> Result<Vec<(String, ProbeRole)>, String> {
    let role = |(code, value): (String, Value)| {
        let parsed = value.as_str().and_then(|word| word.parse().ok());
        parsed.map(|role| (code, role)).ok_or_else(|| format!("unknown role {value}"))
    };
    object.into_iter().map(role).collect()
}
