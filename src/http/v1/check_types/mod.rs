//! `GET /v1/meta/check-types` (contract 4.2): the catalogue as JSON.
//!
//! The same definitions validate what clients send, so what is shown here is what is accepted. Only shapes are
//! decided here.

pub(super) mod openapi;

use serde_json::{Map, Value, json};

use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::Reply;
use crate::http::v1::services::settings::check_config::default_of;
use crate::model::check::CheckType;
use crate::probe::catalogue::{
    BySubtype, ConditionField, ConditionKind, Definition, Field, FieldKind, default_conditions, definition,
};

/// Answers `GET /v1/meta/check-types`.
///
/// # Errors
/// None.
pub async fn show_check_types<S>(_: Call<S>) -> Result<Reply, ApiError> {
    Ok(Reply::data(check_types()))
}

/// All check types by slug, in the order of the catalogue: the `data` of the answer.
#[must_use]
pub fn check_types() -> Value {
    let entries = CheckType::ALL.into_iter().map(|check_type| {
        let slug = check_type.as_str().to_owned();
        (slug, entry(definition(check_type)))
    });
    Value::Object(entries.collect())
}

fn entry(definition: &Definition) -> Value {
    let mut entry = json!({
        "key": definition.check_type.as_str(),
        "label": definition.label,
        "description": definition.description,
        "target_required": definition.target_required,
        "fields": definition.fields.iter().map(field).collect::<Value>(),
        "conditions": conditions(definition),
    });
    if let Some(bounds) = definition.interval {
        entry["interval"] = json!({"default": bounds.default, "min": bounds.min, "max": bounds.max});
    }
    entry
}

fn field(field: &Field) -> Value {
    let mut record = json!({
        "name": field.name,
        "type": type_of(field.kind),
        "label": field.label,
        "required": field.required,
        "secret": field.secret,
    });
    if let FieldKind::Select { options, .. } = field.kind {
        record["options"] = options.iter().copied().collect();
    }
    record["default"] = default_of(field.kind);
    if let Some(help) = field.help {
        record["help"] = help.into();
    }
    record
}

const fn type_of(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Select { .. } => "select",
        FieldKind::KeyValueArray { .. } => "key_value_array",
        FieldKind::Auth => "auth",
        FieldKind::Textarea { .. } => "textarea",
        FieldKind::Boolean { .. } => "boolean",
        FieldKind::Number { .. } => "number",
    }
}

fn conditions(definition: &Definition) -> Value {
    let mut conditions = json!({
        "fields": definition.condition_fields.iter().map(condition_field).collect::<Value>(),
        "defaults": default_conditions(definition.check_type, None),
    });
    if let Some(limits) = definition.by_subtype {
        conditions["by_subtype"] = by_subtype(definition.check_type, limits);
    }
    conditions
}

fn condition_field(field: &ConditionField) -> Value {
    let mut record = json!({
        "field": field.field,
        "label": field.label,
        "type": condition_type(field.kind),
    });
    if let Some(unit) = field.unit {
        record["unit"] = unit.into();
    }
    record["operators"] = field.operators.iter().map(|operator| operator.as_str()).collect();
    if let Some(parametric) = &field.parametric {
        record["parametric"] = true.into();
        record["prefix"] = parametric.prefix.into();
        record["key_label"] = parametric.key_label.into();
        record["key_placeholder"] = parametric.key_placeholder.into();
        record["key_help"] = parametric.key_help.into();
    }
    record
}

const fn condition_type(kind: ConditionKind) -> &'static str {
    match kind {
        ConditionKind::Number => "number",
        ConditionKind::String => "string",
        ConditionKind::Array => "array",
        ConditionKind::Json => "json",
        ConditionKind::Header => "header",
    }
}

