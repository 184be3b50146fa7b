//! The result of a trial: one check with what was entered, of which nothing is stored.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::model::service::ServiceStatus;

/// The phases of a check in their order, as the API names them.
const PHASES: [&str; 6] = ["dns", "connect", "tls", "ttfb", "transfer", "total"];

/// What a trial has found, in words.
pub(super) struct TrialResult {
    pub(super) tone: &'static str,
    pub(super) status: String,
    /// Why the check is not up, or could not be made.
    pub(super) problem: Option<String>,
    pub(super) facts: Vec<TrialFact>,
    pub(super) conditions: Vec<TrialCondition>,
}

/// A fact, such as the duration of a phase.
pub(super) struct TrialFact {
    pub(super) name: String,
    pub(super) value: String,
}

/// What a condition says.
pub(super) struct TrialCondition {
    pub(super) condition: String,
    /// The status if the condition is met.
    pub(super) status: String,
    pub(super) expected: String,
    pub(super) found: String,
    pub(super) tone: &'static str,
    pub(super) state: String,
}

/// Runs a trial of this body.
///
/// # Errors
/// The inner error is a refusal that is shown in the form.
pub(super) async fn run(
    visit: &UserVisit,
    body: &Value,
) -> Result<Result<TrialResult, ApiError>, ScreenError> {
    match visit.write(HttpVerb::Post, "/v1/trials", body, None).await {
        Ok(answer) => Ok(Ok(TrialResult::of(visit.texts, &answer["data"]))),
        Err(error @ (ApiError::Fields(_) | ApiError::TooManyTrials(_))) => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
}

impl TrialResult {
    fn of(texts: ConsoleTexts, data: &Value) -> Self {
        let status = data["status"].as_str().unwrap_or_default();
        let tone = tone_of(status.parse().unwrap_or(ServiceStatus::Unknown));
        let trouble = data["trouble"].as_str().map(|trouble| texts.about("trial-trouble", trouble));
        Self {
            tone,
            status: texts.text(&format!("word-{status}")),
            problem: data["error_message"].as_str().map(str::to_owned).or(trouble),
            facts: facts(texts, data),
            conditions: rows(&data["conditions"]).map(|row| TrialCondition::of(texts, row)).collect(),
        }
    }
}

impl TrialCondition {
    fn of(texts: ConsoleTexts, row: &Value) -> Self {
        let word = |value: &Value| texts.text(&format!("word-{}", value.as_str().unwrap_or_default()));
        let tone = match (row["state"].as_str(), row["status"].as_str()) {
            (Some("met"), Some("down")) => "major_outage",
            (Some("met" | "undecided"), _) => "degraded",
            _ => "operational",
        };
        Self {
            condition: plain(&row["condition"]),
            status: word(&row["status"]),
            expected: plain(&row["expected"]),
            found: plain(&row["found"]),
            tone,
            state: word(&row["state"]),
        }
    }
}

/// The status code, the duration of each phase, and what else was found.
fn facts(texts: ConsoleTexts, data: &Value) -> Vec<TrialFact> {
    let code = data["status_code"].as_u64();
    let code = code.map(|code| TrialFact { name: texts.text("field-status-code"), value: code.to_string() });
    let phase = |phase: &&str| {
        let ms = data["timings"][*phase].as_f64()?;
        Some(TrialFact { name: texts.text(&format!("phase-{phase}")), value: format!("{ms:.1} ms") })
    };
    let findings = data["findings"].as_object().into_iter().flatten();
    let findings = findings.map(|(name, found)| TrialFact { name: name.clone(), value: plain(found) });
    code.into_iter().chain(PHASES.iter().filter_map(phase)).chain(findings).collect()
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Number(number) => match number.as_f64() {
            Some(number) => ((number * 1_000.0).round() / 1_000.0).to_string(),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!(null), "–")]
    #[case(json!([]), "–")]
    #[case(json!(200.0), "200")]
    #[case(json!(911.532_41), "911.532")]
    #[case(json!(["a.test", "b.test"]), "a.test, b.test")]
    fn found_values_are_short(#[case] value: Value, #[case] expected: &str) {
        assert_eq!(plain(&value), expected);
    }

    #[rstest]
    #[case("met", "down", "major_outage")]
    #[case("met", "degraded", "degraded")]
    #[case("undecided", "down", "degraded")]
    #[case("unmet", "down", "operational")]
    fn the_colour_of_a_condition_is_what_it_makes_of_the_service(
        #[case] state: &str,
        #[case] status: &str,
        #[case] tone: &str,
    ) {
        let row = json!({"condition": "status_code neq 200", "status": status, "state": state});
        assert_eq!(TrialCondition::of(ConsoleTexts::of("en"), &row).tone, tone);
    }
}
