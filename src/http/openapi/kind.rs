//! A schema as a short text, for the HTML page: `whole number 1 to 60, or null`.

use serde_json::Value;

/// Returns the type of a value as text.
pub(super) fn kind_of(schema: &Value) -> String {
    let words = bare_kind(schema);
    if is_nullable(schema) { format!("{words}, or null") } else { words }
}

/// Returns the name of the first schema that this schema references.
pub(super) fn link_of(schema: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str().and_then(schema_name) {
        return Some(name.to_owned());
    }
    let inner = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    inner.chain(choices(schema)).find_map(link_of)
}

/// Returns `X` of `#/components/schemas/X`.
pub(super) fn schema_name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/components/schemas/")
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
    lists.flatten()
}

fn is_nullable(schema: &Value) -> bool {
    let has_null = |kinds: &Vec<Value>| kinds.iter().any(|kind| kind == "null");
    schema["type"].as_array().is_some_and(has_null) || choices(schema).any(|choice| choice["type"] == "null")
}

fn bare_kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(schema_name) {
        return name.to_owned();
    }
    let mut choices = choices(schema).filter(|choice| choice["type"] != "null").map(kind_of).peekable();
    if choices.peek().is_some() {
        return choices.collect::<Vec<_>>().join(" or ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter(|word| !word.is_null());
        return words
            .map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let kind = schema["type"].as_array().and_then(|kinds| kinds.first()).unwrap_or(&schema["type"]);
    match kind.as_str() {
        Some("integer") => numbers("whole number", schema),
        Some("number") => numbers("number", schema),
        Some("boolean") => "true or false".into(),
        Some("string") => string(schema),
        Some("array") if schema["maxItems"] == 0 => "empty list".into(),
        Some("array") => format!("list of {}", kind_of(&schema["items"])),
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("object of {}", kind_of(&schema["additionalProperties"]))
        }
        Some("object") => "object".into(),
        _ => "anything".into(),
    }
}

fn numbers(noun: &str, schema: &Value) -> String {
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(min), Some(max)) => format!("{noun} {min} to {max}"),
        (Some(min), None) if min > 0.0 => format!("{noun} from {min}"),
        _ => noun.into(),
    }
}

fn string(schema: &Value) -> String {
    let noun = match schema["format"].as_str() {
        Some("date-time") => return "time".into(),
        Some("date") => return "day".into(),
        Some("uri") => return "URL".into(),
        Some("binary") => return "file".into(),
        _ => "text",
    };
    match (schema["minLength"].as_u64(), schema["maxLength"].as_u64()) {
        (Some(min), Some(max)) => format!("{noun} of {min} to {max} characters"),
        (None, Some(max)) => format!("{noun} of at most {max} characters"),
        _ => noun.into(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"type": "integer", "minimum": 1, "maximum": 60}), "whole number 1 to 60")]
    #[case(json!({"type": ["number", "null"], "minimum": 0}), "number, or null")]
    #[case(json!({"type": ["string", "null"], "enum": ["a", "b", null]}), "a, b, or null")]
    #[case(json!({"oneOf": [{"$ref": "#/components/schemas/X"}, {"type": "null"}]}), "X, or null")]
    #[case(json!({"type": "array", "items": {"$ref": "#/components/schemas/X"}}), "list of X")]
    #[case(json!({"anyOf": [{"type": "object"}, {"type": "array", "items": {}, "maxItems": 0}]}), "object or empty list")]
    #[case(json!({"type": "object", "additionalProperties": {"type": "string"}}), "object of text")]
    #[case(json!({"type": "string", "minLength": 1, "maxLength": 255}), "text of 1 to 255 characters")]
    #[case(json!({"type": "string", "format": "date-time", "pattern": "x"}), "time")]
    #[case(json!({}), "anything")]
    fn a_schema_is_described_in_words(#[case] schema: Value, #[case] words: &str) {
        assert_eq!(kind_of(&schema), words);
    }

    #[rstest]
    #[case(json!({"type": "array", "items": {"$ref": "#/components/schemas/X"}}), Some("X"))]
    #[case(json!({"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Y"}]}), Some("Y"))]
    #[case(json!({"type": "string"}), None)]
    fn a_named_schema_is_linked(#[case] schema: Value, #[case] name: Option<&str>) {
        assert_eq!(link_of(&schema).as_deref(), name);
    }
}
