//! The form of the catalogue's entries: a check type, its configuration fields and its condition fields.
//!
//! This module has only the types; the entry of each check type is in a file of its own.

use crate::model::check::{CheckStatus, CheckType};
use crate::probe::fact::Fact;
use crate::probe::operator::Operator;

/// The definition of one check type.
#[derive(Debug)]
pub struct CheckTypeDefinition {
    /// The check type that this entry describes.
    pub check_type: CheckType,
    /// Short name of the type, shown to users.
    pub label: &'static str,
    /// Description in one sentence, shown to users.
    pub description: &'static str,
    /// True when `target` must be set.
    pub target_required: bool,
    /// Keys of `settings.config` except `conditions`, in the order of the contract.
    pub fields: &'static [ConfigField],
    /// The fields that a condition may test.
    pub condition_fields: &'static [ConditionField],
    /// Conditions that are stored when a request gives none.
    pub default_conditions: &'static [DefaultCondition],
    /// Conditions that apply in addition to a service's own, each unless one of its own tests the same field.
    /// Neither stored nor shown with the service (contract 4.2.4).
    pub always_conditions: &'static [DefaultCondition],
    /// Limits per value of one field; only `dns` has them.
    pub by_subtype: Option<&'static SubtypeRules>,
    /// Bounds of `interval_seconds`, when the type has its own.
    pub interval: Option<IntervalBounds>,
}

/// One key of `settings.config`.
#[derive(Debug)]
pub struct ConfigField {
    /// The key within `settings.config`.
    pub name: &'static str,
    /// Shape, limits and default of the value.
    pub kind: ConfigFieldKind,
    /// Short name of the field, shown to users.
    pub label: &'static str,
    /// True when forms show the field as required. Its default still applies when a request omits the field.
    pub required: bool,
    /// True when all values of the field are secrets. For `auth`, the type of the credentials decides which
    /// parts are secret.
    pub secret: bool,
    /// Help text in one sentence, shown to users.
    pub help: Option<&'static str>,
}

/// Shape, limits and default of a field.
#[derive(Clone, Copy, Debug)]
pub enum ConfigFieldKind {
    /// One of `options`.
    Select {
        /// The allowed values.
        options: &'static [&'static str],
        /// The value when none is given.
        default: &'static str,
    },
    /// An object of names and values; default `{}`.
    KeyValueArray {
        /// Maximum number of entries.
        max_entries: usize,
    },
    /// The credentials block of contract 4.2.3; default `{"type":"none"}`.
    Auth,
    /// A text; default `""`.
    Textarea {
        /// Maximum length in characters.
        max_length: usize,
    },
    /// `true` or `false`.
    Boolean {
        /// The value when none is given.
        default: bool,
    },
    /// A whole number.
    Number {
        /// The value when none is given.
        default: i64,
        /// Smallest allowed value.
        min: i64,
        /// Largest allowed value.
        max: i64,
    },
}

impl CheckTypeDefinition {
    /// The configuration field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static ConfigField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// One field that a condition may test.
#[derive(Debug)]
pub struct ConditionField {
    /// Name of the field; without the parameter if the field is parametric.
    pub field: &'static str,
    /// Short name, shown in forms.
    pub label: &'static str,
    /// Type of the field's values.
    pub kind: ConditionKind,
    /// The allowed operators.
    pub operators: &'static [Operator],
    /// Unit of a number, such as `ms`.
    pub unit: Option<&'static str>,
    /// The parameter of `json.<path>` and `header.<name>`; `None` for other fields.
    pub parametric: Option<FieldParameter>,
}

impl ConditionField {
    /// Creates a field without parameter.
    pub(super) const fn plain(
        fact: Fact,
        label: &'static str,
        kind: ConditionKind,
        operators: &'static [Operator],
    ) -> Self {
        Self { field: fact.as_str(), label, kind, operators, unit: None, parametric: None }
    }

    /// Returns the field with a unit.
    pub(super) const fn measured_in(mut self, unit: &'static str) -> Self {
        self.unit = Some(unit);
        self
    }
}

/// Type of a condition field (contract 4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// A number.
    Number,
    /// A text.
    String,
    /// A list of texts.
    Array,
    /// Any JSON scalar.
    Json,
    /// Value of a response header.
    Header,
}

/// The parameter of a parametric condition field: its form and texts.
#[derive(Debug)]
pub struct FieldParameter {
    /// `json.` or `header.`.
    pub prefix: &'static str,
    /// Label of the parameter's input.
    pub key_label: &'static str,
    /// Example shown in the empty input.
    pub key_placeholder: &'static str,
    /// One sentence about the parameter.
    pub key_help: &'static str,
}

/// A condition that is stored when none is given; its value is always a whole number.
#[derive(Clone, Copy, Debug)]
pub struct DefaultCondition {
    /// Name of the condition field.
    pub field: &'static str,
    /// The comparison with the value.
    pub operator: Operator,
    /// The value to compare with.
    pub value: i64,
    /// The status of a check that meets the condition: `Degraded` or `Down`.
    pub status: CheckStatus,
}

/// Condition fields and default conditions that depend on the value of one configuration field.
#[derive(Debug)]
pub struct SubtypeRules {
    /// The configuration field that decides (`dns_type`).
    pub field: &'static str,
    /// Allowed condition fields per value.
    pub fields: &'static [(&'static str, &'static [&'static str])],
    /// Default conditions per value, where they differ from those of the type.
    pub defaults: &'static [(&'static str, &'static [DefaultCondition])],
}

/// Default and limits of `interval_seconds`.
#[derive(Clone, Copy, Debug)]
pub struct IntervalBounds {
    /// Suggested value, in seconds.
    pub default: u32,
    /// Smallest allowed value, in seconds.
    pub min: u32,
    /// Largest allowed value, in seconds.
    pub max: u32,
}
