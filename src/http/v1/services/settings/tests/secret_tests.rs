//! Tests the placeholder of contract 4.3.5: every case of its table, and that no secret appears elsewhere.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Map, Value, json};

use crate::http::v1::services::settings::fixture::{KEEP, SettingsFixture, texts};
use crate::model::check::CheckType;
use crate::model::service::ServiceSettings;

fn stored(fixture: &SettingsFixture, config: &Value) -> ServiceSettings {
    fixture.create(&json!({"interval_seconds": 60, "config": config}))
}

/// Returns both blocks after an update, with secrets opened, or the errors below `settings.config`.
fn update(stored_config: &Value, sent: &Value) -> Result<(Value, Value), String> {
    let fixture = SettingsFixture::new(CheckType::Http);
    let before = stored(&fixture, stored_config);
    let updated = fixture.read(&json!({ "config": sent }), Some(&before));
    let opened = updated
        .map(|settings| (fixture.opened_headers(&settings.config), fixture.opened_auth(&settings.config)));
    opened.map_err(|errors| texts(&errors).replace("settings.config.", ""))
}

const MISSING: &str = "There is no stored value to keep for this field.";
const MISPLACED: &str = "The keep placeholder is only allowed for secret values.";

/// Contract 4.3.5, headers: stored, sent, result.
#[rstest]
#[case(json!({"X-Key": "k"}), json!({}), Ok(json!({"X-Key": "k"})))]
#[case(json!({"X-Key": "k"}), json!({"headers": null}), Ok(json!({})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {}}), Ok(json!({})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": KEEP}}), Ok(json!({"X-Key": "k"})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"x-key": KEEP}}), Ok(json!({"x-key": "k"})))]
#[case(json!({"X-Key": ""}), json!({"headers": {"X-Key": KEEP}}), Ok(json!({"X-Key": ""})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": "new"}}), Ok(json!({"X-Key": "new"})))]
#[case(json!({"A": "1", "B": "2"}), json!({"headers": {"B": KEEP}}), Ok(json!({"B": "2"})))]
#[case(json!({"A": "1", "B": "2"}), json!({"headers": {"B": KEEP, "C": "3", "A": KEEP}}), Ok(json!({"B": "2", "C": "3", "A": "1"})))]
#[case(json!({"X-Old": "k"}), json!({"headers": {"X-New": KEEP}}), Err(format!("headers.X-New: {MISSING}")))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": KEEP, "x-key": KEEP}}), Err("headers.x-key: This header is given twice.".into()))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-New": KEEP, "x-new": "a"}}), Err(format!("headers.X-New: {MISSING}\nheaders.x-new: This header is given twice.")))]
#[case(json!({"X-Key": "k"}), json!({"headers": KEEP}), Err(format!("headers: {MISPLACED}")))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": format!("Bearer {KEEP}")}}), Ok(json!({"X-Key": format!("Bearer {KEEP}")})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": KEEP.to_lowercase()}}), Ok(json!({"X-Key": KEEP.to_lowercase()})))]
#[case(json!({"X-Key": "k"}), json!({"headers": {"X-Key": format!(" {KEEP}")}}), Ok(json!({"X-Key": format!(" {KEEP}")})))]
fn headers_are_replaced_as_a_block(
    #[case] before: Value,
    #[case] sent: Value,
    #[case] expected: Result<Value, String>,
) {
    let result = update(&json!({ "headers": before }), &sent);
    let headers = result.map(|(headers, _)| headers.to_string());
    assert_eq!(headers, expected.map(|headers| headers.to_string()));
}

