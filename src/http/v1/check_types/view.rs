//! Check types as clients see them (contract 4.2).

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::openapi::shape::{
    ApiSchema, always_true, anything, enum_of, integer, list_of, map_of, named, string, view,
};
use crate::http::v1::services::settings::check_config::default_of;
use crate::http::v1::services::settings::form::{FormSetting, form_settings};
use crate::http::v1::services::view::check_type;
use crate::model::check::CheckType;
use crate::probe::catalogue::admission::{always_conditions, default_conditions};
use crate::probe::catalogue::{
    CheckTypeDefinition, ConditionField, ConditionKind, ConfigField, ConfigFieldKind, IntervalBounds,
    SubtypeRules,
};

/// A check type.
#[derive(Serialize, ToSchema)]
pub(super) struct CheckTypeView {
    #[schema(schema_with = check_type)]
    key: &'static str,
    label: &'static str,
    description: &'static str,
    target_required: bool,
    fields: Vec<ConfigFieldView>,
    settings: Vec<ConfigFieldView>,
    #[schema(inline)]
    conditions: ConditionsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = interval)]
    interval: Option<IntervalView>,
}

/// A member of `settings.config`, or of `settings` itself. A `select` with `min` and `max` also accepts numbers in this
/// range.
#[derive(Serialize, ToSchema)]
#[schema(as = ConfigField)]
pub(super) struct ConfigFieldView {
    name: &'static str,
    #[schema(schema_with = field_type)]
    r#type: &'static str,
    label: &'static str,
    required: bool,
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = strings)]
    options: Option<&'static [&'static str]>,
    #[schema(schema_with = anything)]
    default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    help: Option<&'static str>,
}

#[derive(Serialize, ToSchema)]
struct ConditionsView {
    fields: Vec<ConditionFieldView>,
    #[schema(schema_with = conditions)]
    defaults: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = always)]
    always: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = by_subtype)]
    by_subtype: Option<BySubtypeView>,
}

/// A field that a condition may test.
#[derive(Serialize, ToSchema)]
#[schema(as = ConditionField)]
pub(super) struct ConditionFieldView {
    field: &'static str,
    label: &'static str,
    #[schema(schema_with = condition_type)]
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    unit: Option<&'static str>,
    operators: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = always_true)]
    parametric: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    prefix: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    key_label: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    key_placeholder: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    key_help: Option<&'static str>,
}

#[derive(Serialize, ToSchema)]
struct BySubtypeView {
    field: &'static str,
    #[schema(schema_with = strings_by_subtype)]
    map: Map<String, Value>,
    #[schema(schema_with = conditions_by_subtype)]
    defaults: Map<String, Value>,
}

#[derive(Serialize, ToSchema)]
struct IntervalView {
    #[schema(schema_with = seconds)]
    default: u32,
    #[schema(schema_with = seconds)]
    min: u32,
    #[schema(schema_with = seconds)]
    max: u32,
}

impl CheckTypeView {
    /// Creates the view of a check type of the catalogue.
    pub(super) fn of(definition: &'static CheckTypeDefinition) -> Self {
        Self {
            key: definition.check_type.as_str(),
            label: definition.label,
            description: definition.description,
            target_required: definition.target_required,
            fields: definition.fields.iter().map(ConfigFieldView::of).collect(),
            settings: form_settings(definition.check_type)
                .into_iter()
                .map(ConfigFieldView::of_setting)
                .collect(),
            conditions: ConditionsView::of(definition),
            interval: definition.interval.map(IntervalView::of),
        }
    }
}

impl ConfigFieldView {
    fn of(field: &'static ConfigField) -> Self {
        let options = match field.kind {
            ConfigFieldKind::Select { options, .. } => Some(options),
            _ => None,
        };
        let (min, max) = match field.kind {
            ConfigFieldKind::Number { min, max, .. } => (Some(min), Some(max)),
            _ => (None, None),
        };
        Self {
            name: field.name,
            r#type: type_of(field.kind),
            label: field.label,
            required: field.required,
            secret: field.secret,
            options,
            default: default_of(field.kind),
            min,
            max,
            unit: None,
            help: field.help,
        }
    }

