//! Conditions of a check as rows of a form, and the other way round. A row has the field of the catalogue, the path or name
//! that some fields need, an operator, the value as text, and a status.

use serde_json::{Value, json};

use crate::model::check::CheckType;
use crate::probe::catalogue::{CheckTypeDefinition, ConditionField, ConditionKind, definition};
use crate::probe::operator::Operator;

/// Returns the rows of conditions of the API.
pub(super) fn rows_of(check_type: CheckType, conditions: &Value) -> Value {
    let conditions = conditions.as_array().into_iter().flatten();
    conditions.map(|condition| row_of(definition(check_type), condition)).collect()
}

fn row_of(definition: &CheckTypeDefinition, condition: &Value) -> Value {
    let name = condition["field"].as_str().unwrap_or_default();
    let found = definition.condition_fields.iter().find_map(|field| Some((field, key_in(field, name)?)));
    let (field, key) = found.map_or((name, ""), |(field, key)| (field.field, key));
    let kind = found.map_or(ConditionKind::String, |(field, _)| field.kind);
    let value = match &condition["value"] {
        Value::Array(items) => list_text(kind, items),
        value => scalar_text(kind, value),
    };
    json!({"field": field, "key": key, "operator": condition["operator"], "value": value,
        "status": condition["status"]})
}

/// Returns the path or name in the name of a condition's field, which is empty for most; `None` if it is another field.
fn key_in<'a>(field: &ConditionField, name: &'a str) -> Option<&'a str> {
    match &field.parametric {
        Some(parameter) => name.strip_prefix(parameter.prefix),
        None => (field.field == name).then_some(""),
    }
}

fn scalar_text(kind: ConditionKind, value: &Value) -> String {
    match value {
        // A text that would be read as another value is quoted.
        Value::String(text) if kind == ConditionKind::Json && *value != json_scalar(text) => {
            value.to_string()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns values with commas between them; as JSON if one of the texts could not be read like this.
fn list_text(kind: ConditionKind, items: &[Value]) -> String {
    let texts: Vec<String> = items.iter().map(|item| scalar_text(kind, item)).collect();
    let joined = texts.join(", ");
    if list_of(kind, &joined) == items { joined } else { Value::from(items).to_string() }
}

/// Returns the conditions of rows, as the API takes them.
pub(super) fn conditions_of(check_type: CheckType, rows: &Value) -> Value {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| condition_of(definition(check_type), row)).collect()
}

fn condition_of(definition: &CheckTypeDefinition, row: &Value) -> Value {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let field = definition.condition_fields.iter().find(|field| field.field == text("field"));
    let name = match field.and_then(|field| field.parametric.as_ref()) {
        Some(parameter) => format!("{}{}", parameter.prefix, text("key")),
        None => text("field").to_owned(),
    };
    let kind = field.map_or(ConditionKind::String, |field| field.kind);
    let value = value_of(kind, text("operator").parse().ok(), text("value"));
    let mut condition = json!({"field": name, "value": value});
    for member in ["operator", "status"] {
        if !row[member].is_null() {
            condition[member] = row[member].clone();
        }
    }
    condition
}

/// Returns a value as it was entered. What is none of the field's values stays a text, which the API refuses.
fn value_of(kind: ConditionKind, operator: Option<Operator>, text: &str) -> Value {
    match (operator, kind) {
        (Some(Operator::In | Operator::NotIn), _) => Value::Array(list_of(kind, text)),
        (Some(Operator::Contains | Operator::NotContains), ConditionKind::Json) => match json_scalar(text) {
            Value::String(text) => Value::String(text),
            _ => json!(text),
        },
        _ => scalar_of(kind, text),
    }
}

fn list_of(kind: ConditionKind, text: &str) -> Vec<Value> {
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items;
    }
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(|item| scalar_of(kind, item)).collect()
}

fn scalar_of(kind: ConditionKind, text: &str) -> Value {
    match kind {
        ConditionKind::Number => number(text).unwrap_or_else(|| json!(text)),
        ConditionKind::Json => json_scalar(text),
        ConditionKind::String | ConditionKind::Array | ConditionKind::Header => json!(text),
    }
}

fn number(text: &str) -> Option<Value> {
    let text = text.trim().replace(',', ".");
    let parsed: Value = serde_json::from_str(&text).ok()?;
    parsed.is_number().then_some(parsed)
}

/// Returns a number, true, false or a quoted text as JSON reads it, and any other text as it is.
fn json_scalar(text: &str) -> Value {
    match serde_json::from_str(text.trim()) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::String(_))) => value,
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The text of a condition's value; the row of a condition is the same condition again.
    #[rstest]
    #[case(CheckType::Http, "status_code", "gte", json!(400), "400")]
    #[case(CheckType::Http, "status_code", "in", json!([200, 204]), "200, 204")]
    #[case(CheckType::Http, "response_time_ms", "gt", json!(0.5), "0.5")]
    #[case(CheckType::Http, "body", "contains", json!(" a,\nb "), " a,\nb ")]
    #[case(CheckType::Http, "body", "contains", json!(""), "")]
    #[case(CheckType::Http, "json.checks.0.status", "eq", json!("ok"), "ok")]
    #[case(CheckType::Http, "json.a", "eq", json!(5), "5")]
    #[case(CheckType::Http, "json.a", "eq", json!("5"), "\"5\"")]
    #[case(CheckType::Http, "json.a", "neq", json!(false), "false")]
    #[case(CheckType::Http, "json.a", "neq", json!("\"quoted\""), r#""\"quoted\"""#)]
    #[case(CheckType::Http, "json.a", "contains", json!("5"), "\"5\"")]
    #[case(CheckType::Http, "header.X-Frame-Options", "eq", json!("5"), "5")]
    #[case(CheckType::Ssl, "metadata.tls_version", "not_in", json!(["TLS 1.2", "TLS 1.3"]), "TLS 1.2, TLS 1.3")]
    #[case(CheckType::Ssl, "metadata.tls_version", "in", json!(["a,b", " c"]), r#"["a,b"," c"]"#)]
    #[case(CheckType::Dns, "metadata.ips", "contains", json!("192.0.2.1"), "192.0.2.1")]
    fn a_condition_is_the_same_after_a_form(
        #[case] check_type: CheckType,
        #[case] field: &str,
        #[case] operator: &str,
        #[case] value: Value,
        #[case] text: &str,
    ) {
        let condition = json!([{"field": field, "operator": operator, "value": value, "status": "down"}]);
        let rows = rows_of(check_type, &condition);
        assert_eq!(rows[0]["value"], text);
        assert_eq!(conditions_of(check_type, &rows), condition);
    }

    /// What was entered into a row.
    #[rstest]
    #[case(json!({"field": "json", "key": "a.b", "operator": "gt", "value": "3", "status": "down"}),
        json!({"field": "json.a.b", "operator": "gt", "value": 3, "status": "down"}))]
    #[case(json!({"field": "status_code", "operator": "eq", "value": "many"}),
        json!({"field": "status_code", "operator": "eq", "value": "many"}))]
    #[case(json!({"field": "body", "operator": "contains", "status": "degraded"}),
        json!({"field": "body", "operator": "contains", "value": "", "status": "degraded"}))]
    fn a_row_becomes_a_condition(#[case] row: Value, #[case] expected: Value) {
        assert_eq!(conditions_of(CheckType::Http, &json!([row]))[0], expected);
    }
}
