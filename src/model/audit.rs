//! The audit log: who changed what. Changes are the differences of the JSON that clients see before and after, which
//! contains no secrets, except those that are shown once.

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::{ApiToken, TokenHolder};
use crate::model::word_enum::words;

/// Milliseconds for which entries are kept: 400 days.
pub const RETENTION_MS: i64 = 400 * 24 * 60 * 60 * 1_000;
/// Longest text in a change, in characters; longer ones are cut.
const TEXT_LENGTH: usize = 500;
/// Maximum number of changed fields of an entry.
const CHANGES_MAX: usize = 100;
/// What is shown in place of a secret.
const MASK: &str = "***";
/// Fields that are secrets, which clients see once or never.
const SECRETS: [&str; 6] = ["secret", "token", "password", "ping_url", "signing_secret", "link"];
/// Fields that follow from other changes.
const FOLLOWING: [&str; 5] = ["id", "created_at", "updated_at", "seen_at", "deleted"];
/// Measured fields of a service.
const MEASURED: [&str; 8] = [
    "status",
    "effective_status",
    "is_flapping",
    "uptime_30d",
    "avg_response_ms",
    "last_check_at",
    "favicon_url",
    "unreachable",
];

words! {
    /// Kinds of actors.
    pub enum ActorKind {
        /// A user of the console.
        User,
        /// A program with an API token.
        Token,
        /// This engine by itself, such as the automatic resolution of an incident.
        Engine,
        /// An operator with the command line.
        Command,
    }
}

/// Who makes a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActor {
    /// Kind of the actor.
    pub kind: ActorKind,
    /// Id of the user or token.
    pub id: Option<Id>,
    /// Name of the actor at that time.
    pub name: String,
}

impl AuditActor {
    /// Returns the holder of a token as an actor.
    #[must_use]
    pub fn of(token: &ApiToken) -> Self {
        let kind = match token.holder {
            TokenHolder::Program => ActorKind::Token,
            TokenHolder::Person => ActorKind::User,
        };
        Self { kind, id: Some(token.id), name: token.name.clone() }
    }

    /// This engine.
    #[must_use]
    pub fn engine() -> Self {
        Self { kind: ActorKind::Engine, id: None, name: "engine".into() }
    }

    /// The command line.
    #[must_use]
    pub fn command() -> Self {
        Self { kind: ActorKind::Command, id: None, name: "command line".into() }
    }
}

/// The object of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditObject {
    /// Kind of the object, such as `service`.
    pub kind: String,
    /// Id of the object.
    pub id: Option<String>,
    /// Name of the object at that time.
    pub name: Option<String>,
}

/// A changed field, with its old and its new value. A secret is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// Path of the field, such as `settings.timeout_seconds`.
    pub field: String,
    /// The value before; null if there was none.
    pub old: Value,
    /// The value after; null if there is none.
    pub new: Value,
}

impl FieldChange {
    /// Returns the JSON of the change.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"field": self.field, "old": self.old, "new": self.new})
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Time of the change.
    pub at: Timestamp,
    /// Who made it.
    pub actor: AuditActor,
    /// Address of the client; `None` if there was none.
    pub address: Option<String>,
    /// What was done, such as `update` or `pause`.
    pub action: String,
    /// What was changed.
    pub object: AuditObject,
    /// The changed fields.
    pub changes: Vec<FieldChange>,
    /// Id of the request in the log.
    pub request_id: Option<String>,
}

/// Returns the name of an object in the JSON that clients see.
#[must_use]
pub fn name_in(view: &Value) -> Option<String> {
    let translated = |value: &Value| value.as_object().and_then(|texts| texts.values().next()).cloned();
    let text = |value: &Value| {
        let value = translated(value).unwrap_or_else(|| value.clone());
        value.as_str().map(cut)
    };
    ["name", "title", "label", "email", "domain", "host", "address"]
        .iter()
        .find_map(|field| view.get(field).and_then(text))
}

/// Two views of an object of a kind, before and after a change. Either is null if the object did not exist.
#[derive(Clone, Copy, Debug)]
pub struct ObjectViews<'a> {
    /// Kind of the object.
    pub kind: &'a str,
    /// The object before.
    pub old: &'a Value,
    /// The object after.
    pub new: &'a Value,
}

