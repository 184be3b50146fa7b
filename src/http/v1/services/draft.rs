//! Reads a service (contract 4.3.2) from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value, json};

use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::services::dependency_input::DependencyInput;
use crate::http::v1::services::settings::SettingsContext;
use crate::http::v1::services::settings::target::read_target;
use crate::http::v1::services::tag_input::TagInput;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{NAME_LENGTH, Service, ServiceSettings};
use crate::model::vault::ServiceVault;
use crate::probe::catalogue::definition;

/// Reads one service of the caller's organisation.
pub(super) struct ServiceParser<'a> {
    /// State with plans, locations, and the key that seals secrets.
    pub(super) state: &'a AppState,
    pub(super) caller: &'a Caller,
    /// Id of the service, new or stored.
    pub(super) id: Id,
    pub(super) tagging: &'a TagInput,
    pub(super) depending: &'a DependencyInput,
}

impl ServiceParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<Service, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
        let check_type = fields.required("check_type").and_then(|field| read_check_type(&field));
        let target = match check_type {
            Some(check_type) => read_target(&fields, check_type, None),
            None => check_target_form(&fields),
        };
        errors.extend(self.tagging.errors.clone());
        errors.extend(self.depending.errors.clone());
        let settings = match check_type {
            Some(check_type) => self.read_settings(&fields, check_type, None, &errors),
            None => check_settings_form(&fields),
        };
        let found = errors.into_inner();
        let (Some(name), Some(check_type)) = (name, check_type) else { return Err(found) };
        let now = self.state.created_at();
        found.into_result(Service {
            key: 0,
            id: self.id,
            organisation: self.caller.organisation.key,
            name,
            check_type,
            target,
            configured_at: settings.as_ref().map(|_| now),
            settings,
            pause: None,
            status_override: None,
            created_at: now,
            updated_at: now,
            revision: 1,
            in_planned_maintenance: false,
        })
    }

    /// Reads the body of an update request, and returns the stored service with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &Service,
    ) -> Result<Service, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        if let Some(sent) = fields.optional("check_type")
            && sent.string().is_some_and(|sent| sent != stored.check_type.as_str())
        {
            errors.add("check_type", FieldRule::Immutable);
        }
        let target = read_target(&fields, stored.check_type, stored.target.as_deref());
        errors.extend(self.tagging.errors.clone());
        errors.extend(self.depending.errors.clone());
        let settings = self.read_settings(&fields, stored.check_type, stored.settings.as_ref(), &errors);
        let was_configured = stored.settings.is_some();
        let configured_now = settings.is_some() && !was_configured;
        errors.into_inner().into_result(Service {
            name: name.unwrap_or_else(|| stored.name.clone()),
            target,
            configured_at: if configured_now { Some(self.state.now()) } else { stored.configured_at },
            settings: settings.or_else(|| stored.settings.clone()),
            ..stored.clone()
        })
    }

    /// Reads the sent settings; `None` when none are sent, or when they are invalid.
    fn read_settings(
        &self,
        fields: &BodyFields<'_>,
        check_type: CheckType,
        stored: Option<&ServiceSettings>,
        errors: &ErrorCollector,
    ) -> Option<ServiceSettings> {
        let sent = fields.skippable("settings");
        let assumed = (check_type == CheckType::Heartbeat && stored.is_none()).then(default_heartbeat);
        let sent = sent.as_ref().map(BodyField::value).or(assumed.as_ref())?;
        let written = SettingsSubject { state: self.state, caller: self.caller, id: self.id, check_type };
        merge_settings(written, sent, stored).map_err(|found| errors.extend(found)).ok()
    }
}

/// Reads a service that is checked once and not stored, as a create request does, or as an update of `stored` does. Tags and
/// dependencies are not read.
///
/// # Errors
///
/// All errors, by field.
pub(in crate::http::v1) fn read_unstored(
    state: &AppState,
    caller: &Caller,
    body: &Map<String, Value>,
    stored: Option<&Service>,
) -> Result<Service, FieldErrors> {
    let id = stored.map_or_else(Id::random, |stored| stored.id);
    let (tagging, depending) = (TagInput::unread(), DependencyInput::unread());
    let parser = ServiceParser { state, caller, id, tagging: &tagging, depending: &depending };
    match stored {
        Some(stored) => parser.read_changes(body, stored),
        None => parser.read_new(body),
    }
}

/// The service whose settings are written, and the caller.
#[derive(Clone, Copy)]
pub(in crate::http::v1) struct SettingsSubject<'a> {
    /// State with plans, locations, and the key that seals secrets.
    pub(in crate::http::v1) state: &'a AppState,
    pub(in crate::http::v1) caller: &'a Caller,
    pub(in crate::http::v1) id: Id,
    pub(in crate::http::v1) check_type: CheckType,
}

/// Returns the stored settings with `sent` applied.
///
/// # Errors
///
/// All errors, by fields in `settings`.
pub(in crate::http::v1) fn merge_settings(
    SettingsSubject { state, caller, id, check_type }: SettingsSubject<'_>,
    sent: &Value,
    stored: Option<&ServiceSettings>,
) -> Result<ServiceSettings, FieldErrors> {
    let context = SettingsContext {
        check_type,
        min_interval_seconds: caller.limits.min_interval_seconds,
        active_probes: &state.probe_codes(),
        vault: ServiceVault {
            sealer: &state.compiler.sealer,
            organisation: caller.organisation.id,
            service: id,
            keep: &state.config.compat.secret_placeholder,
        },
    };
    context.read(sent, stored)
}

/// Default settings of a heartbeat service (contract 4.3.11).
fn default_heartbeat() -> Value {
    let bounds = definition(CheckType::Heartbeat).interval;
    json!({"interval_seconds": bounds.map(|bounds| bounds.default)})
}

fn read_check_type(field: &BodyField<'_>) -> Option<CheckType> {
    field.word(CheckType::WORDS)?.parse().ok()
}

/// Checks only the JSON type of the target, because the check type is invalid.
fn check_target_form(fields: &BodyFields<'_>) -> Option<String> {
    let _ = fields.skippable("target")?.string();
    None
}

/// Checks only the JSON type of the settings, because the check type is invalid.
fn check_settings_form(fields: &BodyFields<'_>) -> Option<ServiceSettings> {
    let _ = fields.skippable("settings")?.object();
    None
}
