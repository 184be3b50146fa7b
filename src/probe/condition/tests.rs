//! Conditions against the rules of contract 4.2.4: a table of cases, and properties with an independent oracle.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue};
use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
use rstest::rstest;
use serde_json::{Value, json};

use super::{Condition, ConditionError, ConditionState, DecidingConditions};
use crate::model::check::{CheckStatus, CheckType};
use crate::probe::catalogue::definition;
use crate::probe::fact::{Fact, FactSource, JsonDocument, TextPresence};
use crate::probe::operator::Operator;

/// Facts as a probe might have found them; everything else is missing.
#[derive(Default)]
struct Found {
    numbers: Vec<(Fact, f64)>,
    least: Vec<(Fact, f64)>,
    body: Option<String>,
    is_cut: bool,
    texts: Vec<(Fact, String)>,
    lists: Vec<(Fact, Vec<String>)>,
    json: Option<String>,
    headers: Option<HeaderMap>,
}

impl FactSource for Found {
    fn number(&self, fact: Fact) -> Option<f64> {
        self.numbers.iter().find(|(own, _)| *own == fact).map(|(_, number)| *number)
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        let found = self.texts.iter().find(|(own, _)| *own == fact);
        found.map(|(_, text)| text.as_str().into())
    }

    fn list(&self, fact: Fact) -> Option<&[String]> {
        let found = self.lists.iter().find(|(own, _)| *own == fact);
        found.map(|(_, items)| items.as_slice())
    }

    fn at_least(&self, fact: Fact) -> Option<f64> {
        self.least.iter().find(|(own, _)| *own == fact).map(|(_, number)| *number)
    }

    fn search_body(&self, text: &str) -> Option<TextPresence> {
        self.body.as_ref().map(|body| match (body.contains(text), self.is_cut) {
            (true, _) => TextPresence::Present,
            (false, true) => TextPresence::Undecided,
            (false, false) => TextPresence::Absent,
        })
    }

    fn json(&self) -> Option<JsonDocument<'_>> {
        self.json.as_ref().map(|json| JsonDocument { bytes: json.as_bytes(), is_cut: self.is_cut })
    }

    fn headers(&self) -> Option<&HeaderMap> {
        self.headers.as_ref()
    }
}

fn record(field: &str, operator: &str, value: &Value) -> Value {
    json!({"field": field, "operator": operator, "value": value, "status": "down"})
}

fn compile(check_type: CheckType, record: &Value) -> Result<Condition, ConditionError> {
    Condition::compile(definition(check_type), None, record)
}

fn http_facts() -> Found {
    let mut headers = HeaderMap::new();
    headers.append("content-type", HeaderValue::from_static("text/html"));
    headers.append("via", HeaderValue::from_static("a"));
    headers.append("via", HeaderValue::from_static("b"));
    Found {
        numbers: vec![(Fact::StatusCode, 503.0), (Fact::ResponseTimeMs, 12.5)],
        body: Some("<h1>Sorry</h1>".into()),
        texts: vec![(Fact::Protocol, "HTTP/2".into())],
        json: Some(
            json!({"n": 5, "s": "5", "yes": true, "none": null, "list": ["a", 1], "object": {}}).to_string(),
        ),
        headers: Some(headers),
        ..Found::default()
    }
}

impl Condition {
    fn matches(&self, facts: &Found) -> bool {
        match self.state(facts) {
            ConditionState::Met => true,
            ConditionState::Unmet => false,
            ConditionState::Undecided => panic!("{self} of something that was read as a whole"),
        }
    }
}

fn worst_condition<'a>(conditions: &'a [Condition], facts: &Found) -> Option<&'a Condition> {
    DecidingConditions::of(conditions, facts).worst
}