impl ObjectViews<'_> {
    /// Returns the differences. `entered` are the fields of the request: a secret is in neither view, so a field of the
    /// request that is in neither counts as changed.
    #[must_use]
    pub fn changes(&self, entered: &[String]) -> Vec<FieldChange> {
        let mut found = Vec::new();
        self.compare("", self.old, self.new, &mut found);
        let is_seen = |view: &Value, field: &String| view.get(field).is_some();
        for field in entered.iter().filter(|field| !is_seen(self.old, field) && !is_seen(self.new, field)) {
            let old = if self.old.is_null() { Value::Null } else { json!(MASK) };
            found.push(FieldChange { field: field.clone(), old, new: json!(MASK) });
        }
        found.truncate(CHANGES_MAX);
        found
    }

    fn compare(&self, path: &str, old: &Value, new: &Value, found: &mut Vec<FieldChange>) {
        match (old.as_object(), new.as_object()) {
            (Some(before), Some(after)) => self.compare_members(path, before, after, found),
            (None, Some(after)) if old.is_null() => self.compare_members(path, &Map::new(), after, found),
            (Some(before), None) if new.is_null() => self.compare_members(path, before, &Map::new(), found),
            _ if old != new => {
                let is_secret = self.is_secret(path);
                let shown = |value: &Value| if is_secret { masked(value) } else { shortened(value) };
                found.push(FieldChange { field: path.to_owned(), old: shown(old), new: shown(new) });
            }
            _ => {}
        }
    }

    fn compare_members(
        &self,
        path: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        found: &mut Vec<FieldChange>,
    ) {
        let fields = before.keys().chain(after.keys().filter(|field| !before.contains_key(*field)));
        for field in fields.filter(|field| !(path.is_empty() && self.is_no_change(field))) {
            let inner = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
            let value = |of: &Map<String, Value>| of.get(field).cloned().unwrap_or_default();
            self.compare(&inner, &value(before), &value(after), found);
        }
    }

    fn is_no_change(&self, field: &str) -> bool {
        FOLLOWING.contains(&field) || self.kind == "service" && MEASURED.contains(&field)
    }

    fn is_secret(&self, path: &str) -> bool {
        let name = path.rsplit('.').next().unwrap_or(path);
        SECRETS.contains(&name) || self.kind == "contact_calendar" && name == "url"
    }
}

fn masked(value: &Value) -> Value {
    if value.is_null() { Value::Null } else { json!(MASK) }
}

/// Returns a value whose texts are short, and without the passwords of addresses in it.
fn shortened(value: &Value) -> Value {
    let value = without_passwords(value);
    match &value {
        Value::String(text) => json!(cut(text)),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.chars().count() <= TEXT_LENGTH { value } else { json!(cut(&text)) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Masks user and password in every `scheme://user:password@host`.
fn without_passwords(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(without_password(text)),
        Value::Array(items) => items.iter().map(without_passwords).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), without_passwords(value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn without_password(text: &str) -> String {
    match url::Url::parse(text) {
        Ok(mut url) if url.password().is_some() || !url.username().is_empty() => {
            // Both fail only for addresses that cannot have them.
            let _ = url.set_username(MASK);
            let _ = url.set_password(None);
            url.to_string()
        }
        _ => text.to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A row a kind of change: before, after, fields of the request, changes.
    #[rstest]
    #[case::nothing(json!({"name": "A"}), json!({"name": "A"}), &[], json!([]))]
    #[case::text(json!({"name": "A"}), json!({"name": "B"}), &["name"],
        json!([{"field": "name", "old": "A", "new": "B"}]))]
    #[case::inner(json!({"settings": {"a": 1, "b": 2}}), json!({"settings": {"a": 1, "b": 3}}), &["settings"],
        json!([{"field": "settings.b", "old": 2, "new": 3}]))]
    #[case::created(Value::Null, json!({"id": "x", "name": "A", "tags": [1]}), &["name"],
        json!([{"field": "name", "old": null, "new": "A"}, {"field": "tags", "old": null, "new": [1]}]))]
    #[case::deleted(json!({"name": "A"}), json!({"id": "x", "deleted": true}), &[],
        json!([{"field": "name", "old": "A", "new": null}]))]
    #[case::shown_once(Value::Null, json!({"name": "A", "token": "wk_1"}), &["name"],
        json!([{"field": "name", "old": null, "new": "A"}, {"field": "token", "old": null, "new": "***"}]))]
    #[case::hidden(json!({"name": "A"}), json!({"name": "A"}), &["password"],
        json!([{"field": "password", "old": "***", "new": "***"}]))]
    #[case::password_of_an_address(json!({"target": "https://a:b@c.example/"}), json!({"target": "x"}), &["target"],
        json!([{"field": "target", "old": "https://***@c.example/", "new": "x"}]))]
    #[case::passwords_in_a_list(json!({"urls": ["https://token@c.example/"]}), json!({"urls": []}), &["urls"],
        json!([{"field": "urls", "old": ["https://***@c.example/"], "new": []}]))]
    #[case::measured(json!({"status": "up", "updated_at": 1}), json!({"status": "down", "updated_at": 2}), &[], json!([]))]
    fn changes_are_differences_of_views(
        #[case] old: Value,
        #[case] new: Value,
        #[case] entered: &[&str],
        #[case] expected: Value,
    ) {
        let entered: Vec<String> = entered.iter().map(|field| (*field).to_owned()).collect();
        let found = ObjectViews { kind: "service", old: &old, new: &new }.changes(&entered);
        assert_eq!(found.iter().map(FieldChange::to_json).collect::<Value>(), expected);
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "ä".repeat(TEXT_LENGTH + 1);
        let new = json!({"name": long, "list": [long]});
        let found = ObjectViews { kind: "service", old: &Value::Null, new: &new }.changes(&[]);
        assert!(found.iter().all(|change| change.new.as_str().is_some_and(|text| text.ends_with('…'))));
    }

    #[rstest]
    #[case(json!({"name": "A", "title": "B"}), Some("A"))]
    #[case(json!({"title": {"en": "Outage", "de": "Ausfall"}}), Some("Outage"))]
    #[case(json!({"email": "a@b.example"}), Some("a@b.example"))]
    #[case(json!({"id": 1}), None)]
    fn an_object_has_a_name(#[case] view: Value, #[case] name: Option<&str>) {
        assert_eq!(name_in(&view).as_deref(), name);
    }
}
