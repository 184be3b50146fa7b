//! The form by which a service is changed. It has fields and rows for every setting; nobody writes JSON.

use actix_web::HttpResponse;
use askama::Template;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::check_settings::service_fields;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::resources::filled_form::{FilledForm, FormProblems};
use crate::console::screens::resources::form_builder::build_form;
use crate::console::screens::resources::form_field::ConsoleField;
use crate::console::screens::resources::form_rows::{asks_for_rows, without_empty_rows};
use crate::console::screens::resources::input::body_of;
use crate::console::screens::resources::service_names::with_service_ids;
use crate::console::screens::resources::spec::{FieldSpec, FieldTime};
use crate::console::screens::resources::stored_form::stored_form;
use crate::console::screens::service::creation::TRY;
use crate::console::screens::service::service_form::{ServiceChange, form_view};
use crate::console::screens::service::trial::{self, TrialResult};
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;
use crate::model::check::CheckType;

/// Name of the input with the last change of the service when the form was opened.
const OPENED_AT: &str = "opened_at";

#[derive(Template)]
#[template(path = "screens/service/edit.html")]
struct EditDocument {
    frame: ConsoleFrame,
    id: String,
    problem: Option<String>,
    trial: Option<TrialResult>,
    /// True if the service is of a type that can be tried.
    may_try: bool,
    /// The last change of the service when the form was opened.
    opened_at: String,
    parts: Vec<FormPart>,
}

/// Fields that belong together.
struct FormPart {
    title: String,
    fields: Vec<ConsoleField>,
}

/// Shows the form of a service, or changes it.
///
/// # Errors
/// As the API.
pub(in crate::console) async fn edit(
    visit: &UserVisit,
    id: &str,
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    visit.signed_in.caller.require(Permission::ServicesEdit)?;
    let path = format!("/v1/services/{id}");
    let service = visit.get(&path).await?["data"].take();
    let word = service["check_type"].as_str().unwrap_or_default();
    let check_type: CheckType = word.parse().map_err(|_| ScreenError::Unknown)?;
    let is_confined = visit.signed_in.caller.visibility().is_confined();
    let fields = service_fields(check_type, check_type != CheckType::Manual, is_confined);
    let opened = stored_form(&fields, &form_view(check_type, &service), FieldTime::Change);
    let editor = ServiceEditor { visit, id, service: &service, check_type, fields, opened };
    match form {
        Some(form) => editor.receive(&path, &without_empty_rows(form)).await,
        None => editor.show(editor.opened.clone(), FormProblems::default(), None).await,
    }
}

/// The form of a service.
struct ServiceEditor<'a> {
    visit: &'a UserVisit,
    id: &'a str,
    service: &'a Value,
    check_type: CheckType,
    fields: Vec<FieldSpec>,
    /// The form of the service as it is stored.
    opened: FormData,
}

impl ServiceEditor<'_> {
    /// Tries or stores what was entered.
    async fn receive(&self, path: &str, form: &FormData) -> Result<HttpResponse, ScreenError> {
        let shown = |problems, trial| self.show(form.clone(), problems, trial);
        let opened_at = form.text(OPENED_AT);
        if !opened_at.is_empty() && opened_at != self.text_of("updated_at") {
            let form = form.with_names(|name| (name != OPENED_AT).then(|| name.to_owned()));
            return self
                .show(form, FormProblems::general(self.visit.texts.text("changed-meanwhile")), None)
                .await;
        }
        if asks_for_rows(form) {
            return shown(FormProblems::default(), None).await;
        }
        let (with_ids, problems) = with_service_ids(self.visit, &self.fields, form).await?;
        if !problems.is_empty() {
            return shown(problems, None).await;
        }
        let entered = match body_of(&self.fields, &with_ids, FieldTime::Change) {
            Ok(entered) => entered,
            Err(malformed) => {
                let mut problems = FormProblems::default();
                problems.add(&malformed.0, self.visit.texts.text("field-malformed"));
                return shown(problems, None).await;
            }
        };
        let change = ServiceChange {
            check_type: self.check_type,
            service: self.service,
            opened: &self.opened,
            form: &with_ids,
        };
        let repeated = change.repeated_rows(self.visit.texts);
        if !repeated.is_empty() {
            return shown(repeated, None).await;
        }
        let mut body = change.body(entered);
        if form.has(TRY) {
            body["service_id"] = json!(self.id);
            return match trial::run(self.visit, &body).await? {
                Ok(trial) => shown(FormProblems::default(), Some(trial)).await,
                Err(ApiError::Fields(errors)) => {
                    shown(change.problems(self.visit.texts, &errors), None).await
                }
                Err(error) => shown(FormProblems::general(self.visit.texts.of_refusal(&error)), None).await,
            };
        }
        match self.visit.write(HttpVerb::Patch, path, &body, None).await {
            Ok(_) => Ok(answer::see_other(&format!("/services/{}?done=changed", self.id))),
            Err(ApiError::Fields(errors)) => shown(change.problems(self.visit.texts, &errors), None).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn show(
        &self,
        form: FormData,
        problems: FormProblems,
        trial: Option<TrialResult>,
    ) -> Result<HttpResponse, ScreenError> {
        let opened_at = match form.text(OPENED_AT) {
            "" => self.text_of("updated_at"),
            opened_at => opened_at.to_owned(),
        };
        let filled = FilledForm { form, problems };
        let view = build_form(self.visit, &self.fields, &filled, FieldTime::Change).await?;
        let mut document = EditDocument {
            frame: ConsoleFrame::of(self.visit, ConsoleSection::Services, self.text_of("name")),
            id: self.id.to_owned(),
            problem: view.problem,
            trial,
            may_try: self.check_type.is_probed() && !self.service["settings"].is_null(),
            opened_at,
            parts: Vec::new(),
        };
        self.arrange(&mut document, view.fields);
        Ok(answer::document(filled.status(), document.render()?, &self.visit.visit.headers))
    }

    /// Divides the fields into parts: those of every service, those of its checks, and those of the type of its check.
    fn arrange(&self, document: &mut EditDocument, mut general: Vec<ConsoleField>) {
        let texts = self.visit.texts;
        let (mut verdict, mut own) = (Vec::new(), Vec::new());
        for group in general.extract_if(.., |field| field.name == "settings") {
            add_problem(&mut document.problem, group.problem);
            verdict.extend(group.rows.into_iter().flat_map(|row| row.fields));
        }
        for group in verdict.extract_if(.., |field| field.name == "settings.config") {
            add_problem(&mut document.problem, group.problem);
            own.extend(group.rows.into_iter().flat_map(|row| row.fields));
        }
        document.parts = vec![
            FormPart { title: texts.text("part-general"), fields: general },
            FormPart { title: texts.text("part-verdict"), fields: verdict },
            FormPart { title: word_of(texts, "check_type", self.check_type.as_str()), fields: own },
        ];
        document.parts.retain(|part| !part.fields.is_empty());
    }

    fn text_of(&self, name: &str) -> String {
        self.service[name].as_str().unwrap_or_default().to_owned()
    }
}

fn add_problem(shown: &mut Option<String>, more: Option<String>) {
    let texts: Vec<String> = shown.take().into_iter().chain(more).collect();
    *shown = (!texts.is_empty()).then(|| texts.join(" "));
}
