//! Reads `settings` of a service (contract 4.3.4) from a body, on the basis of the stored ones, and shows them.
//!
//! A sent key replaces its value; all others are kept. Defaults are filled in, so the stored settings are complete. Secrets
//! are only shown as the placeholder. Nothing is stored here.

pub mod assignment;
pub mod check_config;
pub mod conditions;
pub mod form;
mod number;
pub(super) mod openapi;
mod rules;
pub mod secrets;
pub mod target;
pub mod view;

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::services::settings::assignment::ProbeAssignment;
use crate::http::v1::services::settings::check_config::ConfigReader;
use crate::http::v1::services::settings::number::read_number;
use crate::http::v1::services::settings::rules::read_rules;
use crate::model::check::CheckType;
use crate::model::service::{SETTINGS_MAX_BYTES, ServiceSettings};
use crate::model::vault::ServiceVault;
use crate::probe::catalogue::definition;

/// Bounds of `interval_seconds`, unless plan or check type set closer ones.
const INTERVAL_SECONDS: RangeInclusive<u32> = 1..=604_800;
/// Allowed timeouts of an attempt, in seconds.
const TIMEOUT_SECONDS: RangeInclusive<u8> = 1..=60;
const DEFAULT_TIMEOUT_SECONDS: u8 = 10;
/// Allowed numbers of retries before a bad result counts.
const RETRIES: RangeInclusive<u8> = 0..=5;
const DEFAULT_RETRIES: u8 = 2;

/// The context on which the rules for settings depend.
#[derive(Clone, Copy, Debug)]
pub struct SettingsContext<'a> {
    /// Check type of the service.
    pub check_type: CheckType,
    /// The smallest `interval_seconds` that the plan allows.
    pub min_interval_seconds: u32,
    /// Codes of the active locations that the organisation may use.
    pub active_probes: &'a [String],
    /// Seals the secrets of the service.
    pub vault: ServiceVault<'a>,
}

impl SettingsContext<'_> {
    /// Returns the settings after a write of `sent` (not null) to `stored`.
    ///
    /// # Errors
    ///
    /// All errors, by fields in `settings`.
    pub fn read(
        &self,
        sent: &Value,
        stored: Option<&ServiceSettings>,
    ) -> Result<ServiceSettings, FieldErrors> {
        let errors = ErrorCollector::default();
        let settings = self.read_into(sent, stored, &errors);
        // Settings that were larger before the limit existed are kept until their configuration is changed.
        let has_grown = |new: &ServiceSettings| stored.is_none_or(|stored| stored.config != new.config);
        let is_too_large = |new: &ServiceSettings| has_grown(new) && new.stored_bytes() > SETTINGS_MAX_BYTES;
        if settings.as_ref().is_some_and(is_too_large) {
            errors.add("settings.config", FieldRule::SettingsBytes(SETTINGS_MAX_BYTES));
        }
        let errors = errors.into_inner();
        match settings {
            Some(settings) => errors.into_result(settings),
            None => Err(errors),
        }
    }

    fn read_into(
        &self,
        sent: &Value,
        stored: Option<&ServiceSettings>,
        errors: &ErrorCollector,
    ) -> Option<ServiceSettings> {
        let field = BodyField::new(sent, "settings", errors);
        if self.check_type == CheckType::Manual {
            return field.refuse(FieldRule::SettingsManual);
        }
        let members = field.object()?;
        let interval_seconds = self.read_interval(&members, stored);
        let stored_timeout = stored.map_or(DEFAULT_TIMEOUT_SECONDS, |stored| stored.timeout_seconds);
        let timeout_seconds = read_number(&members, "timeout_seconds", &TIMEOUT_SECONDS, stored_timeout);
        let stored_retries = stored.map_or(DEFAULT_RETRIES, |stored| stored.retries);
        let retries = read_number(&members, "retries", &RETRIES, stored_retries);
        let assignment = ProbeAssignment::read(&members, stored, self.active_probes);
        let reader = ConfigReader {
            definition: definition(self.check_type),
            stored: stored.map(|stored| &stored.config),
            vault: &self.vault,
            errors,
        };
        let config = reader.read(members.skippable("config").as_ref());
        let rules = read_rules(&members, stored.map(|stored| stored.rules).unwrap_or_default());
        let ProbeAssignment { probes, roles } = assignment?;
        Some(ServiceSettings {
            interval_seconds: interval_seconds?,
            timeout_seconds,
            retries,
            assigned_probes: probes,
            probe_roles: roles,
            config,
            rules,
        })
    }

    /// Reads the interval, which is required if none is stored.
    fn read_interval(&self, members: &BodyFields<'_>, stored: Option<&ServiceSettings>) -> Option<u32> {
        let name = "interval_seconds";
        let field = match stored {
            None => members.required(name)?,
            Some(stored) => match members.optional(name) {
                Some(field) => field,
                None => return Some(stored.interval_seconds),
            },
        };
        let own = definition(self.check_type).interval;
        let (shortest, longest) = INTERVAL_SECONDS.into_inner();
        let min = own.map_or(shortest, |bounds| bounds.min).max(self.min_interval_seconds);
        let max = own.map_or(longest, |bounds| bounds.max.min(longest));
        let seconds = field.integer(i64::from(min)..=i64::from(max))?;
        u32::try_from(seconds).ok()
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