#[rstest]
#[case("status_code", "eq", json!(503), true)]
#[case("status_code", "eq", json!(503.0), true)]
#[case("status_code", "neq", json!(503), false)]
#[case("status_code", "gt", json!(503), false)]
#[case("status_code", "gte", json!(503), true)]
#[case("status_code", "lt", json!(504), true)]
#[case("status_code", "lte", json!(502), false)]
#[case("status_code", "in", json!([500, 503]), true)]
#[case("status_code", "not_in", json!([500, 503]), false)]
#[case("status_code", "not_in", json!([200]), true)]
#[case("response_time_ms", "gt", json!(12), true)]
#[case("body", "contains", json!("Sorry"), true)]
#[case("body", "contains", json!("sorry"), false)]
#[case("body", "not_contains", json!("Welcome"), true)]
#[case("metadata.protocol", "eq", json!("HTTP/2"), true)]
#[case("metadata.final_url", "neq", json!("x"), true)]
#[case("metadata.final_url", "eq", json!("x"), false)]
#[case("metadata.final_url", "contains", json!(""), false)]
#[case("metadata.final_url", "not_contains", json!("x"), true)]
#[case("metadata.content_length", "lt", json!(1), false)]
#[case("json.n", "eq", json!(5), true)]
#[case("json.n", "eq", json!("5"), false)]
#[case("json.s", "eq", json!("5"), true)]
#[case("json.s", "eq", json!(5), false)]
#[case("json.s", "gt", json!(4), false)]
#[case("json.n", "gt", json!(4.9), true)]
#[case("json.yes", "eq", json!(true), true)]
#[case("json.yes", "neq", json!(false), true)]
#[case("json.none", "eq", json!("null"), false)]
#[case("json.none", "neq", json!(1), true)]
#[case("json.object", "neq", json!(1), true)]
#[case("json.s", "contains", json!("5"), true)]
#[case("json.n", "contains", json!("5"), false)]
#[case("json.list", "contains", json!("a"), true)]
#[case("json.list", "contains", json!("1"), false)]
#[case("json.list.#", "eq", json!(2), true)]
#[case("json.lost", "neq", json!(1), true)]
#[case("json.lost", "not_contains", json!("1"), true)]
#[case("json.lost", "eq", json!(1), false)]
#[case("json.lost", "lte", json!(1), false)]
#[case("header.Content-Type", "eq", json!("text/html"), true)]
#[case("header.content-type", "contains", json!("html"), true)]
#[case("header.content-type", "eq", json!("Text/HTML"), false)]
#[case("header.via", "eq", json!("a, b"), true)]
#[case("header.lost", "eq", json!(""), false)]
#[case("header.lost", "neq", json!(""), true)]
fn a_condition_matches_by_the_rules_of_the_contract(
    #[case] field: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] expected: bool,
) {
    let condition = compile(CheckType::Http, &record(field, operator, &value)).unwrap();
    assert_eq!(condition.matches(&http_facts()), expected);
}

#[rstest]
#[case("metadata.ips", "2001:DB8::1", true)]
#[case("metadata.ips", "2001:db8::", false)]
#[case("metadata.ns_records", "NS1.example.com", true)]
#[case("metadata.mx_records", "10 mail.example.com", true)]
#[case("metadata.mx_records", "Mail.example.com", true)]
#[case("metadata.mx_records", "10", false)]
#[case("metadata.mx_records", "ail.example.com", false)]
#[case("metadata.txt_records", "v=spf1 -all", true)]
#[case("metadata.txt_records", "V=SPF1 -ALL", false)]
fn a_list_contains_whole_items(#[case] field: &str, #[case] value: &str, #[case] expected: bool) {
    let facts = Found {
        lists: vec![
            (Fact::Ips, vec!["192.0.2.1".into(), "2001:db8::1".into()]),
            (Fact::NsRecords, vec!["ns1.example.com".into()]),
            (Fact::MxRecords, vec!["10 mail.example.com".into()]),
            (Fact::TxtRecords, vec!["v=spf1 -all".into()]),
        ],
        ..Found::default()
    };
    let contains = compile(CheckType::Dns, &record(field, "contains", &json!(value))).unwrap();
    let lacks = compile(CheckType::Dns, &record(field, "not_contains", &json!(value))).unwrap();
    assert_eq!((contains.matches(&facts), lacks.matches(&facts)), (expected, !expected));
}

