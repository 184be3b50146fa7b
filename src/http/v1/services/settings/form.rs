//! Settings that several check types have in common, as the catalogue describes them: texts of a form, and the bounds and
//! defaults with which `settings` are read.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::http::v1::services::settings::{
    DEFAULT_RETRIES, DEFAULT_TIMEOUT_SECONDS, RETRIES, TIMEOUT_SECONDS,
};
use crate::model::check::CheckType;
use crate::model::quorum::{LOCATIONS, Quorum};
use crate::model::status_rules::{CHANGES, MINUTES, RECOVERY_CHECKS, StatusRules};

/// A setting whose value is a whole number, or one of some words.
#[derive(Clone, Debug)]
pub struct FormSetting {
    /// Name of the member of `settings`.
    pub name: &'static str,
    /// Label of the setting for users.
    pub label: &'static str,
    /// Explanation of the setting for users.
    pub help: &'static str,
    /// Unit of the number; `None` if it has none.
    pub unit: Option<&'static str>,
    /// Words allowed instead of a number.
    pub words: &'static [&'static str],
    /// Allowed range of the number.
    pub bounds: RangeInclusive<i64>,
    /// The value of the setting if the client sends none.
    pub default: Value,
}

/// Returns the settings that apply to services of this type, in the order of a form.
#[must_use]
pub fn form_settings(check_type: CheckType) -> Vec<FormSetting> {
    match check_type {
        CheckType::Manual => Vec::new(),
        // A heartbeat service is not checked; its status depends on pings.
        CheckType::Heartbeat => flapping().into(),
        CheckType::Http | CheckType::Tcp | CheckType::Dns | CheckType::Icmp | CheckType::Ssl => {
            let [changes, minutes] = flapping();
            vec![timeout(), retries(), confirmation(), recovery(), changes, minutes]
        }
    }
}

fn timeout() -> FormSetting {
    FormSetting {
        name: "timeout_seconds",
        label: "Time-out",
        help: "An attempt that takes longer fails.",
        unit: Some("seconds"),
        words: &[],
        bounds: wide(&TIMEOUT_SECONDS),
        default: json!(DEFAULT_TIMEOUT_SECONDS),
    }
}

fn retries() -> FormSetting {
    FormSetting {
        name: "retries",
        label: "Retries",
        help: "Number of retries of a location before a bad result counts.",
        unit: Some("attempts"),
        words: &[],
        bounds: wide(&RETRIES),
        default: json!(DEFAULT_RETRIES),
    }
}

fn confirmation() -> FormSetting {
    FormSetting {
        name: "confirmation",
        label: "Confirmation",
        help: "How many locations must agree before a status counts: any, more than half, all, or a fixed number.",
        unit: Some("locations"),
        words: Quorum::WORDS,
        bounds: wide(&LOCATIONS),
        default: json!(StatusRules::default().quorum.to_string()),
    }
}

fn recovery() -> FormSetting {
    FormSetting {
        name: "recovery_checks",
        label: "Good checks for a recovery",
        help: "Number of consecutive good results, over all locations, that end an outage.",
        unit: Some("checks"),
        words: &[],
        bounds: wide(&RECOVERY_CHECKS),
        default: json!(StatusRules::default().recovery_checks),
    }
}

fn flapping() -> [FormSetting; 2] {
    let rule = StatusRules::default().flapping;
    let changes = FormSetting {
        name: "flapping_changes",
        label: "Changes before it is unstable",
        help: "A service with more changes between up and down than this is unstable, which is one incident; 0: never.",
        unit: Some("changes"),
        words: &[],
        bounds: wide(&CHANGES),
        default: json!(rule.changes),
    };
    let minutes = FormSetting {
        name: "flapping_minutes",
        label: "Time in which changes count",
        help: "Minutes over which changes are counted.",
        unit: Some("minutes"),
        words: &[],
        bounds: wide(&MINUTES),
        default: json!(rule.minutes),
    };
    [changes, minutes]
}

fn wide<T: Copy + Into<i64>>(bounds: &RangeInclusive<T>) -> RangeInclusive<i64> {
    (*bounds.start()).into()..=(*bounds.end()).into()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::v1::services::settings::fixture::SettingsFixture;

    /// The catalogue agrees with the reader of `settings`: bounds, words and default, and no further settings.
    #[rstest]
    fn the_catalogue_matches_the_accepted_settings(
        #[values(
            CheckType::Http,
            CheckType::Tcp,
            CheckType::Dns,
            CheckType::Icmp,
            CheckType::Ssl,
            CheckType::Heartbeat
        )]
        check_type: CheckType,
    ) {
        let fixture = SettingsFixture::new(check_type);
        let with = |name: &str, value: Value| json!({"interval_seconds": 3_600, name: value});
        for FormSetting { name, words, bounds, default, .. } in form_settings(check_type) {
            let left_out = fixture.shown(&fixture.create(&json!({"interval_seconds": 3_600})));
            assert_eq!(left_out[name], default, "{name}");
            let numbers = [*bounds.start(), *bounds.end()].map(Value::from);
            for allowed in words.iter().map(|word| json!(word)).chain(numbers) {
                let shown = fixture.shown(&fixture.create(&with(name, allowed.clone())));
                assert_eq!(shown[name], allowed, "{name}");
            }
            for refused in [bounds.start() - 1, bounds.end() + 1] {
                fixture.refusal(&with(name, refused.into()), None);
            }
        }
    }
}
