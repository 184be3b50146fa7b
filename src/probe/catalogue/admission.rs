//! The conditions that the catalogue admits, and the default ones (contract 4.2.4).
//!
//! Pure functions on JSON values, shared by the validation of requests and the compilation of checks. Texts for
//! clients are made by the callers.

use serde_json::{Value, json};

use super::definition;
use super::entry::{CheckTypeDefinition, ConditionField, ConditionKind, DefaultCondition};
use crate::model::check::CheckType;
use crate::probe::header;
use crate::probe::json_path::JsonPath;
use crate::probe::operator::Operator;

/// Maximum number of values of an `in` or `not_in` list.
const MAX_LIST_ITEMS: usize = 50;

/// Maximum length of a text, in characters.
const MAX_TEXT_LENGTH: usize = 1000;

/// A condition field as a client named it.
#[derive(Clone, Copy, Debug)]
pub struct ConditionFieldRef<'a> {
    /// Catalogue entry of the field.
    pub field: &'static ConditionField,
    /// Path or header name of a parametric field.
    pub parameter: Option<&'a str>,
}

/// Returns the condition field with this name, if the type (and, for `dns`, the subtype) has it. With an
/// unknown subtype nothing is found; with `subtype: None` the fields of all subtypes are searched.
#[must_use]
pub fn field_of<'a>(
    definition: &CheckTypeDefinition,
    subtype: Option<&str>,
    name: &'a str,
) -> Option<ConditionFieldRef<'a>> {
    let mut fields = definition.condition_fields.iter();
    let found = fields.find_map(|field| refer(field, name))?;
    match (definition.by_subtype, subtype) {
        (Some(limits), Some(subtype)) => {
            let (_, allowed) = limits.fields.iter().find(|(value, _)| *value == subtype)?;
            allowed.contains(&found.field.field).then_some(found)
        }
        _ => Some(found),
    }
}

fn refer<'a>(field: &'static ConditionField, name: &'a str) -> Option<ConditionFieldRef<'a>> {
    let Some(parametric) = &field.parametric else {
        return (field.field == name).then_some(ConditionFieldRef { field, parameter: None });
    };
    let parameter = name.strip_prefix(parametric.prefix)?;
    let is_valid = match field.kind {
        ConditionKind::Header => header::name(parameter).is_some(),
        _ => JsonPath::is_valid(parameter),
    };
    is_valid.then_some(ConditionFieldRef { field, parameter: Some(parameter) })
}

/// Returns true when a value has the form that field type and operator need.
#[must_use]
pub fn value_fits(kind: ConditionKind, operator: Operator, value: &Value) -> bool {
    match operator {
        Operator::In | Operator::NotIn => value.as_array().is_some_and(|items| {
            (1..=MAX_LIST_ITEMS).contains(&items.len()) && items.iter().all(|item| is_of_kind(kind, item))
        }),
        Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => value.is_number(),
        Operator::Contains | Operator::NotContains => value.is_string() && is_of_kind(kind, value),
        Operator::Eq | Operator::Neq => is_of_kind(kind, value),
    }
}

fn is_of_kind(kind: ConditionKind, value: &Value) -> bool {
    let text_length = value.as_str().map(|text| text.chars().count());
    let is_text = text_length.is_some_and(|length| length <= MAX_TEXT_LENGTH);
    match kind {
        ConditionKind::Number => value.is_number(),
        ConditionKind::String | ConditionKind::Header => is_text,
        ConditionKind::Array => is_text && text_length != Some(0),
        ConditionKind::Json => is_text || value.is_number() || value.is_boolean(),
    }
}

/// Returns the conditions that are stored when none are given, in their stored form.
#[must_use]
pub fn default_conditions(check_type: CheckType, subtype: Option<&str>) -> Vec<Value> {
    let definition = definition(check_type);
    let own = definition.by_subtype.and_then(|limits| {
        let mut defaults = limits.defaults.iter();
        defaults.find(|(value, _)| Some(*value) == subtype)
    });
    let conditions = own.map_or(definition.default_conditions, |(_, conditions)| *conditions);
    conditions.iter().map(record).collect()
}