#[rstest]
#[case(json!({}), ConditionError::Field)]
#[case(json!({"field": "metadata.ips", "operator": "contains", "value": "x", "status": "down"}), ConditionError::Field)]
#[case(json!({"field": "body", "operator": "eq", "value": "x", "status": "down"}), ConditionError::Operator)]
#[case(json!({"field": "body", "operator": "like", "value": "x", "status": "down"}), ConditionError::Operator)]
#[case(json!({"field": "body", "operator": "contains", "value": 1, "status": "down"}), ConditionError::Value)]
#[case(json!({"field": "body", "operator": "contains", "status": "down"}), ConditionError::Value)]
#[case(json!({"field": "body", "operator": "contains", "value": "x", "status": "up"}), ConditionError::Status)]
fn a_record_that_does_not_fit_is_refused(#[case] record: Value, #[case] expected: ConditionError) {
    assert_eq!(compile(CheckType::Http, &record).unwrap_err(), expected);
}

/// RFC 8259, section 6: whole numbers are compared digit by digit, others as `f64`.
#[rstest]
#[case("9007199254740993", "eq", json!(9_007_199_254_740_992_u64), false)]
#[case("9007199254740993", "eq", json!(9_007_199_254_740_993_u64), true)]
#[case("9007199254740993", "gt", json!(9_007_199_254_740_992_u64), true)]
#[case("18446744073709548794", "lt", json!(1), false)]
#[case("36893488147419103232", "gt", json!(18_446_744_073_709_551_615_u64), true)]
#[case("1e400", "gt", json!(1), true)]
#[case("1e400", "gt", json!(1.5), true)]
#[case("5.0", "eq", json!(5), true)]
#[case("5", "eq", json!(5.0), true)]
#[case("0.1", "eq", json!(0.1), true)]
#[case("-0", "eq", json!(0), true)]
#[case("01", "neq", json!(1), true)]
fn numbers_of_a_document_are_compared(
    #[case] number: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] expected: bool,
) {
    let facts = Found { json: Some(format!("{{\"n\": {number}}}")), ..Found::default() };
    let condition = compile(CheckType::Http, &record("json.n", operator, &value)).unwrap();
    assert_eq!(condition.matches(&facts), expected);
}

