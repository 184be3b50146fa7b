//! Reads a tag (contract 4.4) from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::model::tag::{
    KEY_MAX_LENGTH, Tag, TagName, TagSource, VALUE_MAX_LENGTH, has_no_controls, is_color, is_key,
};

/// A tag to be found or created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagDraft {
    pub(super) name: TagName,
    /// Colour of the tag; `None` = derived from the name.
    pub(super) color: Option<String>,
}

impl TagDraft {
    /// Reads the tag of a create request.
    pub(super) fn read_new(body: &Map<String, Value>) -> Result<Self, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let key = fields.required("key").and_then(|field| read_key(&field));
        let value = read_value(&fields).or_stored(None);
        let color = read_color(&fields).or_stored(None);
        let name = key.and_then(|key| TagName::new(&key, value.as_deref()).ok());
        let found = errors.into_inner();
        match name {
            Some(name) => found.into_result(Self { name, color }),
            None => Err(found),
        }
    }

    /// Reads the body of an update request, and returns the stored tag with its changes.
    pub(super) fn read_changes(body: &Map<String, Value>, stored: &Tag) -> Result<Tag, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let key = fields.optional("key").and_then(|field| read_key(&field));
        let key = key.unwrap_or_else(|| stored.name.key().to_owned());
        refuse_rename(stored, "key", stored.name.key(), &key, &errors);
        let value = read_value(&fields).or_stored(stored.name.value().map(str::to_owned));
        let before = stored.name.value().unwrap_or_default();
        refuse_rename(stored, "value", before, value.as_deref().unwrap_or_default(), &errors);
        let color = read_color(&fields);
        let found = errors.into_inner();
        let Ok(name) = TagName::new(&key, value.as_deref()) else { return Err(found) };
        let color = match color {
            FieldPatch::Absent => stored.color.clone(),
            FieldPatch::Null => name.derived_color().to_owned(),
            FieldPatch::Value(color) => color,
        };
        found.into_result(Tag { name, color, ..stored.clone() })
    }
}

fn refuse_rename(stored: &Tag, field: &str, before: &str, after: &str, errors: &ErrorCollector) {
    if stored.source == TagSource::System && before != after {
        errors.add(field, FieldRule::TagSystem("renamed"));
    }
}

fn read_key(field: &BodyField<'_>) -> Option<String> {
    let key = field.text(1..=KEY_MAX_LENGTH)?.to_ascii_lowercase();
    if is_key(&key) { Some(key) } else { field.refuse(FieldRule::TagKey) }
}

fn read_value(fields: &BodyFields<'_>) -> FieldPatch<String> {
    match fields.nullable("value") {
        FieldPatch::Value(field) if field.is_blank() => FieldPatch::Null,
        given => given.read(|field| {
            if !has_no_controls(field.string()?.trim()) {
                return field.refuse(FieldRule::TagForm);
            }
            field.text(0..=VALUE_MAX_LENGTH)
        }),
    }
}

fn read_color(fields: &BodyFields<'_>) -> FieldPatch<String> {
    match fields.nullable("color") {
        FieldPatch::Value(field) if field.is_blank() => FieldPatch::Null,
        given => given.read(|field| {
            let color = field.string()?.trim();
            if is_color(color) { Some(color.to_owned()) } else { field.refuse(FieldRule::Color) }
        }),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;

    const KEY: &str =
        r#"Use 1 to 50 letters, digits, "_", "." or "-"; the first and the last must be a letter or digit."#;

    fn shown(errors: &FieldErrors) -> Vec<(String, String)> {
        errors.iter().map(|(path, rule)| (path.to_owned(), rule.to_string())).collect()
    }

    fn owned(errors: &[(&str, &str)]) -> Vec<(String, String)> {
        errors.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[rstest]
    #[case(json!({"key": " Env "}), "env", None)]
    #[case(json!({"key": "env", "value": null, "color": null}), "env", None)]
    #[case(json!({"key": "env", "value": " ", "color": ""}), "env", None)]
    #[case(json!({"key": "env", "value": " Prod: 1=2 ", "color": " #ABCdef "}), "env:Prod: 1=2", Some("#ABCdef"))]
    fn a_tag_is_read(#[case] body: Value, #[case] label: &str, #[case] color: Option<&str>) {
        let draft = TagDraft::read_new(body.as_object().unwrap()).unwrap();
        assert_eq!((draft.name.label(), draft.color.as_deref()), (label.to_owned(), color));
    }

    #[rstest]
    #[case(json!({}), &[("key", "This field is required.")])]
    #[case(json!({"key": null, "value": 1, "color": 2}), &[
        ("key", "This field must not be null."),
        ("value", "This value must be a string."),
        ("color", "This value must be a string."),
    ])]
    #[case(json!({"key": " "}), &[("key", "Use at least 1 characters.")])]
    #[case(json!({"key": "k".repeat(51)}), &[("key", "Use at most 50 characters.")])]
    #[case(json!({"key": "a b"}), &[("key", KEY)])]
    #[case(json!({"key": "a:b"}), &[("key", KEY)])]
    #[case(json!({"key": "a", "value": "v".repeat(101)}), &[("value", "Use at most 100 characters.")])]
    #[case(json!({"key": "a", "value": "a\tb"}), &[("value", "This is not a valid tag name.")])]
    #[case(json!({"key": "a", "value": "a\0b"}), &[("value", "This is not a valid tag name.")])]
    #[case(json!({"key": "a", "color": "red"}), &[("color", "Enter a colour as #RRGGBB.")])]
    fn a_wrong_field_is_named(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
        let errors = TagDraft::read_new(body.as_object().unwrap()).unwrap_err();
        assert_eq!(shown(&errors), owned(expected));
    }

    fn stored(source: TagSource) -> Tag {
        let tag = Tag::new(1, "env:prod".parse().unwrap(), Some("#2563eb".into()), Timestamp::from_ms(0));
        Tag { source, ..tag }
    }

    #[rstest]
    #[case(json!({}), "env:prod", "#2563eb")]
    #[case(json!({"key": "Stage"}), "stage:prod", "#2563eb")]
    #[case(json!({"value": null}), "env", "#2563eb")]
    #[case(json!({"value": null, "color": null}), "env", "#d97706")]
    #[case(json!({"color": "#FFFFFF", "id": "x", "source": "system"}), "env:prod", "#FFFFFF")]
    fn absent_fields_keep_their_stored_values(#[case] body: Value, #[case] label: &str, #[case] color: &str) {
        let stored = stored(TagSource::User);
        let changed = TagDraft::read_changes(body.as_object().unwrap(), &stored).unwrap();
        assert_eq!((changed.name.label().as_str(), changed.color.as_str()), (label, color));
        assert_eq!((changed.id, changed.source), (stored.id, TagSource::User));
    }

    /// Contract 4.4: only the colour of a system tag may change.
    #[rstest]
    #[case(json!({"color": "#FFFFFF"}), &[])]
    #[case(json!({"key": "ENV", "value": "prod"}), &[])]
    #[case(json!({"key": "stage"}), &[("key", "Tags set by the server agent cannot be renamed.")])]
    #[case(json!({"value": null}), &[("value", "Tags set by the server agent cannot be renamed.")])]
    fn a_system_tag_keeps_its_name(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
        let result = TagDraft::read_changes(body.as_object().unwrap(), &stored(TagSource::System));
        assert_eq!(result.err().map(|errors| shown(&errors)).unwrap_or_default(), owned(expected));
    }
}
