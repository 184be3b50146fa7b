//! The forms by which a service is added and changed. Settings and their defaults are those of the catalogue of check types.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Map, Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::form_field::{ConsoleField, FormControl, FormOption};
use crate::console::screens::service::pasted_target::PastedTarget;
use crate::console::screens::service::trial::{self, TrialResult};
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::check::CheckType;

/// Name of the button that tries what was entered instead of storing it.
const TRY: &str = "try";

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

#[derive(Template)]
#[template(path = "screens/service/edit.html")]
struct EditDocument {
    frame: ConsoleFrame,
    id: String,
    problem: Option<String>,
    trial: Option<TrialResult>,
    /// True if the service is of a type that can be tried.
    may_try: bool,
    parts: Vec<FormPart>,
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
            Err(ApiError::Fields(errors)) => Self::refused(all(&errors)),
            Err(error) => Self::refused(error.to_string()),
        })
    }

    const fn status(&self) -> StatusCode {
        if self.problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
    }
}

/// Fields that belong together.
struct FormPart {
    title: String,
    fields: Vec<ConsoleField>,
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
    let catalogue = visit.get("/v1/meta/check-types").await?;
    let body = new_service(form, &pasted, &catalogue["data"]);
    if form.has(TRY) {
        return show_new(visit, form, FormOutcome::tried(visit, &body).await?);
    }
    let key = Some(form.text("form-key")).filter(|key| !key.is_empty());
    match visit.write(HttpVerb::Post, "/v1/services", &body, key).await {
        Ok(made) => {
            let id = made["data"]["id"].as_str().unwrap_or_default();
            Ok(answer::see_other(&format!("/services/{id}?done=created")))
        }
        Err(ApiError::Fields(errors)) => show_new(visit, form, FormOutcome::refused(all(&errors))),
        Err(error @ ApiError::Quota(_)) => show_new(visit, form, FormOutcome::refused(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Returns the body that creates a service: what was entered, and the defaults of its check type for the rest.
fn new_service(form: &FormData, pasted: &PastedTarget, catalogue: &Value) -> Value {
    let chosen = form.text("check_type").parse::<CheckType>().ok();
    let check_type = chosen.unwrap_or(pasted.check_type);
    let default = catalogue[check_type.as_str()]["interval"]["default"].as_i64();
    let interval = form.text("interval").parse::<i64>().ok().or(default);
    let name = if form.text("name").is_empty() { pasted.name.as_str() } else { form.text("name") };
    let mut body = json!({"name": name, "check_type": check_type.as_str()});
    if let Some(target) = &pasted.target {
        body["target"] = json!(target);
    }
    if check_type != CheckType::Manual
        && let Some(interval) = interval
    {
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
        text: check_type.as_str().to_owned(),
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

/// Shows the form of a service, or changes it.
pub(in crate::console) async fn edit(
    visit: &UserVisit,
    id: &str,
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    visit.signed_in.caller.require(Permission::ServicesEdit)?;
    let path = format!("/v1/services/{id}");
    let service = visit.get(&path).await?["data"].take();
    let catalogue = visit.get("/v1/meta/check-types").await?["data"].take();
    let kind = &catalogue[service["check_type"].as_str().unwrap_or_default()];
    let editor = ServiceEditor { visit, service: &service, kind };
    let Some(form) = form else { return editor.show(id, None, FormOutcome::default()) };
    let mut body = match editor.body(form) {
        Ok(body) => body,
        Err(problem) => return editor.show(id, Some(form), FormOutcome::refused(problem)),
    };
    if form.has(TRY) {
        body["service_id"] = json!(id);
        return editor.show(id, Some(form), FormOutcome::tried(visit, &body).await?);
    }
    match visit.write(HttpVerb::Patch, &path, &body, None).await {
        Ok(_) => Ok(answer::see_other(&format!("/services/{id}?done=changed"))),
        Err(ApiError::Fields(errors)) => editor.show(id, Some(form), FormOutcome::refused(all(&errors))),
        Err(error) => Err(error.into()),
    }
}

fn all(errors: &FieldErrors) -> String {
    errors.iter().map(|(field, rule)| format!("{field}: {rule}")).collect::<Vec<_>>().join(" ")
}

/// The form of a service.
struct ServiceEditor<'a> {
    visit: &'a UserVisit,
    service: &'a Value,
    /// The entry of its check type in the catalogue.
    kind: &'a Value,
}

impl ServiceEditor<'_> {
    /// Settings of the catalogue, with the path at which each is stored below `settings`.
    fn settings(&self) -> impl Iterator<Item = (String, &Value)> {
        let list = |name: &str| self.kind[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |prefix: &'static str| {
            move |field: &'_ Value| format!("{prefix}{}", field["name"].as_str().unwrap_or_default())
        };
        let (general, own) = (named(""), named("config."));
        let general = list("settings").iter().map(move |field| (general(field), field));
        general.chain(list("fields").iter().map(move |field| (own(field), field)))
    }

    fn show(
        &self,
        id: &str,
        form: Option<&FormData>,
        outcome: FormOutcome,
    ) -> Result<HttpResponse, ScreenError> {
        let texts = self.visit.texts;
        let mut general =
            vec![self.line("name", &texts.text("field-name"), &self.service["name"], form, true)];
        if self.kind["target_required"] == true {
            general.push(self.line(
                "target",
                &texts.text("field-target"),
                &self.service["target"],
                form,
                true,
            ));
        }
        let tags = self.service["tags"].as_array().into_iter().flatten();
        let tags: Vec<&str> = tags.filter_map(|tag| tag["label"].as_str()).collect();
        general.push(self.line("tags", &texts.text("field-tags"), &json!(tags.join(" ")), form, false));
        let mut parts = vec![FormPart { title: texts.text("part-general"), fields: general }];
        if !self.service["settings"].is_null() {
            let own = self.service["check_type_label"].as_str().unwrap_or_default().to_owned();
            parts.push(FormPart { title: texts.text("part-verdict"), fields: self.verdict_fields(form) });
            parts.push(FormPart { title: own, fields: self.own_fields(form) });
            parts.retain(|part| !part.fields.is_empty());
        }
        let status = outcome.status();
        let title = self.service["name"].as_str().unwrap_or_default().to_owned();
        let frame = ConsoleFrame::of(self.visit, ConsoleSection::Services, title);
        let check_type = self.service["check_type"].as_str().and_then(|word| word.parse::<CheckType>().ok());
        let document = EditDocument {
            frame,
            id: id.to_owned(),
            problem: outcome.problem,
            trial: outcome.trial,
            may_try: check_type.is_some_and(CheckType::is_probed) && !self.service["settings"].is_null(),
            parts,
        };
        Ok(answer::document(status, document.render()?, &self.visit.visit.headers))
    }

    /// How often is checked, and what becomes of the results: the settings that all types of checks have.
    fn verdict_fields(&self, form: Option<&FormData>) -> Vec<ConsoleField> {
        let label = self.visit.texts.text("field-interval");
        let interval = &self.service["settings"]["interval_seconds"];
        let interval = self.line("interval_seconds", &label, interval, form, true);
        let shown = self.settings().filter(|(path, _)| !path.starts_with("config."));
        std::iter::once(interval).chain(shown.map(|(path, field)| self.setting(&path, field, form))).collect()
    }

    /// The settings of the type of the check.
    fn own_fields(&self, form: Option<&FormData>) -> Vec<ConsoleField> {
        let texts = self.visit.texts;
        let shown = self.settings().filter(|(path, _)| path.starts_with("config."));
        let mut fields: Vec<ConsoleField> =
            shown.map(|(path, field)| self.setting(&path, field, form)).collect();
        if self.kind["conditions"].is_object() {
            let conditions = &self.service["settings"]["config"]["conditions"];
            let mut field =
                self.line("config.conditions", &texts.text("field-conditions"), conditions, form, false);
            field.control = FormControl::Data;
            field.hint = Some(texts.text("hint-data"));
            fields.push(field);
        }
        fields
    }

    fn line(
        &self,
        name: &str,
        label: &str,
        stored: &Value,
        form: Option<&FormData>,
        is_required: bool,
    ) -> ConsoleField {
        let value = form.map_or_else(|| plain(stored), |form| form.text(name).to_owned());
        ConsoleField {
            name: name.to_owned(),
            label: label.to_owned(),
            control: FormControl::Line,
            value,
            is_required,
            ..ConsoleField::default()
        }
    }

    fn setting(&self, path: &str, field: &Value, form: Option<&FormData>) -> ConsoleField {
        let pointer = format!("/settings/{}", path.replace('.', "/"));
        let stored = self.service.pointer(&pointer).cloned().unwrap_or_else(|| field["default"].clone());
        let label = field["label"].as_str().unwrap_or(path);
        let mut shown = self.line(path, label, &stored, form, false);
        shown.hint = field["help"].as_str().map(str::to_owned);
        match field["type"].as_str() {
            Some("boolean") => shown.control = FormControl::Flag,
            Some("number") => shown.control = FormControl::Number,
            Some("select") if stored.is_string() || stored.is_null() => {
                shown.control = FormControl::Choice;
                let option = |option: &Value| FormOption {
                    value: plain(option),
                    text: plain(option),
                    is_chosen: plain(option) == shown.value,
                };
                shown.options = field["options"].as_array().into_iter().flatten().map(option).collect();
            }
            _ if stored.is_string() => shown.control = FormControl::Lines,
            _ => shown.control = FormControl::Data,
        }
        shown
    }

    /// Returns the change that the form makes.
    fn body(&self, form: &FormData) -> Result<Value, String> {
        let mut body = json!({"name": form.text("name")});
        if self.kind["target_required"] == true {
            body["target"] = json!(form.text("target"));
        }
        body["tags"] = words(form.text("tags")).collect();
        if self.service["settings"].is_null() {
            return Ok(body);
        }
        let (mut settings, mut config) = (Map::new(), Map::new());
        settings.insert("interval_seconds".into(), self.entered("interval_seconds", "number", form)?);
        for (path, field) in self.settings() {
            let value = self.entered(&path, field["type"].as_str().unwrap_or_default(), form)?;
            match path.strip_prefix("config.") {
                Some(name) => config.insert(name.to_owned(), value),
                None => settings.insert(path, value),
            };
        }
        if form.has("config.conditions") {
            config.insert("conditions".into(), self.entered("config.conditions", "data", form)?);
        }
        settings.insert("config".into(), Value::Object(config));
        body["settings"] = Value::Object(settings);
        Ok(body)
    }

    /// Returns what was entered into a field of the catalogue.
    fn entered(&self, name: &str, kind: &str, form: &FormData) -> Result<Value, String> {
        let text = form.text(name);
        let malformed = || format!("{name}: {}", self.visit.texts.text("field-malformed"));
        match kind {
            "boolean" => Ok(Value::Bool(text == "true")),
            "number" if text.is_empty() => Ok(Value::Null),
            "number" => text.parse::<i64>().map(Value::from).map_err(|_| malformed()),
            "select" | "text" | "textarea" => match text.parse::<i64>() {
                Ok(number) if kind == "select" => Ok(Value::from(number)),
                _ => Ok(json!(form.exact(name))),
            },
            _ if text.is_empty() => Ok(Value::Null),
            _ => serde_json::from_str(text).map_err(|_| malformed()),
        }
    }
}

/// Returns a value as it is entered into a line.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What the API gets for what was entered.
    #[rstest]
    #[case("", json!({"name": "shop.example", "check_type": "http", "target": "https://shop.example/",
        "settings": {"interval_seconds": 60}}))]
    #[case("name=Shop&interval=30&tags=team:web,%20prod", json!({"name": "Shop", "check_type": "http",
        "target": "https://shop.example/", "settings": {"interval_seconds": 30}, "tags": ["team:web", "prod"]}))]
    #[case("check_type=manual", json!({"name": "shop.example", "check_type": "manual",
        "target": "https://shop.example/"}))]
    fn a_new_service_has_the_defaults_of_its_type(#[case] form: &str, #[case] expected: Value) {
        let catalogue = json!({"http": {"interval": {"default": 60}}});
        let pasted = PastedTarget::read("shop.example").unwrap();
        assert_eq!(new_service(&FormData::parse(form.as_bytes()), &pasted, &catalogue), expected);
    }
}