    fn of_setting(setting: FormSetting) -> Self {
        let FormSetting { name, label, help, unit, words, bounds, default } = setting;
        let options = Some(words).filter(|words| !words.is_empty());
        Self {
            name,
            r#type: if options.is_some() { "select" } else { "number" },
            label,
            required: false,
            secret: false,
            options,
            default,
            min: Some(*bounds.start()),
            max: Some(*bounds.end()),
            unit,
            help: Some(help),
        }
    }
}

impl ConditionsView {
    fn of(definition: &'static CheckTypeDefinition) -> Self {
        let by_subtype = |limits| BySubtypeView::of(definition.check_type, limits);
        Self {
            fields: definition.condition_fields.iter().map(ConditionFieldView::of).collect(),
            defaults: default_conditions(definition.check_type, None),
            always: Some(always_conditions(definition.check_type))
                .filter(|conditions| !conditions.is_empty()),
            by_subtype: definition.by_subtype.map(by_subtype),
        }
    }
}

impl ConditionFieldView {
    fn of(field: &'static ConditionField) -> Self {
        let parametric = field.parametric.as_ref();
        Self {
            field: field.field,
            label: field.label,
            r#type: condition_type_of(field.kind),
            unit: field.unit,
            operators: field.operators.iter().map(|operator| operator.as_str()).collect(),
            parametric: parametric.map(|_| true),
            prefix: parametric.map(|parametric| parametric.prefix),
            key_label: parametric.map(|parametric| parametric.key_label),
            key_placeholder: parametric.map(|parametric| parametric.key_placeholder),
            key_help: parametric.map(|parametric| parametric.key_help),
        }
    }
}

impl BySubtypeView {
    fn of(check_type: CheckType, limits: &'static SubtypeRules) -> Self {
        let fields = limits.fields.iter().map(|(subtype, fields)| {
            let fields: Value = fields.iter().copied().collect();
            ((*subtype).to_owned(), fields)
        });
        let defaults = limits.defaults.iter().map(|(subtype, _)| {
            let defaults = default_conditions(check_type, Some(subtype));
            ((*subtype).to_owned(), Value::from(defaults))
        });
        Self { field: limits.field, map: fields.collect(), defaults: defaults.collect() }
    }
}

impl IntervalView {
    const fn of(IntervalBounds { default, min, max }: IntervalBounds) -> Self {
        Self { default, min, max }
    }
}

const fn type_of(kind: ConfigFieldKind) -> &'static str {
    match kind {
        ConfigFieldKind::Select { .. } => "select",
        ConfigFieldKind::KeyValueArray { .. } => "key_value_array",
        ConfigFieldKind::Auth => "auth",
        ConfigFieldKind::Textarea { .. } => "textarea",
        ConfigFieldKind::Boolean { .. } => "boolean",
        ConfigFieldKind::Number { .. } => "number",
    }
}

const fn condition_type_of(kind: ConditionKind) -> &'static str {
    match kind {
        ConditionKind::Number => "number",
        ConditionKind::String => "string",
        ConditionKind::Array => "array",
        ConditionKind::Json => "json",
        ConditionKind::Header => "header",
    }
}

fn field_type() -> ApiSchema {
    enum_of(&["select", "key_value_array", "auth", "textarea", "boolean", "number"])
}

fn condition_type() -> ApiSchema {
    enum_of(&["number", "string", "array", "json", "header"])
}

fn interval() -> ApiSchema {
    view::<IntervalView>()
}

fn by_subtype() -> ApiSchema {
    view::<BySubtypeView>()
}

fn strings() -> ApiSchema {
    list_of(string())
}

fn conditions() -> ApiSchema {
    list_of(named("Condition"))
}

fn always() -> ApiSchema {
    conditions()
        .says("Applied beside a service's own conditions as long as none of those tests the same field.")
}

fn strings_by_subtype() -> ApiSchema {
    map_of(strings())
}

fn conditions_by_subtype() -> ApiSchema {
    map_of(conditions())
}

fn seconds() -> ApiSchema {
    integer().at_least(1)
}