/// Contract 4.3.5, credentials: stored, sent, result.
#[rstest]
#[case(json!({"type": "bearer", "token": "t"}), json!({}), Ok(json!({"type": "bearer", "token": "t"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": null}), Ok(json!({"type": "none"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "none"}}), Ok(json!({"type": "none"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "bearer", "token": KEEP}}), Ok(json!({"type": "bearer", "token": "t"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "bearer", "token": "new"}}), Ok(json!({"type": "bearer", "token": "new"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "bearer", "token": KEEP, "username": null, "value": null}}), Ok(json!({"type": "bearer", "token": "t"})))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "bearer"}}), Err("auth.token: This field is required.".into()))]
#[case(json!({"type": "bearer", "token": "t"}), json!({"auth": {"type": "basic", "username": "u", "password": KEEP}}), Err(format!("auth.password: {MISSING}")))]
#[case(json!({"type": "basic", "username": "u", "password": "p"}), json!({"auth": {"type": "basic", "username": "v", "password": KEEP}}), Ok(json!({"type": "basic", "username": "v", "password": "p"})))]
#[case(json!({"type": "basic", "username": "u", "password": ""}), json!({"auth": {"type": "basic", "username": "u", "password": KEEP}}), Ok(json!({"type": "basic", "username": "u", "password": ""})))]
#[case(json!({"type": "api_key", "header": "X-A", "value": "v"}), json!({"auth": {"type": "api_key", "header": "X-B", "value": KEEP}}), Ok(json!({"type": "api_key", "header": "X-B", "value": "v"})))]
#[case(json!({"type": "none"}), json!({"auth": {"type": "bearer", "token": KEEP}}), Err(format!("auth.token: {MISSING}")))]
#[case(json!({"type": "basic", "username": "u", "password": "p"}), json!({"auth": {"type": "basic", "username": KEEP, "password": KEEP}}), Err(format!("auth.username: {MISPLACED}")))]
#[case(json!({"type": "api_key", "header": "X-A", "value": "v"}), json!({"auth": {"type": "api_key", "header": KEEP, "value": KEEP}}), Err(format!("auth.header: {MISPLACED}")))]
#[case(json!({"type": "none"}), json!({"auth": {"type": KEEP}}), Err(format!("auth.type: {MISPLACED}")))]
#[case(json!({"type": "none"}), json!({"auth": KEEP}), Err(format!("auth: {MISPLACED}")))]
#[case(json!({"type": "none"}), json!({"auth": {"type": "bearer", "token": format!("{KEEP}!")}}), Ok(json!({"type": "bearer", "token": format!("{KEEP}!")})))]
fn credentials_are_replaced_as_a_block(
    #[case] before: Value,
    #[case] sent: Value,
    #[case] expected: Result<Value, String>,
) {
    let result = update(&json!({ "auth": before }), &sent);
    let auth = result.map(|(_, auth)| auth.to_string());
    assert_eq!(auth, expected.map(|auth| auth.to_string()));
}

/// Contract 4.3.5, step 5: the placeholder is refused in any other string.
#[rstest]
#[case(json!({"body": KEEP}), "body")]
#[case(json!({"method": KEEP}), "method")]
#[case(json!({"verify_ssl": KEEP}), "verify_ssl")]
#[case(json!({"conditions": KEEP}), "conditions")]
#[case(json!({"conditions": [KEEP]}), "conditions.0")]
#[case(json!({"conditions": [{"field": KEEP, "operator": "eq", "value": 1, "status": "down"}]}), "conditions.0.field")]
#[case(json!({"conditions": [{"field": "body", "operator": KEEP, "value": "a", "status": "down"}]}), "conditions.0.operator")]
#[case(json!({"conditions": [{"field": "body", "operator": "contains", "value": KEEP, "status": "down"}]}), "conditions.0.value")]
#[case(json!({"conditions": [{"field": "status_code", "operator": "in", "value": [200, KEEP], "status": "down"}]}), "conditions.0.value")]
#[case(json!({"conditions": [{"field": "body", "operator": "contains", "value": "a", "status": KEEP}]}), "conditions.0.status")]
fn the_placeholder_belongs_to_secrets_only(#[case] sent: Value, #[case] path: &str) {
    assert_eq!(update(&json!({}), &sent), Err(format!("{path}: {MISPLACED}")));
}

