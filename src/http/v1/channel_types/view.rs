//! Kinds of channels as clients see them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::openapi::shape::{ApiSchema, anything, enum_of, integer, list_of, string};
use crate::notify::kinds::{self, ChannelDefinition, ChannelField};

/// A kind of notification channel.
#[derive(Serialize, ToSchema)]
pub(super) struct ChannelTypeView {
    key: &'static str,
    label: &'static str,
    description: &'static str,
    fields: Vec<ChannelFieldView>,
}

/// A member of `settings`.
#[derive(Serialize, ToSchema)]
#[schema(as = ChannelField)]
pub(super) struct ChannelFieldView {
    name: &'static str,
    #[schema(schema_with = field_type)]
    r#type: &'static str,
    label: &'static str,
    help: &'static str,
    required: bool,
    /// True if the value is stored sealed, and shown as a placeholder.
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = strings)]
    options: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = anything)]
    default: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    max_items: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    max_length: Option<usize>,
}

impl ChannelTypeView {
    /// Creates the view of a kind.
    pub(super) fn of(definition: &'static ChannelDefinition) -> Self {
        Self {
            key: definition.kind.as_str(),
            label: definition.label,
            description: definition.description,
            fields: definition.fields.iter().map(ChannelFieldView::of).collect(),
        }
    }
}

impl ChannelFieldView {
    fn of(field: &'static ChannelField) -> Self {
        let (r#type, max_length, max_items) = match field.shape {
            kinds::FieldShape::Url => ("url", Some(2_048), None),
            kinds::FieldShape::Text { max_length, .. } => ("string", Some(max_length), None),
            kinds::FieldShape::Template { max_length, .. } => ("text", Some(max_length), None),
            kinds::FieldShape::List { max_items, max_length, .. } => {
                ("list", Some(max_length), Some(max_items))
            }
            kinds::FieldShape::Headers { max_items } => {
                ("headers", Some(kinds::HEADER_LENGTH), Some(max_items))
            }
            kinds::FieldShape::Number { .. } => ("integer", None, None),
            kinds::FieldShape::Select { .. } => ("select", None, None),
        };
        let (options, default, bounds) = match field.shape {
            kinds::FieldShape::Select { options, default } => (Some(options), Some(default.into()), None),
            kinds::FieldShape::Number { min, max, default } => (None, Some(default.into()), Some((min, max))),
            _ => (None, None, None),
        };
        Self {
            name: field.name,
            r#type,
            label: field.label,
            help: field.help,
            required: field.is_required,
            secret: field.is_secret,
            options,
            default,
            min: bounds.map(|(min, _)| min),
            max: bounds.map(|(_, max)| max),
            max_items,
            max_length,
        }
    }
}

fn field_type() -> ApiSchema {
    enum_of(&["url", "string", "text", "list", "headers", "integer", "select"])
}

fn strings() -> ApiSchema {
    list_of(string())
}
