//! The screens of resources that are lists and forms. What differs is in a table of descriptions.

mod actions;
mod api_lists;
pub(in crate::console) mod changes;
mod channel_settings;
pub(in crate::console) mod check_settings;
mod drawn_secret;
pub(in crate::console) mod field_texts;
pub(in crate::console) mod filled_form;
pub(in crate::console) mod form_builder;
pub(in crate::console) mod form_field;
pub(in crate::console) mod form_rows;
pub(in crate::console) mod input;
mod reference_lists;
pub(in crate::console) mod service_names;
mod shown_value;
pub(in crate::console) mod spec;
pub(in crate::console) mod stored_form;
mod table;
pub(in crate::console) mod view;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template as _;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::frame::ConsoleFrame;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::channel_settings::with_settings;
use crate::console::screens::resources::drawn_secret::DrawnSecret;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::resources::filled_form::{FilledForm, FormProblems};
use crate::console::screens::resources::form_builder::build_form;
use crate::console::screens::resources::form_rows::{asks_for_rows, without_empty_rows};
use crate::console::screens::resources::input::{MalformedField, body_of};
use crate::console::screens::resources::service_names::with_service_ids;
use crate::console::screens::resources::spec::{
    FieldKind, FieldSpec, FieldTime, ResourcePlace, ResourceSpec,
};
use crate::console::screens::resources::stored_form::{new_form, stored_form};
use crate::console::screens::resources::table::RESOURCES;
use crate::console::screens::resources::view::{
    FactRow, KindRow, KindsDocument, ListDocument, ResourceDocument, ResourceViewer, SecretDocument, lists_of,
};
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::notification::ChannelKind;
use crate::notify::kinds::definition;

/// Fields of answers that are shown only once.
const SHOWN_ONCE: [&str; 4] = ["token", "secret", "link", "url"];

/// A request for a resource.
struct ResourceRequest<'a> {
    visit: &'a UserVisit,
    spec: &'static ResourceSpec,
    place: ResourcePlace<'a>,
}

/// Answers a request for one of these screens.
pub(super) async fn answer(
    visit: &UserVisit,
    segments: &[&str],
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    // The longest path is the most specific one.
    let found = RESOURCES.iter().filter_map(|spec| Some((*spec, spec.matches(segments)?)));
    let (spec, place) = found.min_by_key(|(_, place)| place.rest.len()).ok_or(ScreenError::Unknown)?;
    let asked = ResourceRequest { visit, spec, place };
    match (asked.place.rest.clone().as_slice(), form) {
        ([], None) => asked.list().await,
        (["new"], None) => asked.show_new(None).await,
        (["new"], Some(form)) => asked.create(form).await,
        ([id], None) => asked.show(id, None).await,
        ([id], Some(form)) => asked.change(id, form).await,
        ([id, "delete"], None) => asked.confirm(id).await,
        ([id, "delete"], Some(_)) => asked.delete(id).await,
        ([id, action], Some(form)) => asked.act(id, action, form).await,
        _ => Err(ScreenError::Unknown),
    }
}

