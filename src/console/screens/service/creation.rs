//! The form by which a service is added: what should be checked is pasted, and everything else has the defaults of its type.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::{label_of, word_of};
use crate::console::screens::resources::form_field::FormOption;
use crate::console::screens::service::pasted_target::PastedTarget;
use crate::console::screens::service::trial::{self, TrialResult};
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::check::CheckType;
use crate::probe::catalogue::definition;

/// Seconds between two checks, unless the check type has another default or the plan of the organisation allows only longer ones.
const INTERVAL_S: u32 = 60;
/// Name of the button that tries what was entered instead of storing it.
pub(super) const TRY: &str = "try";

#[derive(Template)]
#[template(path = "screens/service/new.html")]
struct NewDocument {
    frame: ConsoleFrame,
    paste: String,
    name: String,
    interval: String,
    tags: String,
    types: Vec<FormOption>,
    key: String,
    problem: Option<String>,
    trial: Option<TrialResult>,
}

/// What a form shows besides what was entered: why it was refused, or the result of a trial.
#[derive(Default)]
struct FormOutcome {
    problem: Option<String>,
    trial: Option<TrialResult>,
}

impl FormOutcome {
    /// The outcome of a form that is refused.
    fn refused(problem: String) -> Self {
        Self { problem: Some(problem), trial: None }
    }

    /// Tries what was entered.
    async fn tried(visit: &UserVisit, body: &Value) -> Result<Self, ScreenError> {
        Ok(match trial::run(visit, body).await? {
            Ok(trial) => Self { problem: None, trial: Some(trial) },
            Err(ApiError::Fields(errors)) => Self::refused(all(visit.texts, &errors)),
            Err(error) => Self::refused(visit.texts.of_refusal(&error)),
        })
    }

    const fn status(&self) -> StatusCode {
        if self.problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
    }
}

/// Shows the form for a new service, or adds one.
pub(in crate::console) async fn create(
    visit: &UserVisit,
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    visit.signed_in.caller.require(Permission::ServicesCreate)?;
    let Some(form) = form else { return show_new(visit, &FormData::default(), FormOutcome::default()) };
    let Some(pasted) = PastedTarget::read(form.text("paste")) else {
        return show_new(visit, form, FormOutcome::refused(visit.texts.text("paste-missing")));
    };
    let entered = form.text("interval");
    if !entered.is_empty() && entered.parse::<u32>().is_err() {
        let problem =
            format!("{}: {}", visit.texts.text("field-interval"), visit.texts.text("field-malformed"));
        return show_new(visit, form, FormOutcome::refused(problem));
    }
    let body = new_service(form, &pasted, visit.signed_in.caller.limits.min_interval_seconds);
    if form.has(TRY) {
        return show_new(visit, form, FormOutcome::tried(visit, &body).await?);
    }
    let key = Some(form.text("form-key")).filter(|key| !key.is_empty());
    match visit.write(HttpVerb::Post, "/v1/services", &body, key).await {
        Ok(made) => {
            let id = made["data"]["id"].as_str().unwrap_or_default();
            Ok(answer::see_other(&format!("/services/{id}?done=created")))
        }
        Err(ApiError::Fields(errors)) => {
            show_new(visit, form, FormOutcome::refused(all(visit.texts, &errors)))
        }
        Err(error @ ApiError::Quota(_)) => {
            show_new(visit, form, FormOutcome::refused(visit.texts.of_refusal(&error)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the body that creates a service: what was entered, and the defaults of its check type for the rest. The plan of the
/// organisation allows intervals from `shortest` seconds on.
fn new_service(form: &FormData, pasted: &PastedTarget, shortest: u32) -> Value {
    let chosen = form.text("check_type").parse::<CheckType>().ok();
    let check_type = chosen.unwrap_or(pasted.check_type);
    let default = definition(check_type).interval.map_or(INTERVAL_S, |bounds| bounds.default).max(shortest);
    let interval = form.text("interval").parse().unwrap_or(default);
    let name = if form.text("name").is_empty() { pasted.name.as_str() } else { form.text("name") };
    let mut body = json!({"name": name, "check_type": check_type.as_str()});
    if let Some(target) = &pasted.target {
        body["target"] = json!(target);
    }
    if check_type != CheckType::Manual {
        body["settings"] = json!({ "interval_seconds": interval });
    }
    let tags: Vec<&str> = words(form.text("tags")).collect();
    if !tags.is_empty() {
        body["tags"] = json!(tags);
    }
    body
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\n', '\r']).map(str::trim).filter(|word| !word.is_empty())
}

fn show_new(visit: &UserVisit, form: &FormData, outcome: FormOutcome) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let option = |check_type: CheckType| FormOption {
        value: check_type.as_str().to_owned(),
        text: word_of(texts, "check_type", check_type.as_str()),
        is_chosen: form.text("check_type") == check_type.as_str(),
    };
    let status = outcome.status();
    let document = NewDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, texts.text("add-service")),
        paste: form.text("paste").to_owned(),
        name: form.text("name").to_owned(),
        interval: form.text("interval").to_owned(),
        tags: form.text("tags").to_owned(),
        types: CheckType::ALL.into_iter().map(option).collect(),
        key: Id::random().to_string(),
        problem: outcome.problem,
        trial: outcome.trial,
    };
    Ok(answer::document(status, document.render()?, &visit.visit.headers))
}

fn all(texts: ConsoleTexts, errors: &FieldErrors) -> String {
    errors
        .iter()
        .map(|(field, rule)| format!("{}: {}", label_of(texts, field), texts.of_rule(rule)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What the API gets for what was entered.
    #[rstest]
    #[case("", json!({"name": "shop.example", "check_type": "http", "target": "https://shop.example/",
        "settings": {"interval_seconds": 60}}))]
    #[case("check_type=ssl", json!({"name": "shop.example", "check_type": "ssl", "target": "https://shop.example/",
        "settings": {"interval_seconds": 21_600}}))]
    #[case("name=Shop&interval=30&tags=team:web,%20prod", json!({"name": "Shop", "check_type": "http",
        "target": "https://shop.example/", "settings": {"interval_seconds": 30}, "tags": ["team:web", "prod"]}))]
    #[case("check_type=manual", json!({"name": "shop.example", "check_type": "manual",
        "target": "https://shop.example/"}))]
    fn a_new_service_has_the_defaults_of_its_type(#[case] form: &str, #[case] expected: Value) {
        let pasted = PastedTarget::read("shop.example").unwrap();
        assert_eq!(new_service(&FormData::parse(form.as_bytes()), &pasted, 30), expected);
    }
}
