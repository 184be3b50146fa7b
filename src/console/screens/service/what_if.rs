//! What-ifs: would other settings have helped? Three ready changes, answered by a simulation of the last week.

use serde_json::{Value, json};

use crate::clock::DAY_MS;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::model::outage_evidence::duration;
use crate::model::quorum::Quorum;
use crate::model::service::{Service, ServiceSettings};
use crate::model::status_rules::RECOVERY_CHECKS;

/// Days that are simulated.
const DAYS: i64 = 7;
/// Largest number of retries.
const RETRIES_MAX: u8 = 5;

/// A ready change of the settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WhatIfVariant {
    /// Name in the form, and of its text without `what-if-`.
    pub(super) name: &'static str,
    /// The change in words.
    pub(super) question: String,
    /// The settings that change.
    settings: Value,
}

/// The answer of a simulation.
pub(super) struct WhatIfAnswer {
    pub(super) question: String,
    pub(super) rows: Vec<WhatIfRow>,
    /// How well a replay with the present settings agrees with what was recorded.
    pub(super) fidelity: String,
    /// Why there is no answer.
    pub(super) problem: Option<String>,
}

/// A figure as it was, and as it would have been.
pub(super) struct WhatIfRow {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// Returns the changes that make sense for a service; none if no location checks it.
pub(super) fn variants(texts: ConsoleTexts, service: &Service) -> Vec<WhatIfVariant> {
    let settings = service.settings.as_ref().filter(|_| service.check_type.is_probed());
    settings.map(|settings| variants_of(texts, settings)).unwrap_or_default()
}

fn variants_of(texts: ConsoleTexts, settings: &ServiceSettings) -> Vec<WhatIfVariant> {
    let retries = settings.retries + 1;
    let recoveries = (settings.rules.recovery_checks + 1).max(2);
    let is_all = settings.rules.quorum == Quorum::All;
    let variant = |name: &'static str, number: u8, settings: Value| WhatIfVariant {
        name,
        question: texts.counted(&format!("what-if-{name}"), number.into()),
        settings,
    };
    let variants = [
        (retries <= RETRIES_MAX).then(|| variant("retries", retries, json!({ "retries": retries }))),
        (!is_all).then(|| variant("all-locations", 0, json!({"confirmation": "all"}))),
        RECOVERY_CHECKS
            .contains(&recoveries)
            .then(|| variant("recoveries", recoveries, json!({ "recovery_checks": recoveries }))),
    ];
    variants.into_iter().flatten().collect()
}

/// Simulates the chosen variant.
///
/// # Errors
/// When there is no such variant, or the simulation fails. A simulation that is refused is an answer.
pub(super) async fn ask(
    visit: &UserVisit,
    service: &Service,
    form: &FormData,
) -> Result<WhatIfAnswer, ScreenError> {
    let chosen =
        variants(visit.texts, service).into_iter().find(|variant| variant.name == form.text("variant"));
    let chosen = chosen.ok_or(ScreenError::Unknown)?;
    let question = chosen.question;
    let from = visit.visit.state().now().plus_ms(-DAYS * DAY_MS);
    let body = json!({"from": from.to_string(), "settings": chosen.settings});
    let target = format!("/v1/services/{}/simulate", service.id);
    match visit.write(HttpVerb::Post, &target, &body, None).await {
        Ok(answer) => Ok(answer_of(visit, question, &answer["data"])),
        Err(error @ (ApiError::Fields(_) | ApiError::Simulating(_))) => Ok(WhatIfAnswer {
            question,
            rows: Vec::new(),
            fidelity: String::new(),
            problem: Some(visit.texts.of_refusal(&error)),
        }),
        Err(error) => Err(error.into()),
    }
}

fn answer_of(visit: &UserVisit, question: String, data: &Value) -> WhatIfAnswer {
    let texts = visit.texts;
    let lasting = |value: &Value| match value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "a month has fewer seconds")]
        Some(seconds) => duration(seconds as i64),
        None => "–".to_owned(),
    };
    let percent =
        |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |percent| format!("{percent} %"));
    let row = |name: &str, show: &dyn Fn(&Value) -> String| WhatIfRow {
        name: texts.text(name),
        before: show(&data["before"]),
        after: show(&data["after"]),
    };
    WhatIfAnswer {
        question,
        rows: vec![
            row("outages", &|period| period["outages"].to_string()),
            row("opened-incidents", &|period| period["incidents"].as_array().map_or(0, Vec::len).to_string()),
            row("uptime", &|period| percent(&period["uptime_percentage"])),
            row("time-down", &|period| lasting(&period["down_seconds"])),
            row("detection", &|period| lasting(&period["detection_seconds"])),
        ],
        fidelity: texts.about("fidelity", &percent(&data["fidelity"]["agreement_percentage"])),
        problem: None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::status_rules::StatusRules;

    #[rstest]
    #[case(
        0,
        Quorum::Majority,
        1,
        "With 1 retry; If all locations had to agree; With 2 good checks to be up again"
    )]
    #[case(5, Quorum::Any, 3, "If all locations had to agree; With 4 good checks to be up again")]
    #[case(2, Quorum::All, 10, "With 3 retries")]
    fn each_variant_changes_something(
        #[case] retries: u8,
        #[case] quorum: Quorum,
        #[case] recovery_checks: u8,
        #[case] expected: &str,
    ) {
        let settings = ServiceSettings {
            interval_seconds: 60,
            timeout_seconds: 10,
            retries,
            assigned_probes: None,
            probe_roles: None,
            config: serde_json::Map::new(),
            rules: StatusRules { quorum, recovery_checks, ..StatusRules::default() },
        };
        let found = variants_of(ConsoleTexts::of("en"), &settings);
        let found: Vec<String> = found.into_iter().map(|variant| variant.question).collect();
        assert_eq!(found.join("; "), expected);
    }
}