fn by_subtype(check_type: CheckType, limits: &BySubtype) -> Value {
    let fields = limits.fields.iter().map(|(subtype, fields)| {
        let fields: Value = fields.iter().copied().collect();
        ((*subtype).to_owned(), fields)
    });
    let defaults = limits.defaults.iter().map(|(subtype, _)| {
        let defaults = default_conditions(check_type, Some(subtype));
        ((*subtype).to_owned(), Value::from(defaults))
    });
    json!({
        "field": limits.field,
        "map": fields.collect::<Map<_, _>>(),
        "defaults": defaults.collect::<Map<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Texts are not part of the contract.
    fn without_texts(mut value: Value) -> Value {
        match &mut value {
            Value::Object(members) => {
                for text in ["label", "description", "help", "key_label", "key_placeholder", "key_help"] {
                    if let Some(text) = members.get_mut(text) {
                        assert!(text.as_str().is_some_and(|text| !text.is_empty()));
                        *text = "…".into();
                    }
                }
                members.values_mut().for_each(|member| *member = without_texts(member.take()));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| *item = without_texts(item.take())),
            _ => {}
        }
        value
    }

    #[test]
    fn types_stand_in_the_order_of_the_contract() {
        let shown = check_types();
        let slugs: Vec<_> = shown.as_object().unwrap().keys().collect();
        assert_eq!(slugs, ["http", "tcp", "dns", "icmp", "ssl", "manual", "heartbeat"]);
    }

    /// Contract 4.2, the example (shortened there).
    #[test]
    fn an_entry_has_the_shape_of_the_example() {
        let mut ssl = without_texts(check_types()["ssl"].take());
        for list in ["/fields", "/conditions/fields"] {
            ssl.pointer_mut(list).unwrap().as_array_mut().unwrap().truncate(1);
        }
        let expected = json!({
            "key": "ssl", "label": "…", "description": "…", "target_required": true,
            "fields": [{
                "name": "ip_version", "type": "select", "label": "…", "required": false, "secret": false,
                "options": ["auto", "ipv4", "ipv6"], "default": "auto", "help": "…"
            }],
            "conditions": {
                "fields": [{
                    "field": "metadata.days_until_expiry", "label": "…", "type": "number", "unit": "days",
                    "operators": ["eq", "neq", "gt", "gte", "lt", "lte"]
                }],
                "defaults": [
                    {"field": "metadata.days_until_expiry", "operator": "lt", "value": 14, "status": "degraded"}
                ]
            },
            "interval": {"default": 21600, "min": 3600, "max": 604_800}
        });
        assert_eq!(ssl.to_string(), expected.to_string());
    }

    /// Contract 4.2.2: name, type and default of every configuration field.
    #[rstest]
    #[case(
        "http",
        r#"method select "GET"; headers key_value_array {}; auth auth {"type":"none"}; body textarea ""; follow_redirects boolean true; verify_ssl boolean true; ip_version select "auto"; smart_dualstack boolean false"#
    )]
    #[case("tcp", r#"ip_version select "auto"; smart_dualstack boolean false"#)]
    #[case("dns", r#"dns_type select "A""#)]
    #[case("icmp", r#"ip_version select "auto"; smart_dualstack boolean false"#)]
    #[case("ssl", r#"ip_version select "auto"; smart_dualstack boolean false"#)]
    #[case("manual", "")]
    fn fields_show_their_type_and_default(#[case] slug: &str, #[case] expected: &str) {
        let shown = check_types();
        let fields = shown[slug]["fields"].as_array().unwrap().iter();
        let word = |field: &Value, key: &str| field[key].as_str().unwrap().to_owned();
        let short =
            |field: &Value| format!("{} {} {}", word(field, "name"), word(field, "type"), field["default"]);
        assert_eq!(fields.map(short).collect::<Vec<_>>().join("; "), expected);
    }

    #[test]
    fn parametric_fields_say_how_they_are_named() {
        let http = without_texts(check_types()["http"].take());
        let fields = http["conditions"]["fields"].as_array().unwrap();
        let json_field = fields.iter().find(|field| field["field"] == "json").unwrap();
        let expected = json!({
            "field": "json", "label": "…", "type": "json",
            "operators": ["eq", "neq", "gt", "gte", "lt", "lte", "contains", "not_contains"],
            "parametric": true, "prefix": "json.", "key_label": "…", "key_placeholder": "…", "key_help": "…"
        });
        assert_eq!(json_field.to_string(), expected.to_string());
        assert_eq!(http.get("interval"), None);
    }

    /// Contract 4.2, `conditions.by_subtype`.
    #[test]
    fn dns_limits_fields_and_defaults_by_record_type() {
        let shown = check_types();
        let none_of = |count: &str| json!([{"field": count, "operator": "eq", "value": 0, "status": "down"}]);
        let expected = json!({
            "field": "dns_type",
            "map": {
                "A": ["response_time_ms", "metadata.ip_count", "metadata.ips"],
                "AAAA": ["response_time_ms", "metadata.ip_count", "metadata.ips"],
                "MX": ["response_time_ms", "metadata.mx_count", "metadata.mx_records"],
                "CNAME": ["response_time_ms", "metadata.cname"],
                "TXT": ["response_time_ms", "metadata.txt_count", "metadata.txt_records"],
                "NS": ["response_time_ms", "metadata.ns_count", "metadata.ns_records"]
            },
            "defaults": {
                "MX": none_of("metadata.mx_count"), "CNAME": [], "TXT": none_of("metadata.txt_count"),
                "NS": none_of("metadata.ns_count")
            }
        });
        assert_eq!(shown["dns"]["conditions"]["by_subtype"], expected);
        assert_eq!(shown["dns"]["conditions"]["defaults"], none_of("metadata.ip_count"));
        assert_eq!(shown["http"]["conditions"].get("by_subtype"), None);
    }
}
