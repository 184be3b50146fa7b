//! A service as its form holds it, and the change that a form makes. Objects by name and conditions are rows in the form; the
//! API gets only the settings that were changed, so that a form that is saved as it was opened changes nothing.

use serde_json::{Map, Value, json};

use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::screens::resources::check_settings::DEPENDS_ON;
use crate::console::screens::resources::filled_form::FormProblems;
use crate::console::screens::service::condition_rows::{conditions_of, rows_of};
use crate::http::kit::field_errors::FieldErrors;
use crate::model::check::CheckType;

/// An object of which a form makes rows.
struct NamedValues {
    /// Its path in the form and in errors of the API.
    path: &'static str,
    /// Its path as a JSON pointer.
    pointer: &'static str,
    /// Names of the two columns: that of the member's name and that of its value.
    columns: [&'static str; 2],
    /// Name of the text about a row that names the same as another one.
    repeated: &'static str,
}

const HEADERS: NamedValues = NamedValues {
    path: "settings.config.headers",
    pointer: "/settings/config/headers",
    columns: ["name", "value"],
    repeated: "header-repeated",
};
const ROLES: NamedValues = NamedValues {
    path: "settings.probe_roles",
    pointer: "/settings/probe_roles",
    columns: ["probe", "role"],
    repeated: "location-repeated",
};
const AUTH: &str = "settings.config.auth";
/// What the credentials of each type have.
const AUTH_MEMBERS: [(&str, &[&str]); 3] =
    [("bearer", &["token"]), ("basic", &["username", "password"]), ("api_key", &["header", "value"])];

/// Returns a service of the API as its form holds it.
pub(super) fn form_view(check_type: CheckType, service: &Value) -> Value {
    let mut view = service.clone();
    let tags = service["tags"].as_array().into_iter().flatten();
    view["tags"] = tags.map(|tag| tag["label"].clone()).collect();
    let depends_on = || service["depends_on"].as_array().into_iter().flatten();
    for (name, kind) in DEPENDS_ON.into_iter().zip(["service", "tag"]) {
        view[name] = depends_on().filter(|one| one["kind"] == kind).cloned().collect();
    }
    for values in [HEADERS, ROLES] {
        if let Some(value) = view.pointer_mut(values.pointer) {
            *value = values.rows(value);
        }
    }
    if let Some(conditions) = view.pointer_mut("/settings/config/conditions") {
        *conditions = rows_of(check_type, conditions);
    }
    view
}

impl NamedValues {
    fn rows(&self, object: &Value) -> Value {
        let [name, value] = self.columns;
        let members = object.as_object().into_iter().flatten();
        members.map(|(member, content)| json!({name: member, value: content})).collect()
    }

    /// Returns the object of rows. `missing` gives the value of a row without one.
    fn object(&self, rows: &Value, missing: impl Fn(usize) -> Value) -> Value {
        let [name, value] = self.columns;
        let rows = rows.as_array().into_iter().flatten().enumerate();
        let member = |(index, row): (usize, &Value)| {
            let content = if row[value].is_null() { missing(index) } else { row[value].clone() };
            (row[name].as_str().unwrap_or_default().to_owned(), content)
        };
        Value::Object(rows.map(member).collect())
    }

    /// Returns the paths of the fields that name the same as a row above. An object has each name once, so the API would get
    /// only one of these rows.
    fn repeated_names(&self, form: &FormData) -> Vec<String> {
        let path = |row: usize| format!("{}.{row}.{}", self.path, self.columns[0]);
        let name = |row: usize| form.text(&path(row)).to_ascii_lowercase();
        let is_repeated =
            |row: &usize| !name(*row).is_empty() && (0..*row).any(|other| name(other) == name(*row));
        (0..form.rows(self.path)).filter(is_repeated).map(path).collect()
    }

    /// Returns the path of the field in the form for a path in an error of the API.
    fn row_path(&self, path: &str, form: &FormData) -> Option<String> {
        let member = path.strip_prefix(self.path)?.strip_prefix('.')?;
        let [name, value] = self.columns;
        let row = (0..form.rows(self.path))
            .find(|row| form.text(&format!("{}.{row}.{name}", self.path)) == member)?;
        Some(format!("{}.{row}.{value}", self.path))
    }
}

/// A form that changes a service.
pub(super) struct ServiceChange<'a> {
    pub(super) check_type: CheckType,
    /// The service as the API shows it.
    pub(super) service: &'a Value,
    /// The form as it was opened.
    pub(super) opened: &'a FormData,
    /// What was entered.
    pub(super) form: &'a FormData,
}

