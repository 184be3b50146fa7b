//! Shared by the tests of settings: a service of one type with two active locations, and short forms of results.

use serde_json::{Map, Value};

use super::SettingsContext;
use super::view::SettingsView;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::view::to_json;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::secret::{KEY_LENGTH, SecretPlace, SecretSealer};
use crate::model::service::ServiceSettings;
use crate::model::vault::ServiceVault;

pub(super) const KEEP: &str = "__SERVICE_KEEP_UNCHANGED__";

pub(super) const ALL_DEFAULTS: &str = r#"{"method":"GET","headers":{},"auth":{"type":"none"},"body":"","follow_redirects":true,"verify_ssl":true,"ip_version":"auto","smart_dualstack":false,"conditions":[{"field":"status_code","operator":"gte","value":400,"status":"down"}]}"#;

/// Default rules of a service, as members of its settings.
pub(super) const DEFAULT_RULES: &str =
    r#""confirmation":"majority","recovery_checks":1,"flapping_changes":6,"flapping_minutes":30"#;

pub(super) struct SettingsFixture {
    check_type: CheckType,
    pub(super) active: Vec<String>,
    sealer: SecretSealer,
    organisation: Id,
    service: Id,
}

impl SettingsFixture {
    pub(super) fn new(check_type: CheckType) -> Self {
        Self {
            check_type,
            active: vec!["fra".into(), "hel".into()],
            sealer: SecretSealer::new(&[7; KEY_LENGTH]),
            organisation: Id::random(),
            service: Id::random(),
        }
    }

    pub(super) fn keep(&self) -> &'static str {
        KEEP
    }

    pub(super) fn read(
        &self,
        sent: &Value,
        stored: Option<&ServiceSettings>,
    ) -> Result<ServiceSettings, FieldErrors> {
        let vault = ServiceVault {
            sealer: &self.sealer,
            organisation: self.organisation,
            service: self.service,
            keep: KEEP,
        };
        let context = SettingsContext {
            check_type: self.check_type,
            min_interval_seconds: 30,
            active_probes: &self.active,
            vault,
        };
        context.read(sent, stored)
    }

    pub(super) fn create(&self, sent: &Value) -> ServiceSettings {
        self.read(sent, None).unwrap()
    }

    pub(super) fn refusal(&self, sent: &Value, stored: Option<&ServiceSettings>) -> String {
        texts(&self.read(sent, stored).unwrap_err())
    }

    pub(super) fn shown(&self, settings: &ServiceSettings) -> Value {
        to_json(&SettingsView::of(settings, KEEP))
    }

    /// Returns the headers of a configuration, with their secrets opened.
    pub(super) fn opened_headers(&self, config: &Map<String, Value>) -> Value {
        let headers = config["headers"].as_object().unwrap().iter();
        let open = |(name, sealed): (&String, &Value)| {
            let path = format!("settings.config.headers.{}", name.to_ascii_lowercase());
            (name.clone(), self.open(&path, sealed))
        };
        Value::Object(headers.map(open).collect())
    }

    /// Returns the credentials of a configuration, with their secrets opened.
    pub(super) fn opened_auth(&self, config: &Map<String, Value>) -> Value {
        let mut auth = config["auth"].clone();
        for key in ["token", "password", "value"] {
            if let Some(sealed) = auth.get_mut(key) {
                *sealed = self.open(&format!("settings.config.auth.{key}"), sealed);
            }
        }
        auth
    }

    fn open(&self, field: &str, sealed: &Value) -> Value {
        let place = SecretPlace {
            organisation: self.organisation.as_str(),
            table: "service",
            row: self.service.as_str(),
            field,
        };
        self.sealer.open(place, sealed.as_str().unwrap()).unwrap().into()
    }
}

/// Returns `path: text` of every error, one per line.
pub(super) fn texts(errors: &FieldErrors) -> String {
    let lines: Vec<String> = errors.iter().map(|(path, rule)| format!("{path}: {rule}")).collect();
    lines.join("\n")
}