/// In a truncated body a text that is found decides; a missing text may follow in the part that was not read.
#[rstest]
#[case("body", "contains", json!("Sorry"), ConditionState::Met)]
#[case("body", "not_contains", json!("Sorry"), ConditionState::Unmet)]
#[case("body", "contains", json!("Welcome"), ConditionState::Undecided)]
#[case("body", "not_contains", json!("Welcome"), ConditionState::Undecided)]
#[case("json.n", "eq", json!(5), ConditionState::Met)]
#[case("json.n", "neq", json!(5), ConditionState::Unmet)]
#[case("json.lost", "eq", json!(5), ConditionState::Undecided)]
#[case("json.lost", "neq", json!(5), ConditionState::Undecided)]
#[case("metadata.content_length", "gt", json!(99), ConditionState::Met)]
#[case("metadata.content_length", "lt", json!(99), ConditionState::Unmet)]
#[case("metadata.content_length", "eq", json!(99), ConditionState::Unmet)]
#[case("metadata.content_length", "neq", json!(99), ConditionState::Met)]
#[case("metadata.content_length", "gt", json!(100), ConditionState::Undecided)]
#[case("metadata.content_length", "lt", json!(200), ConditionState::Undecided)]
#[case("metadata.content_length", "eq", json!(200), ConditionState::Undecided)]
#[case("status_code", "eq", json!(503), ConditionState::Met)]
#[case("header.lost", "neq", json!("x"), ConditionState::Met)]
fn a_truncated_body_decides_where_it_is_conclusive(
    #[case] field: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] expected: ConditionState,
) {
    let json = Some(r#"{"n": 5, "more": [1"#.to_owned());
    let least = vec![(Fact::ContentLength, 100.0)];
    let facts = Found { json, least, is_cut: true, ..http_facts() };
    let condition = compile(CheckType::Http, &record(field, operator, &value)).unwrap();
    assert_eq!(condition.state(&facts), expected);
}

#[test]
fn down_takes_precedence_over_degraded_in_any_order() {
    let condition = |limit: i64, status: &str| {
        let record = json!({"field": "response_time_ms", "operator": "gt", "value": limit, "status": status});
        compile(CheckType::Tcp, &record).unwrap()
    };
    let conditions = [condition(100, "degraded"), condition(500, "down"), condition(200, "degraded")];
    let status = |ms: f64| {
        let facts = Found { numbers: vec![(Fact::ResponseTimeMs, ms)], ..Found::default() };
        worst_condition(&conditions, &facts).map(Condition::status)
    };
    assert_eq!(status(100.0), None);
    assert_eq!(status(300.0), Some(CheckStatus::Degraded));
    assert_eq!(status(501.0), Some(CheckStatus::Down));
}

/// Contract 4.8: `error_message` holds no body, no header and no secret.
#[test]
fn explanations_repeat_no_content_of_the_response() {
    let facts = http_facts();
    let explain = |field, operator, value: Value| {
        let condition = compile(CheckType::Http, &record(field, operator, &value)).unwrap();
        assert!(condition.matches(&facts));
        condition.explain(&facts)
    };
    assert_eq!(
        explain("status_code", "gte", json!(400)),
        "Condition met: status_code gte 400 (measured 503)"
    );
    assert_eq!(
        explain("body", "contains", json!("Sorry")),
        "Condition met: body contains the configured text"
    );
    assert_eq!(
        explain("header.via", "contains", json!("a")),
        "Condition met: header.via contains the configured value"
    );
    assert_eq!(explain("json.s", "eq", json!("5")), "Condition met: json.s eq the configured value");
    assert_eq!(
        explain("status_code", "in", json!([500, 503])),
        "Condition met: status_code in 500, 503 (measured 503)"
    );
}

/// The rule of contract 4.2.4 for numbers, written down a second time.
fn oracle(operator: Operator, measured: Option<f64>, value: f64) -> bool {
    match (operator, measured) {
        (Operator::Neq, None) => true,
        (_, None) => false,
        (Operator::Eq, Some(measured)) => measured == value,
        (Operator::Neq, Some(measured)) => measured != value,
        (Operator::Gt, Some(measured)) => measured > value,
        (Operator::Gte, Some(measured)) => measured >= value,
        (Operator::Lt, Some(measured)) => measured < value,
        (Operator::Lte, Some(measured)) => measured <= value,
        _ => unreachable!("not an operator of numbers"),
    }
}

fn numeric_operator() -> impl Strategy<Value = Operator> {
    (0..6_usize).prop_map(|position| Operator::ALL[position])
}

/// Few different numbers, so that equal ones are common.
fn number() -> impl Strategy<Value = f64> {
    (-4_i8..4).prop_map(|quarters| f64::from(quarters) / 4.0)
}

proptest! {
    #[test]
    fn the_worst_matching_condition_decides(
        rules in proptest::collection::vec((numeric_operator(), number(), any::<bool>()), 0..20),
        measured in proptest::option::of(number()),
    ) {
        let conditions: Vec<Condition> = rules.iter().map(|(operator, value, down)| {
            let status = if *down { "down" } else { "degraded" };
            let record = json!({
                "field": "metadata.chain_length", "operator": operator.as_str(), "value": value, "status": status,
            });
            compile(CheckType::Ssl, &record).unwrap()
        }).collect();
        let numbers = measured.map(|number| (Fact::ChainLength, number)).into_iter().collect();
        let facts = Found { numbers, ..Found::default() };
        let matching = rules.iter().filter(|(operator, value, _)| oracle(*operator, measured, *value));
        let expected = matching
            .map(|(_, _, down)| if *down { CheckStatus::Down } else { CheckStatus::Degraded })
            .max();
        prop_assert_eq!(worst_condition(&conditions, &facts).map(Condition::status), expected);
    }

    #[test]
    fn an_operator_and_its_opposite_never_agree(
        text in "[abc]{0,4}", value in "[abc]{0,2}", present in any::<bool>(),
    ) {
        let texts = present.then_some((Fact::Protocol, text)).into_iter().collect();
        let facts = Found { texts, ..Found::default() };
        for (operator, opposite) in [("eq", "neq"), ("contains", "not_contains")] {
            let matches = |operator| {
                let record = record("metadata.protocol", operator, &json!(value));
                compile(CheckType::Http, &record).unwrap().matches(&facts)
            };
            prop_assert_eq!(matches(operator), !matches(opposite));
        }
    }
}
