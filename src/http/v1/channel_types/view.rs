//! Kinds of channels as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::shape::{Shape, integer, list_of, one_of, string};
use crate::notify::kinds::{self, Definition, Field};

/// A kind of notification channel.
#[derive(Serialize, ToSchema)]
pub(super) struct ChannelTypeView {
    key: &'static str,
    label: &'static str,
    description: &'static str,
    fields: Vec<ChannelFieldView>,
}

/// A key of `settings`.
#[derive(Serialize, ToSchema)]
#[schema(as = ChannelField)]
pub(super) struct ChannelFieldView {
    name: &'static str,
    #[schema(schema_with = field_type)]
    r#type: &'static str,
    label: &'static str,
    help: &'static str,
    required: bool,
    /// True: it is kept sealed, and shown as the placeholder.
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = strings)]
    options: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = string)]
    default: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = integer)]
    max_length: Option<usize>,
}

impl ChannelTypeView {
    /// The view of a kind.
    pub(super) fn of(definition: &'static Definition) -> Self {
        Self {
            key: definition.kind.as_str(),
            label: definition.label,
            description: definition.description,
            fields: definition.fields.iter().map(ChannelFieldView::of).collect(),
        }
    }
}

impl ChannelFieldView {
    fn of(field: &'static Field) -> Self {
        let (r#type, options, default, max_length) = match field.shape {
            kinds::Shape::Url => ("url", None, None, Some(2_048)),
            kinds::Shape::Text { max_length, .. } => ("string", None, None, Some(max_length)),
            kinds::Shape::Select { options, default } => ("select", Some(options), Some(default), None),
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
            max_length,
        }
    }
}

fn field_type() -> Shape {
    one_of(&["url", "string", "select"])
}

fn strings() -> Shape {
    list_of(string())
}
