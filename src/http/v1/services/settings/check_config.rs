//! Reads `settings.config` (contract 4.2.2, 4.3.4): a sent value, else the stored one, else the default of the catalogue.
//!
//! Each sent key replaces its value. `headers`, `auth` and `conditions` are replaced as a whole, and reset by null. Unknown
//! keys are refused, because a typing error would silently change the check.

use serde_json::{Map, Value};

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::services::settings::conditions::ConditionContext;
use crate::http::v1::services::settings::secrets::{no_auth, read_auth, read_headers};
use crate::model::vault::ServiceVault;
use crate::probe::catalogue::{CheckTypeDefinition, ConfigField, ConfigFieldKind};

const CONDITIONS: &str = "conditions";
const CONDITIONS_PATH: &str = "settings.config.conditions";

/// Reads the configuration of one service.
#[derive(Clone, Copy, Debug)]
pub struct ConfigReader<'a> {
    /// Definition of the service's check type.
    pub definition: &'static CheckTypeDefinition,
    /// The stored configuration; `None` while the service has no settings.
    pub stored: Option<&'a Map<String, Value>>,
    /// Seals the secrets of the service.
    pub vault: &'a ServiceVault<'a>,
    /// Collects the errors of all fields.
    pub errors: &'a ErrorCollector,
}

impl ConfigReader<'_> {
    /// Returns the complete configuration after an update with `sent`; not to be used if an error was added.
    #[must_use]
    pub fn read(&self, sent: Option<&BodyField<'_>>) -> Map<String, Value> {
        let members = sent.and_then(BodyField::object);
        let mut config: Map<String, Value> = self
            .definition
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), self.read_field(field, members)))
            .collect();
        let conditions = self.read_conditions(members, &config);
        config.insert(CONDITIONS.into(), conditions.into());
        if let Some(members) = members {
            let known: Vec<&str> = self.definition.fields.iter().map(|field| field.name).collect();
            members.refuse_unknown(&[&known[..], &[CONDITIONS]].concat());
        }
        config
    }

    /// Returns the value of one field: the sent one, else the stored one, else the default.
    fn read_field(&self, field: &ConfigField, members: Option<BodyFields<'_>>) -> Value {
        let stored = || self.stored.and_then(|stored| stored.get(field.name)).cloned();
        let default = || default_of(field.kind);
        match members.map_or(FieldPatch::Absent, |members| members.nullable(field.name)) {
            FieldPatch::Absent => stored().unwrap_or_else(default),
            // An invalid value is not replaced by a guess; conditions are then checked without it.
            FieldPatch::Value(sent) => self.read_value(field, &sent).unwrap_or(Value::Null),
            FieldPatch::Null => {
                let is_block =
                    matches!(field.kind, ConfigFieldKind::KeyValueArray { .. } | ConfigFieldKind::Auth);
                if let Some(members) = members.filter(|_| !is_block) {
                    members.refuse(field.name, FieldRule::NotNull);
                }
                default()
            }
        }
    }

    fn read_value(&self, field: &ConfigField, sent: &BodyField<'_>) -> Option<Value> {
        if self.vault.is_placeholder(sent.value()) {
            return sent.refuse(FieldRule::SecretMisplaced);
        }
        match field.kind {
            ConfigFieldKind::Select { options, .. } => sent.word(options).map(Value::from),
            ConfigFieldKind::Boolean { .. } => sent.boolean().map(Value::from),
            ConfigFieldKind::Number { min, max, .. } => sent.integer(min..=max).map(Value::from),
            ConfigFieldKind::Textarea { max_length } => {
                let text = sent.string()?;
                sent.check_length(text, &(0..=max_length))?;
                Some(text.into())
            }
            ConfigFieldKind::KeyValueArray { max_entries } => {
                let stored = self.stored_block(field.name);
                read_headers(sent, max_entries, &stored, self.vault).map(Value::Object)
            }
            ConfigFieldKind::Auth => {
                read_auth(sent, &self.stored_block(field.name), self.vault).map(Value::Object)
            }
        }
    }

    fn stored_block(&self, name: &str) -> Map<String, Value> {
        let block = self.stored.and_then(|stored| stored.get(name)).and_then(Value::as_object);
        block.cloned().unwrap_or_default()
    }

    fn read_conditions(&self, members: Option<BodyFields<'_>>, config: &Map<String, Value>) -> Vec<Value> {
        let now = self.admission(config);
        match members.map_or(FieldPatch::Absent, |members| members.nullable(CONDITIONS)) {
            FieldPatch::Null => now.defaults(),
            FieldPatch::Value(sent) if self.vault.is_placeholder(sent.value()) => {
                sent.refuse(FieldRule::SecretMisplaced).unwrap_or_default()
            }
            FieldPatch::Value(sent) => now.read(&sent, self.vault).unwrap_or_default(),
            FieldPatch::Absent => self.kept_conditions(now),
        }
    }

    fn kept_conditions(&self, now: ConditionContext<'_>) -> Vec<Value> {
        let Some(stored) = self.stored else {
            return now.defaults();
        };
        let conditions = stored.get(CONDITIONS).and_then(Value::as_array);
        let conditions = conditions.map(Vec::as_slice).unwrap_or_default();
        now.refit(conditions, &self.admission(stored), CONDITIONS_PATH, self.errors)
    }

    fn admission<'c>(&self, config: &'c Map<String, Value>) -> ConditionContext<'c> {
        let decisive = self.definition.by_subtype.map(|limits| limits.field);
        ConditionContext {
            definition: self.definition,
            subtype: decisive.and_then(|name| config.get(name)).and_then(Value::as_str),
        }
    }
}

/// Returns the default value of a field.
#[must_use]
pub fn default_of(kind: ConfigFieldKind) -> Value {
    match kind {
        ConfigFieldKind::Select { default, .. } => default.into(),
        ConfigFieldKind::KeyValueArray { .. } => Map::new().into(),
        ConfigFieldKind::Auth => no_auth().into(),
        ConfigFieldKind::Textarea { .. } => "".into(),
        ConfigFieldKind::Boolean { default } => default.into(),
        ConfigFieldKind::Number { default, .. } => default.into(),
    }
}