/// Contract 4.3.5: when a service is created, or has no settings, nothing is stored that could be kept.
#[test]
fn the_placeholder_needs_stored_settings() {
    let config = json!({"headers": {"X-Key": KEEP}, "auth": {"type": "bearer", "token": KEEP}});
    let sent = json!({"interval_seconds": 60, "config": config});
    assert_eq!(
        SettingsFixture::new(CheckType::Http).refusal(&sent, None),
        format!("settings.config.headers.X-Key: {MISSING}\nsettings.config.auth.token: {MISSING}")
    );
}

/// Contract 4.3.5: sending the whole configuration back changes nothing, not even a sealed text.
#[test]
fn settings_can_be_sent_back_unchanged() {
    let fixture = SettingsFixture::new(CheckType::Http);
    let before = stored(
        &fixture,
        &json!({
            "method": "POST", "headers": {"X-Key": "k", "x-Other": ""},
            "auth": {"type": "basic", "username": "u", "password": "p"},
            "conditions": [{"field": "status_code", "operator": "in", "value": [500, 502.5], "status": "down"}]
        }),
    );
    let shown = fixture.shown(&before);
    assert_eq!(fixture.read(&shown, Some(&before)), Ok(before));
}

/// Contract 5.3: an error text never repeats a submitted secret; views and stored values do not contain one either.
#[test]
fn secrets_appear_nowhere_in_clear() {
    let marker = "s3cret-marker";
    let fixture = SettingsFixture::new(CheckType::Http);
    let valid = stored(
        &fixture,
        &json!({
            "headers": {"X-Key": marker}, "auth": {"type": "api_key", "header": "X-A", "value": marker}
        }),
    );
    assert!(!format!("{valid:?} {}", fixture.shown(&valid)).contains(marker));
    let long = marker.repeat(700);
    for config in [
        json!({"headers": {"X-Key": long}, "auth": {"type": "bearer", "token": long}}),
        json!({"headers": {"X-Key": format!("{marker}\n")}, "auth": {"type": "api_key", "header": "", "value": format!("{marker}\u{1}{marker}")}}),
        json!({"headers": {"Host": marker}, "auth": {"type": "basic", "username": "", "password": long}}),
        json!({"headers": [marker], "auth": {"type": "none", "password": marker}}),
    ] {
        let refusal = fixture.refusal(&json!({"interval_seconds": 60, "config": config}), None);
        assert!(refusal.lines().count() >= 2 && !refusal.contains(marker), "{refusal}");
    }
}

proptest! {
    /// Each sent header has its new or its stored value, with names compared ignoring case; all other headers are removed.
    #[test]
    fn headers_merge_by_name(
        before in prop::collection::btree_map("[a-e]", "[a-z]{0,4}", 0..5),
        sent in prop::collection::btree_map("[a-e]", prop::option::of("[a-z]{0,4}"), 0..5),
    ) {
        let upper = |name: &String| name.to_uppercase();
        let stored_headers: Map<_, _> = before.iter().map(|(name, value)| (upper(name), value.as_str().into())).collect();
        let sent_headers: Map<String, Value> = sent
            .iter()
            .map(|(name, value)| (name.clone(), value.as_deref().unwrap_or(KEEP).into()))
            .collect();
        let result = update(&json!({"headers": stored_headers}), &json!({"headers": sent_headers}));
        let missing: Vec<_> = sent.iter().filter(|(name, value)| value.is_none() && !before.contains_key(*name)).collect();
        match result {
            Ok((headers, _)) => {
                let expected: Map<String, Value> = sent
                    .iter()
                    .map(|(name, value)| (name.clone(), value.as_ref().unwrap_or_else(|| &before[name]).as_str().into()))
                    .collect();
                prop_assert_eq!(headers, Value::Object(expected));
                prop_assert!(missing.is_empty());
            }
            Err(errors) => prop_assert_eq!(errors.lines().count(), missing.len()),
        }
    }
}