impl ServiceChange<'_> {
    /// Returns the body for the API of what the fields of the form give, without what was not changed.
    pub(super) fn body(&self, mut entered: Value) -> Value {
        self.keep_changes(&mut entered);
        let dependencies: Vec<Value> =
            DEPENDS_ON.iter().filter_map(|name| entered.as_object_mut()?.remove(*name)).collect();
        if !dependencies.is_empty() {
            let ids = dependencies.iter().flat_map(|list| list.as_array().into_iter().flatten());
            entered["depends_on"] = ids.cloned().collect();
        }
        if let Some(settings) = entered.get_mut("settings") {
            self.restore_settings(settings);
        }
        entered
    }

    fn keep_changes(&self, entered: &mut Value) {
        let is_kept = |path: &str| self.form.has_same(self.opened, path);
        let Some(members) = entered.as_object_mut() else { return };
        if let Some(settings) = members.get_mut("settings").and_then(Value::as_object_mut) {
            if let Some(config) = settings.get_mut("config").and_then(Value::as_object_mut) {
                config.retain(|name, _| !is_kept(&format!("settings.config.{name}")));
            }
            settings.retain(|name, value| match name.as_str() {
                "config" => !is_empty(value),
                _ => !is_kept(&format!("settings.{name}")),
            });
        }
        let are_dependencies_kept = DEPENDS_ON.iter().all(|name| is_kept(name));
        members.retain(|name, value| match name.as_str() {
            "settings" => !is_empty(value),
            name if DEPENDS_ON.contains(&name) => !are_dependencies_kept,
            name => !is_kept(name),
        });
    }

    /// Makes of rows what the API takes.
    fn restore_settings(&self, settings: &mut Value) {
        if let Some(number) = settings["confirmation"].as_str().and_then(|text| text.parse::<u8>().ok()) {
            settings["confirmation"] = json!(number);
        }
        if let Some(roles) = settings.get_mut("probe_roles").filter(|roles| roles.is_array()) {
            *roles = ROLES.object(roles, |_| Value::Null);
        }
        let Some(config) = settings.get_mut("config").and_then(Value::as_object_mut) else { return };
        if let Some(headers) = config.get_mut("headers").filter(|headers| headers.is_array()) {
            *headers = HEADERS.object(headers, |row| self.stored_header(row));
        }
        if let Some(auth) = config.get_mut("auth").and_then(Value::as_object_mut) {
            self.restore_auth(auth);
        }
        if let Some(rows) = config.get_mut("conditions").filter(|rows| rows.is_array()) {
            *rows = conditions_of(self.check_type, rows);
        }
        if let Some(body) = config.get_mut("body").filter(|body| body.is_null()) {
            *body = json!("");
        }
    }

    /// Returns the value of a header that was left empty: the placeholder of secrets if one is stored, else null, which the
    /// API refuses.
    fn stored_header(&self, row: usize) -> Value {
        let is_stored = self.form.text(&format!("{}.{row}.value.stored", HEADERS.path)) == "true";
        let headers = self.service.pointer(HEADERS.pointer).and_then(Value::as_object);
        let placeholder = headers.and_then(|headers| headers.values().next()).filter(|_| is_stored);
        placeholder.cloned().unwrap_or_default()
    }

    /// Leaves only what the type of the credentials has. A secret that was left empty stays as it is.
    fn restore_auth(&self, auth: &mut Map<String, Value>) {
        let stored = &self.service["settings"]["config"]["auth"];
        let auth_type = auth.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let members = AUTH_MEMBERS.iter().find(|(name, _)| *name == auth_type);
        let members = members.map(|(_, members)| *members).unwrap_or_default();
        auth.retain(|name, _| name == "type" || members.contains(&name.as_str()));
        for name in members {
            if self.form.text(&format!("{AUTH}.{name}.stored")) == "true" && !auth.contains_key(*name) {
                auth.insert((*name).to_owned(), stored[*name].clone());
            }
        }
    }

    /// Returns the problems of rows that name the same as a row above.
    pub(super) fn repeated_rows(&self, texts: ConsoleTexts) -> FormProblems {
        let mut problems = FormProblems::default();
        for values in [HEADERS, ROLES] {
            let paths = values.repeated_names(self.form).into_iter();
            paths.for_each(|path| problems.add(&path, texts.text(values.repeated)));
        }
        problems
    }

    /// Returns the problems of the form for the errors of the API.
    pub(super) fn problems(&self, texts: ConsoleTexts, errors: &FieldErrors) -> FormProblems {
        let mut problems = FormProblems::default();
        for (path, rule) in errors.iter() {
            let in_rows = [HEADERS, ROLES].iter().find_map(|values| values.row_path(path, self.form));
            let dependency = path.starts_with("depends_on").then(|| DEPENDS_ON[0].to_owned());
            problems.add(&in_rows.or(dependency).unwrap_or_else(|| path.to_owned()), texts.of_rule(rule));
        }
        problems
    }
}