impl ResourceRequest<'_> {
    fn require(&self, permission: Option<Permission>) -> Result<(), ScreenError> {
        let permission = permission.ok_or(ScreenError::WrongMethod)?;
        Ok(self.visit.signed_in.caller.require(permission)?)
    }

    fn screen(&self) -> String {
        self.place.path(self.spec.screen)
    }

    /// The path of the list below `/console`.
    fn list_path(&self) -> String {
        if self.spec.first_screen().is_some() { format!("{}/all", self.screen()) } else { self.screen() }
    }

    fn api(&self) -> String {
        self.place.path(self.spec.api)
    }

    fn viewer(&self) -> ResourceViewer<'_> {
        ResourceViewer { visit: self.visit, spec: self.spec, screen: self.screen() }
    }

    fn frame(&self, title: String) -> ConsoleFrame {
        ConsoleFrame::of(self.visit, self.spec.section, title)
    }

    async fn list(&self) -> Result<HttpResponse, ScreenError> {
        let page = self.visit.visit.query.text("page");
        let target = format!("{}?per_page=100&page={}", self.api(), page.parse::<u64>().unwrap_or(1));
        let body = self.visit.get(&target).await?;
        let title = self.visit.texts.text(&format!("title-{}", self.spec.name));
        let viewer = self.viewer();
        let document = ListDocument {
            lists: lists_of(self.visit, self.spec.section, &self.list_path()),
            rows: viewer.rows(&body["data"]),
            columns: viewer.columns(),
            pages: viewer.pages(&body["meta"]),
            may_create: self.spec.create.is_some_and(|permission| self.visit.may(permission)),
            new: self.visit.texts.text(&format!("new-{}", self.spec.name)),
            empty: self.visit.texts.text(&format!("empty-{}", self.spec.name)),
            screen: self.screen(),
            frame: self.frame(title),
        };
        self.document(StatusCode::OK, document.render()?)
    }

    /// The fields of a form; those of a channel depend on its kind.
    fn fields(&self, kind: &str, time: FieldTime) -> Vec<FieldSpec> {
        with_settings(self.spec.fields, kind.parse().ok(), time)
    }

    /// Returns true if a kind is chosen before the form for a new resource is shown.
    fn has_kinds(&self) -> bool {
        self.spec.fields.iter().any(|spec| spec.kind == FieldKind::ChannelKind)
    }

    async fn show_new(&self, entered: Option<FilledForm>) -> Result<HttpResponse, ScreenError> {
        self.require(self.spec.create)?;
        let mut title = self.visit.texts.text(&format!("new-{}", self.spec.name));
        let asked = entered.as_ref().map_or(&self.visit.visit.query, |entered| &entered.form).text("kind");
        let fields = self.fields(asked, FieldTime::Creation);
        let kind = asked.parse::<ChannelKind>().ok();
        if self.has_kinds() {
            let Some(kind) = kind else { return self.show_kinds(title) };
            title = format!("{title}: {}", word_of(self.visit.texts, "kind", kind.as_str()));
        }
        let filled = entered.unwrap_or_else(|| {
            let mut form = new_form(&fields, &self.visit.visit.query);
            kind.into_iter().for_each(|kind| form.push("kind", kind.as_str()));
            FilledForm { form, ..FilledForm::default() }
        });
        let form = build_form(self.visit, &fields, &filled, FieldTime::Creation).await?;
        let document = ResourceDocument {
            form: Some(form),
            problem: None,
            action: format!("{}/new", self.screen()),
            key: Id::random().to_string(),
            drawn_secret: DrawnSecret::for_new(kind)?,
            facts: Vec::new(),
            actions: Vec::new(),
            lists: Vec::new(),
            changes: Vec::new(),
            delete: None,
            screen: self.screen(),
            frame: self.frame(title),
        };
        self.document(filled.status(), document.render()?)
    }

    /// Asks for the kind of a new channel.
    fn show_kinds(&self, title: String) -> Result<HttpResponse, ScreenError> {
        let screen = self.screen();
        let row = |kind: ChannelKind| KindRow {
            link: format!("/console{screen}/new?kind={kind}"),
            name: word_of(self.visit.texts, "kind", kind.as_str()),
            about: self.visit.texts.of_catalogue(&format!("channel-{kind}"), definition(kind).description),
        };
        let kinds = ChannelKind::ALL.into_iter().map(row).collect();
        let document = KindsDocument { kinds, screen: self.screen(), frame: self.frame(title) };
        self.document(StatusCode::OK, document.render()?)
    }

    async fn create(&self, form: &FormData) -> Result<HttpResponse, ScreenError> {
        self.require(self.spec.create)?;
        let form = without_empty_rows(form);
        let refused = |problems| self.show_new(Some(FilledForm { form: form.clone(), problems }));
        if asks_for_rows(&form) {
            return refused(FormProblems::default()).await;
        }
        let fields = self.fields(form.text("kind"), FieldTime::Creation);
        let (with_ids, problems) = with_service_ids(self.visit, &fields, &form).await?;
        if !problems.is_empty() {
            return refused(problems).await;
        }
        let mut body = match body_of(&fields, &with_ids, FieldTime::Creation) {
            Ok(body) => body,
            Err(malformed) => return refused(self.malformed(&malformed)).await,
        };
        let drawn = DrawnSecret::fill(&mut body, &form)?;
        let key = Some(form.text("form-key")).filter(|key| !key.is_empty());
        match self.visit.write(HttpVerb::Post, &self.api(), &body, key).await {
            Ok(answer) => match drawn {
                Some(secret) => self.show_drawn(&answer["data"], secret),
                None => self.done(&answer["data"], "created"),
            },
            Err(ApiError::Fields(errors))
                if errors.iter().any(|(_, rule)| *rule == FieldRule::IdempotencyMismatch) =>
            {
                refused(FormProblems::general(self.visit.texts.text("form-already-sent"))).await
            }
            Err(ApiError::KeyRunning) => {
                refused(FormProblems::general(self.visit.texts.text("form-is-being-sent"))).await
            }
            Err(ApiError::Fields(errors)) => refused(FormProblems::of(self.visit.texts, &errors)).await,
            Err(error @ (ApiError::Quota(_) | ApiError::Conflict(_) | ApiError::Confined)) => {
                refused(FormProblems::general(self.visit.texts.of_refusal(&error))).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn show(&self, id: &str, entered: Option<FilledForm>) -> Result<HttpResponse, ScreenError> {
        let stored = self.find(id).await?;
        let viewer = self.viewer();
        let title = viewer.title_of(&stored);
        let may_edit = self.spec.edit.is_some_and(|permission| self.visit.may(permission));
        let fields = self.fields(stored["kind"].as_str().unwrap_or_default(), FieldTime::Change);
        let filled = entered.unwrap_or_else(|| FilledForm {
            form: stored_form(&fields, &stored, FieldTime::Change),
            ..FilledForm::default()
        });
        let form = match may_edit {
            true => Some(build_form(self.visit, &fields, &filled, FieldTime::Change).await?),
            false => None,
        };
        let problem = filled.problems.elsewhere(self.visit.texts, &[]).filter(|_| !may_edit);
        let may_delete = self.spec.delete.is_some_and(|permission| self.visit.may(permission));
        let document = ResourceDocument {
            form,
            problem,
            action: format!("{}/{id}", self.screen()),
            key: String::new(),
            drawn_secret: None,
            facts: viewer.facts(&stored),
            actions: viewer.actions(id, &stored).await?,
            lists: viewer.inner_lists(id),
            changes: viewer.changes(id).await?,
            delete: may_delete.then(|| format!("{}/{id}/delete", self.screen())),
            screen: self.screen(),
            frame: self.frame(title),
        };
        self.document(filled.status(), document.render()?)
    }

    async fn find(&self, id: &str) -> Result<Value, ScreenError> {
        id.parse::<Id>().map_err(|_| ScreenError::Unknown)?;
        let mut body = self.visit.get(&format!("{}/{id}", self.api())).await?;
        Ok(body["data"].take())
    }

    async fn change(&self, id: &str, form: &FormData) -> Result<HttpResponse, ScreenError> {
        self.require(self.spec.edit)?;
        let form = without_empty_rows(form);
        let refused = |problems| self.show(id, Some(FilledForm { form: form.clone(), problems }));
        if asks_for_rows(&form) {
            return refused(FormProblems::default()).await;
        }
        let kind = if self.has_kinds() { self.find(id).await?["kind"].take() } else { Value::Null };
        let fields = self.fields(kind.as_str().unwrap_or_default(), FieldTime::Change);
        let (with_ids, problems) = with_service_ids(self.visit, &fields, &form).await?;
        if !problems.is_empty() {
            return refused(problems).await;
        }
        let body = match body_of(&fields, &with_ids, FieldTime::Change) {
            Ok(body) => body,
            Err(malformed) => return refused(self.malformed(&malformed)).await,
        };
        match self.visit.write(HttpVerb::Patch, &format!("{}/{id}", self.api()), &body, None).await {
            Ok(_) => Ok(answer::see_other(&format!("{}/{id}?done=changed", self.screen()))),
            Err(ApiError::Fields(errors)) => refused(FormProblems::of(self.visit.texts, &errors)).await,
            Err(error @ (ApiError::Conflict(_) | ApiError::Shared(_))) => {
                refused(FormProblems::general(self.visit.texts.of_refusal(&error))).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks before something is deleted.
    async fn confirm(&self, id: &str) -> Result<HttpResponse, ScreenError> {
        self.require(self.spec.delete)?;
        let stored = self.find(id).await?;
        let viewer = self.viewer();
        let document = viewer.confirmation(self.frame(self.visit.texts.text("delete")), &stored, id);
        self.document(StatusCode::OK, document.render()?)
    }

    async fn delete(&self, id: &str) -> Result<HttpResponse, ScreenError> {
        self.require(self.spec.delete)?;
        match self.visit.write(HttpVerb::Delete, &format!("{}/{id}", self.api()), &json!({}), None).await {
            Ok(_) => Ok(answer::see_other(&format!("{}?done=deleted", self.screen()))),
            Err(ApiError::Fields(errors)) => {
                let rules = errors.iter().map(|(_, rule)| self.visit.texts.of_rule(rule));
                let text = rules.collect::<Vec<_>>().join(" ");
                self.show_refused(id, FormProblems::general(text)).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Shows a resource as it is stored, with why something was refused.
    async fn show_refused(&self, id: &str, problems: FormProblems) -> Result<HttpResponse, ScreenError> {
        let stored = self.find(id).await?;
        let fields = self.fields(stored["kind"].as_str().unwrap_or_default(), FieldTime::Change);
        let form = stored_form(&fields, &stored, FieldTime::Change);
        self.show(id, Some(FilledForm { form, problems })).await
    }

    /// Leads to the resource, after its secrets were shown if it has any.
    fn done(&self, data: &Value, what: &str) -> Result<HttpResponse, ScreenError> {
        let id = data["id"].as_str();
        let item = id.map_or_else(|| self.screen(), |id| format!("{}/{id}", self.screen()));
        if !has_secret(data) {
            return Ok(answer::see_other(&format!("{item}?done={what}")));
        }
        let viewer = self.viewer();
        let document = SecretDocument {
            words: self.visit.texts.text("shown-once"),
            values: viewer.secrets(data, &SHOWN_ONCE),
            back: item,
            frame: self.frame(viewer.title_of(data)),
        };
        self.document(StatusCode::OK, document.render()?)
    }

    /// Shows the secret that was drawn for a new resource.
    fn show_drawn(&self, data: &Value, secret: DrawnSecret) -> Result<HttpResponse, ScreenError> {
        let viewer = self.viewer();
        let document = SecretDocument {
            words: self.visit.texts.text("drawn-secret"),
            values: vec![FactRow {
                name: self.visit.texts.text("field-settings-secret"),
                value: secret.into_text(),
            }],
            back: format!("{}/{}", self.screen(), data["id"].as_str().unwrap_or_default()),
            frame: self.frame(viewer.title_of(data)),
        };
        self.document(StatusCode::OK, document.render()?)
    }

    fn malformed(&self, malformed: &MalformedField) -> FormProblems {
        let mut problems = FormProblems::default();
        problems.add(&malformed.0, self.visit.texts.text("field-malformed"));
        problems
    }

    fn document(&self, status: StatusCode, html: String) -> Result<HttpResponse, ScreenError> {
        Ok(answer::document(status, html, &self.visit.visit.headers))
    }
}

/// Returns true if an answer of the API has something that is shown only once.
fn has_secret(data: &Value) -> bool {
    SHOWN_ONCE.iter().any(|name| data[name].is_string()) && (data["url"].is_null() || data["id"].is_null())
}
