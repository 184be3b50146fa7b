//! Errors of the templates in a body. They are found before the transaction of the write begins: rendering a template with
//! sample values takes some milliseconds, for which other writers would have to wait.

use serde_json::{Map, Value};

use crate::model::notification::ChannelKind;
use crate::notify::kinds::{ChannelField, FieldShape, definition};
use crate::notify::template::TemplateError;

/// Errors of templates, by the names of their settings.
#[derive(Debug)]
pub(super) struct TemplateFlaws(Vec<(&'static str, TemplateError)>);

impl TemplateFlaws {
    /// Parses and renders the templates in a body, for a channel of this kind. Templates that are too long are left to the
    /// reader of the body.
    pub(super) fn find(body: &Map<String, Value>, kind: Option<ChannelKind>) -> Self {
        let fields = kind.map(|kind| definition(kind).fields).unwrap_or_default();
        let flaw_of = |field: &ChannelField| {
            let FieldShape::Template { max_length, check } = field.shape else { return None };
            let text = body.get("settings")?.get(field.name)?.as_str()?.trim();
            if text.chars().count() > max_length {
                return None;
            }
            Some((field.name, check(text).err()?))
        };
        Self(fields.iter().filter_map(flaw_of).collect())
    }

    /// As [`Self::find`], for a body that contains the kind.
    pub(super) fn find_in_new(body: &Map<String, Value>) -> Self {
        let kind = body.get("kind").and_then(Value::as_str).and_then(|kind| kind.parse().ok());
        Self::find(body, kind)
    }

    /// Returns the error of the template in a setting.
    pub(super) fn of(&self, name: &str) -> Option<&TemplateError> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, flaw)| flaw)
    }
}
