//! Hints for unknown fields of a check's configuration: the allowed fields, and the most similar one.

use serde_json::{Map, Value};

use crate::cli::variables::most_alike;
use crate::http::kit::rule::FieldRule;
use crate::probe::catalogue::{CheckTypeDefinition, ConditionField};

/// Minimum similarity of a suggested field, from 0 to 1; low, because people leave out `metadata.`.
const ALIKE: f64 = 0.6;

/// Returns the end of the message, or an empty text if the rule says enough. `path` is the path within the configuration.
pub(super) fn hint(
    definition: &CheckTypeDefinition,
    config: &Map<String, Value>,
    path: &str,
    rule: &FieldRule,
) -> String {
    let (given, allowed) = match rule {
        FieldRule::UnknownKey(_) if !path.contains('.') => {
            let names = definition.fields.iter().map(|field| field.name.to_owned());
            (path.to_owned(), names.chain(["conditions".to_owned()]).collect())
        }
        FieldRule::ConditionField | FieldRule::ConditionFieldOfRecord => {
            let number = path.split('.').nth(1).and_then(|number| number.parse::<usize>().ok());
            let condition = number.and_then(|number| config.get("conditions")?.get(number));
            let given = condition.and_then(|condition| condition.get("field")?.as_str());
            (given.unwrap_or_default().to_owned(), condition_fields(definition, config))
        }
        _ => return String::new(),
    };
    let meant = most_alike(&given, allowed.iter().map(String::as_str), ALIKE);
    let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    format!(" Allowed: {}{meant}", allowed.join(", "))
}

/// The fields that a condition of this configuration may test.
fn condition_fields(definition: &CheckTypeDefinition, config: &Map<String, Value>) -> Vec<String> {
    let subtype = definition.by_subtype.and_then(|by_subtype| {
        let chosen = config.get(by_subtype.field)?.as_str()?;
        by_subtype.fields.iter().find(|(value, _)| *value == chosen).map(|(_, fields)| *fields)
    });
    let is_of_subtype = |field: &&ConditionField| subtype.is_none_or(|fields| fields.contains(&field.field));
    let shown = |field: &ConditionField| match field.field {
        "json" => "json.PATH".to_owned(),
        "header" => "header.NAME".to_owned(),
        name => name.to_owned(),
    };
    definition.condition_fields.iter().filter(is_of_subtype).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::model::check::CheckType;
    use crate::probe::catalogue::definition;

    fn hint_for(check_type: CheckType, config: &Value, path: &str, rule: &FieldRule) -> String {
        hint(definition(check_type), config.as_object().unwrap(), path, rule)
    }

    #[rstest]
    #[case(CheckType::Ssl, json!({"conditions": [{"field": "days_until_expiry"}]}), "conditions.0.field",
        "metadata.issuer", Some("metadata.days_until_expiry"))]
    #[case(CheckType::Http, json!({"conditions": [{"field": "status"}]}), "conditions.0.field", "json.PATH", None)]
    #[case(CheckType::Dns, json!({"dns_type": "MX", "conditions": [{}, {"field": "metadata.mx_cuont"}]}),
        "conditions.1.field", "metadata.mx_records", Some("metadata.mx_count"))]
    fn an_unknown_condition_field_gets_the_allowed_fields(
        #[case] check_type: CheckType,
        #[case] config: Value,
        #[case] path: &str,
        #[case] allowed: &str,
        #[case] meant: Option<&str>,
    ) {
        let hint = hint_for(check_type, &config, path, &FieldRule::ConditionField);
        assert!(hint.starts_with(" Allowed: ") && hint.contains(allowed), "{hint}");
        assert_eq!(hint.split_once("; did you mean ").map(|(_, meant)| meant.trim_end_matches('?')), meant);
        assert!(!hint.contains("metadata.txt_count"), "not of this type or record: {hint}");
    }

    #[test]
    fn an_unknown_key_gets_the_allowed_keys() {
        let hint = hint_for(CheckType::Http, &json!({"metod": "GET"}), "metod", &FieldRule::unknown_key(&[]));
        assert!(hint.contains("method, ") && hint.ends_with("conditions; did you mean method?"), "{hint}");
        assert_eq!(hint_for(CheckType::Http, &json!({}), "auth.realm", &FieldRule::unknown_key(&[])), "");
        assert_eq!(hint_for(CheckType::Http, &json!({}), "method", &FieldRule::ConditionValue), "");
    }
}