fn is_empty(object: &Value) -> bool {
    object.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::console::screens::resources::check_settings::service_fields;
    use crate::console::screens::resources::input::body_of;
    use crate::console::screens::resources::spec::FieldTime;
    use crate::console::screens::resources::stored_form::stored_form;

    const KEEP: &str = "__KEEP__";

    fn service() -> Value {
        json!({"name": "Shop", "target": "https://shop.example/", "tags": [{"label": "env:prod"}],
            "depends_on": [{"kind": "service", "id": "a"}, {"kind": "tag", "id": "b"}],
            "settings": {"interval_seconds": 60, "confirmation": "majority", "assigned_probes": ["fra", "hel"],
                "probe_roles": {"hel": "reachability"}, "config": {"method": "POST", "body": "a\r\nb\n",
                "headers": {"X-Key": KEEP}, "auth": {"type": "basic", "username": "me", "password": KEEP},
                "conditions": [{"field": "status_code", "operator": "in", "value": [500, 502], "status": "down"}]}}})
    }

    /// The body for the API after these fields of the opened form were set.
    fn changed(fields: &[(&str, &str)]) -> Value {
        let (service, check_type) = (service(), CheckType::Http);
        let specs = service_fields(check_type, true, false);
        let opened = stored_form(&specs, &form_view(check_type, &service), FieldTime::Change);
        let set = |name: &str| fields.iter().any(|(other, _)| *other == name);
        let mut form = opened.with_names(|name| (!set(name)).then(|| name.to_owned()));
        fields.iter().for_each(|(name, value)| form.push(name, value));
        let change = ServiceChange { check_type, service: &service, opened: &opened, form: &form };
        let body = body_of(&specs, &form, FieldTime::Change).unwrap();
        change.body(body)
    }

    /// Names of headers are the same in upper and lower case; rows without a name are no problem here.
    #[rstest]
    #[case("settings.config.headers.0.name=X-Key&settings.config.headers.1.name=x-key",
        &["settings.config.headers.1.name"])]
    #[case("settings.config.headers.0.name=A&settings.config.headers.1.name=B&settings.config.headers.2.value=c", &[])]
    #[case("settings.probe_roles.0.probe=fra&settings.probe_roles.1.probe=fra&settings.probe_roles.2.probe=fra",
        &["settings.probe_roles.1.probe", "settings.probe_roles.2.probe"])]
    fn a_repeated_name_is_a_problem(#[case] form: &str, #[case] expected: &[&str]) {
        let form = FormData::parse(form.as_bytes());
        let found: Vec<String> =
            [HEADERS, ROLES].iter().flat_map(|values| values.repeated_names(&form)).collect();
        assert_eq!(found, expected);
    }

    /// Only what was changed is sent, and whole blocks with everything in them.
    #[rstest]
    #[case(&[], json!({}))]
    #[case(&[("name", "Till")], json!({"name": "Till"}))]
    #[case(&[("tags", "env:prod\r\nteam:web")], json!({"tags": ["env:prod", "team:web"]}))]
    #[case(&[("depends_on_service_ids", "c")], json!({"depends_on": ["c", "b"]}))]
    #[case(&[("settings.confirmation", "3")], json!({"settings": {"confirmation": 3}}))]
    #[case(&[("settings.assigned_probes", "")], json!({"settings": {"assigned_probes": null}}))]
    #[case(&[("settings.probe_roles.1.probe", "fra"), ("settings.probe_roles.1.role", "full")],
        json!({"settings": {"probe_roles": {"hel": "reachability", "fra": "full"}}}))]
    #[case(&[("settings.config.body", "")], json!({"settings": {"config": {"body": ""}}}))]
    #[case(&[("settings.config.headers.1.name", "X-Other"), ("settings.config.headers.1.value", "1")],
        json!({"settings": {"config": {"headers": {"X-Key": KEEP, "X-Other": "1"}}}}))]
    #[case(&[("settings.config.headers.0.name", "X-New")],
        json!({"settings": {"config": {"headers": {"X-New": KEEP}}}}))]
    #[case(&[("settings.config.auth.username", "you")],
        json!({"settings": {"config": {"auth": {"type": "basic", "username": "you", "password": KEEP}}}}))]
    #[case(&[("settings.config.auth.type", "bearer"), ("settings.config.auth.token", "t")],
        json!({"settings": {"config": {"auth": {"type": "bearer", "token": "t"}}}}))]
    #[case(&[("settings.config.auth.type", "none")], json!({"settings": {"config": {"auth": {"type": "none"}}}}))]
    #[case(&[("settings.config.conditions.0.value", "500, 503")], json!({"settings": {"config": {"conditions": [
        {"field": "status_code", "operator": "in", "value": [500, 503], "status": "down"}]}}}))]
    fn only_changes_are_sent(#[case] fields: &[(&str, &str)], #[case] expected: Value) {
        assert_eq!(changed(fields), expected);
    }
}
