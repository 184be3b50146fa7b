//! Tests the rules in the settings of a service (an addition to the contract): defaults, partial updates, error keys.

use super::*;

/// Sent rules, and the resulting rules.
#[rstest]
#[case::nothing(json!({}), ["\"majority\"", "1", "6", "30"])]
#[case::a_word(json!({"confirmation": "any"}), ["\"any\"", "1", "6", "30"])]
#[case::another(json!({"confirmation": "all", "recovery_checks": 10}), ["\"all\"", "10", "6", "30"])]
#[case::a_number(json!({"confirmation": 50.0}), ["50", "1", "6", "30"])]
#[case::never_flapping(json!({"flapping_changes": 0, "flapping_minutes": 1_440}), ["\"majority\"", "1", "0", "1440"])]
fn status_rules_are_read_and_kept_by_updates(
    #[case] mut sent: serde_json::Value,
    #[case] expected: [&str; 4],
) {
    for check_type in [CheckType::Tcp, CheckType::Heartbeat] {
        let fixture = SettingsFixture::new(check_type);
        sent["interval_seconds"] = json!(60);
        let created = fixture.create(&sent);
        let updated = fixture.read(&json!({"retries": 1}), Some(&created)).unwrap();
        for settings in [created, updated] {
            let shown = fixture.shown(&settings);
            let keys = ["confirmation", "recovery_checks", "flapping_changes", "flapping_minutes"];
            assert_eq!(keys.map(|key| shown[key].to_string()), expected);
        }
    }
}

#[rstest]
#[case(json!({"confirmation": null}), "settings.confirmation: This field must not be null.")]
#[case(json!({"confirmation": "most"}), "settings.confirmation: Unknown value. Allowed: any, majority, all, 1 to 50.")]
#[case(json!({"confirmation": "2"}), "settings.confirmation: Unknown value. Allowed: any, majority, all, 1 to 50.")]
#[case(json!({"confirmation": [1]}), "settings.confirmation: Unknown value. Allowed: any, majority, all, 1 to 50.")]
#[case(json!({"confirmation": 0}), "settings.confirmation: The smallest allowed value is 1.")]
#[case(json!({"confirmation": 51}), "settings.confirmation: The largest allowed value is 50.")]
#[case(json!({"confirmation": 1.5}), "settings.confirmation: This value must be a whole number.")]
#[case(json!({"recovery_checks": 0}), "settings.recovery_checks: The smallest allowed value is 1.")]
#[case(json!({"recovery_checks": 11}), "settings.recovery_checks: The largest allowed value is 10.")]
#[case(json!({"recovery_checks": "1"}), "settings.recovery_checks: This value must be a whole number.")]
#[case(json!({"recovery_checks": null}), "settings.recovery_checks: This field must not be null.")]
#[case(json!({"flapping_changes": -1}), "settings.flapping_changes: The smallest allowed value is 0.")]
#[case(json!({"flapping_changes": 101}), "settings.flapping_changes: The largest allowed value is 100.")]
#[case(json!({"flapping_minutes": 0}), "settings.flapping_minutes: The smallest allowed value is 1.")]
#[case(json!({"flapping_minutes": 1_441}), "settings.flapping_minutes: The largest allowed value is 1440.")]
#[case(json!({"flapping_minutes": true}), "settings.flapping_minutes: This value must be a whole number.")]
fn invalid_status_rules_are_refused(#[case] mut sent: serde_json::Value, #[case] expected: &str) {
    sent["interval_seconds"] = json!(60);
    let fixture = SettingsFixture::new(CheckType::Http);
    assert_eq!(fixture.refusal(&sent, None), expected);
    let stored = fixture.create(&json!({"interval_seconds": 60}));
    assert_eq!(fixture.refusal(&sent, Some(&stored)), expected);
}
