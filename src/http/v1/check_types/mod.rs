//! `GET /v1/meta/check-types` (contract 4.2): the catalogue of check types as JSON.
//!
//! The same definitions validate the input of clients, so the shown fields are the accepted ones. Only the JSON format is
//! decided here, in `view`.

pub(super) mod openapi;
mod view;

use serde_json::Value;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::check_types::view::CheckTypeView;
use crate::model::check::CheckType;
use crate::probe::catalogue::definition;

/// Answers `GET /v1/meta/check-types`.
pub async fn show_check_types<S>(_: ApiCall<S>) -> Result<ApiReply, ApiError> {
    Ok(ApiReply::data(check_types()))
}

/// Returns all check types by slug, in the order of the catalogue: the `data` of the response.
#[must_use]
pub fn check_types() -> Value {
    let entries = CheckType::ALL.into_iter().map(|check_type| {
        let slug = check_type.as_str().to_owned();
        (slug, to_json(&CheckTypeView::of(definition(check_type))))
    });
    Value::Object(entries.collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Replaces all texts, which are not part of the contract.
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
    fn check_types_are_in_the_order_of_the_contract() {
        let shown = check_types();
        let slugs: Vec<_> = shown.as_object().unwrap().keys().collect();
        assert_eq!(slugs, ["http", "tcp", "dns", "icmp", "ssl", "manual", "heartbeat"]);
    }

    /// Contract 4.2: the example, which is shortened there; `settings` is an addition.
    #[test]
    fn an_entry_has_the_shape_of_the_example() {
        let mut ssl = without_texts(check_types()["ssl"].take());
        for list in ["/fields", "/conditions/fields"] {
            ssl.pointer_mut(list).unwrap().as_array_mut().unwrap().truncate(1);
        }
        ssl["settings"] = ssl["settings"].as_array().unwrap()[2..4].into();
        let expected = json!({
            "key": "ssl", "label": "…", "description": "…", "target_required": true,
            "fields": [{
                "name": "ip_version", "type": "select", "label": "…", "required": false, "secret": false,
                "options": ["auto", "ipv4", "ipv6"], "default": "auto", "help": "…"
            }],
            "settings": [{
                "name": "confirmation", "type": "select", "label": "…", "required": false, "secret": false,
                "options": ["any", "majority", "all"], "default": "majority", "min": 1, "max": 50,
                "unit": "locations", "help": "…"
            }, {
                "name": "recovery_checks", "type": "number", "label": "…", "required": false, "secret": false,
                "default": 1, "min": 1, "max": 10, "unit": "checks", "help": "…"
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
    fn parametric_fields_show_their_prefix_and_key_texts() {
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
        let status_code =
            json!([{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]);
        assert_eq!(http["conditions"]["always"], status_code);
    }

    /// Contract 4.2: `conditions.by_subtype`.
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