/// Returns the conditions that apply in addition to the stored ones, each unless a stored condition tests the
/// same field. Their form is that of stored conditions.
#[must_use]
pub fn always_conditions(check_type: CheckType) -> Vec<Value> {
    definition(check_type).always_conditions.iter().map(record).collect()
}

fn record(condition: &DefaultCondition) -> Value {
    json!({
        "field": condition.field,
        "operator": condition.operator.as_str(),
        "value": condition.value,
        "status": condition.status.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::probe::catalogue::ConditionKind::{Array, Header, Json, Number, String as Text};

    /// Cases from the table of condition fields in contract 4.2.4.
    #[rstest]
    #[case(CheckType::Http, None, "status_code", true)]
    #[case(CheckType::Http, None, "json", false)]
    #[case(CheckType::Http, None, "json.", false)]
    #[case(CheckType::Http, None, "json.a.0.#", true)]
    #[case(CheckType::Http, None, "header", false)]
    #[case(CheckType::Http, None, "header.", false)]
    #[case(CheckType::Http, None, "header.X-Frame-Options", true)]
    #[case(CheckType::Http, None, "header.no blanks", false)]
    #[case(CheckType::Http, None, "header.ü", false)]
    #[case(CheckType::Http, None, "metadata.ip_count", false)]
    #[case(CheckType::Tcp, None, "metadata.resolved_ip_count", true)]
    #[case(CheckType::Tcp, None, "status_code", false)]
    #[case(CheckType::Dns, Some("A"), "metadata.ips", true)]
    #[case(CheckType::Dns, Some("AAAA"), "metadata.ip_count", true)]
    #[case(CheckType::Dns, Some("A"), "metadata.mx_count", false)]
    #[case(CheckType::Dns, Some("MX"), "metadata.mx_count", true)]
    #[case(CheckType::Dns, Some("CNAME"), "metadata.cname", true)]
    #[case(CheckType::Dns, Some("TXT"), "metadata.cname", false)]
    #[case(CheckType::Dns, Some("NS"), "response_time_ms", true)]
    #[case(CheckType::Dns, Some("SRV"), "response_time_ms", false)]
    #[case(CheckType::Dns, None, "metadata.mx_count", true)]
    #[case(CheckType::Icmp, None, "metadata.packet_loss_pct", true)]
    #[case(CheckType::Ssl, None, "response_time_ms", false)]
    #[case(CheckType::Ssl, None, "metadata.dns_names", true)]
    #[case(CheckType::Manual, None, "response_time_ms", false)]
    fn each_type_has_its_own_condition_fields(
        #[case] check_type: CheckType,
        #[case] subtype: Option<&str>,
        #[case] name: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(field_of(definition(check_type), subtype, name).is_some(), expected);
    }

    #[test]
    fn parameters_have_bounded_lengths() {
        let has = |name: &str| field_of(definition(CheckType::Http), None, name).is_some();
        assert!(has(&format!("json.{}", "p".repeat(200))));
        assert!(!has(&format!("json.{}", "p".repeat(201))));
        assert!(has(&format!("header.{}", "n".repeat(256))));
        assert!(!has(&format!("header.{}", "n".repeat(257))));
    }

    /// Cases for the row `value` of contract 4.2.4.
    #[rstest]
    #[case(Number, Operator::Eq, json!(400), true)]
    #[case(Number, Operator::Lt, json!(0.5), true)]
    #[case(Number, Operator::Eq, json!("400"), false)]
    #[case(Number, Operator::Eq, json!(true), false)]
    #[case(Number, Operator::Eq, json!(null), false)]
    #[case(Number, Operator::Eq, json!([400]), false)]
    #[case(Number, Operator::In, json!([200, 204]), true)]
    #[case(Number, Operator::In, json!(200), false)]
    #[case(Number, Operator::In, json!([]), false)]
    #[case(Number, Operator::NotIn, json!([200, "204"]), false)]
    #[case(Number, Operator::In, json!(vec![1; 50]), true)]
    #[case(Number, Operator::In, json!(vec![1; 51]), false)]
    #[case(Text, Operator::Contains, json!(""), true)]
    #[case(Text, Operator::Eq, json!("x".repeat(1000)), true)]
    #[case(Text, Operator::Eq, json!("x".repeat(1001)), false)]
    #[case(Text, Operator::Eq, json!(1), false)]
    #[case(Text, Operator::In, json!(["TLS 1.2"]), true)]
    #[case(Text, Operator::In, json!("TLS 1.2"), false)]
    #[case(Header, Operator::Eq, json!(""), true)]
    #[case(Header, Operator::Contains, json!(7), false)]
    #[case(Array, Operator::Contains, json!("192.0.2.1"), true)]
    #[case(Array, Operator::Contains, json!(""), false)]
    #[case(Array, Operator::Contains, json!(["192.0.2.1"]), false)]
    #[case(Json, Operator::Eq, json!("ok"), true)]
    #[case(Json, Operator::Eq, json!(1.5), true)]
    #[case(Json, Operator::Neq, json!(false), true)]
    #[case(Json, Operator::Eq, json!(null), false)]
    #[case(Json, Operator::Eq, json!({}), false)]
    #[case(Json, Operator::Gt, json!(3), true)]
    #[case(Json, Operator::Gt, json!("3"), false)]
    #[case(Json, Operator::Contains, json!("ok"), true)]
    #[case(Json, Operator::NotContains, json!(3), false)]
    fn a_value_must_fit_field_and_operator(
        #[case] kind: ConditionKind,
        #[case] operator: Operator,
        #[case] value: Value,
        #[case] expected: bool,
    ) {
        assert_eq!(value_fits(kind, operator, &value), expected);
    }

    /// The default conditions of each type (contract 4.2.4).
    #[rstest]
    #[case(CheckType::Http, None, json!([{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]))]
    #[case(CheckType::Tcp, None, json!([]))]
    #[case(CheckType::Dns, None, json!([{"field": "metadata.ip_count", "operator": "eq", "value": 0, "status": "down"}]))]
    #[case(CheckType::Dns, Some("AAAA"), json!([{"field": "metadata.ip_count", "operator": "eq", "value": 0, "status": "down"}]))]
    #[case(CheckType::Dns, Some("MX"), json!([{"field": "metadata.mx_count", "operator": "eq", "value": 0, "status": "down"}]))]
    #[case(CheckType::Dns, Some("NS"), json!([{"field": "metadata.ns_count", "operator": "eq", "value": 0, "status": "down"}]))]
    #[case(CheckType::Dns, Some("TXT"), json!([{"field": "metadata.txt_count", "operator": "eq", "value": 0, "status": "down"}]))]
    #[case(CheckType::Dns, Some("CNAME"), json!([]))]
    #[case(CheckType::Icmp, None, json!([{"field": "metadata.packet_loss_pct", "operator": "gt", "value": 0, "status": "degraded"}]))]
    #[case(CheckType::Ssl, None, json!([{"field": "metadata.days_until_expiry", "operator": "lt", "value": 14, "status": "degraded"}]))]
    #[case(CheckType::Manual, None, json!([]))]
    fn defaults_are_those_of_the_contract(
        #[case] check_type: CheckType,
        #[case] subtype: Option<&str>,
        #[case] expected: Value,
    ) {
        assert_eq!(Value::from(default_conditions(check_type, subtype)), expected);
    }

    #[test]
    fn every_default_condition_is_itself_admitted() {
        for check_type in CheckType::ALL {
            for subtype in ["A", "AAAA", "MX", "CNAME", "TXT", "NS"] {
                for condition in default_conditions(check_type, Some(subtype)) {
                    let name = condition["field"].as_str().unwrap();
                    let field = field_of(definition(check_type), Some(subtype), name).unwrap().field;
                    let operator = condition["operator"].as_str().unwrap().parse().unwrap();
                    assert!(field.operators.contains(&operator), "{condition}");
                    assert!(value_fits(field.kind, operator, &condition["value"]), "{condition}");
                }
            }
        }
    }
}
