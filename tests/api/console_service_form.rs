//! The console's form of a service: fields and rows for every setting of a check.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::console::ConsoleUser;
use crate::support::html_form::{FormField, fields_of, set};
use crate::support::server::Server;

/// A user who changes a service in the console.
struct ServiceEditor {
    user: ConsoleUser,
    client: Client,
    id: String,
}

impl ServiceEditor {
    fn new(body: impl Fn(&Client) -> Value) -> Self {
        let client = Server::shared().tenant("business");
        let id = id_of(&client.post("/v1/services", &body(&client)).expect(201).data());
        Self { user: ConsoleUser::invited(&client, "editor"), client, id }
    }

    fn path(&self) -> String {
        format!("/services/{}/edit", self.id)
    }

    fn page(&self) -> String {
        self.user.get(&self.path()).expect(200).body
    }

    fn fields(&self) -> Vec<FormField> {
        fields_of(&self.page(), &self.path())
    }

    fn post(&self, fields: &[FormField]) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.user.post(&self.path(), &fields)
    }

    /// What a form can change.
    fn stored(&self) -> Value {
        let view = self.client.get(&format!("/v1/services/{}", self.id)).expect(200).data();
        json!({"name": view["name"], "target": view["target"], "tags": view["tags"], "settings": view["settings"],
            "depends_on": view["depends_on"]})
    }
}

fn id_of(data: &Value) -> String {
    data["id"].as_str().unwrap().to_owned()
}

/// An HTTP service with every setting.
fn whole(client: &Client) -> Value {
    let parent = client.post("/v1/services", &json!({"name": "Power", "check_type": "manual"})).expect(201);
    let tag = client.post("/v1/tags", &json!({"key": "rack", "value": "7"})).expect(201).data();
    let probe = client.get("/v1/probes").expect(200).data()[0]["code"].clone();
    let condition = |field: &str, operator: &str, value: Value, status: &str| {
        json!({"field": field,
        "operator": operator, "value": value, "status": status})
    };
    let config = json!({"method": "POST", "headers": {"X-Key": "s3cr3t-value", "X-Empty": ""}, "body": "\n{\"a\":\r\n 1}\n",
        "auth": {"type": "basic", "username": " me ", "password": "h1dden-value"}, "follow_redirects": false,
        "verify_ssl": false, "ip_version": "ipv4", "smart_dualstack": false, "conditions": [
            condition("status_code", "not_in", json!([200, 204]), "down"),
            condition("json.checks.0.status", "neq", json!("5"), "degraded"),
            condition("json.count", "lt", json!(1.5), "degraded"),
            condition("header.X-Frame-Options", "eq", json!(""), "degraded"),
            condition("body", "contains", json!(" two\nlines "), "down")]});
    json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/", "tags": ["env:prod", "team"],
        "depends_on": [id_of(&parent.data()), tag["id"]],
        "settings": {"interval_seconds": 3600, "timeout_seconds": 7, "retries": 1, "confirmation": 2,
            "recovery_checks": 3, "flapping_changes": 5, "flapping_minutes": 30, "assigned_probes": [probe.clone()],
            "probe_roles": {probe.as_str().unwrap(): "full"}, "config": config}})
}

/// The body of a service of a type, with some of its own settings.
fn of_type(client: &Client, check_type: &str) -> Value {
    let settings = |config: Value| json!({"interval_seconds": 3600, "config": config});
    let (target, settings) = match check_type {
        "http" => return whole(client),
        "tcp" => (json!("127.0.0.1:9"), settings(json!({"ip_version": "ipv6"}))),
        "dns" => (
            json!("shop.example"),
            settings(json!({"dns_type": "MX", "conditions": [{"field":
            "metadata.mx_records", "operator": "not_contains", "value": "mail.example.com", "status": "down"}]})),
        ),
        "icmp" => (json!("127.0.0.1"), settings(json!({"smart_dualstack": true}))),
        "ssl" => (
            json!("127.0.0.1:9"),
            settings(json!({"conditions": [{"field": "metadata.tls_version",
            "operator": "in", "value": ["TLS 1.2", "TLS 1.3"], "status": "degraded"}]})),
        ),
        "heartbeat" => (Value::Null, settings(json!({"grace_seconds": 5}))),
        _ => (Value::Null, Value::Null),
    };
    let mut body = json!({"name": "Shop", "check_type": check_type});
    if !target.is_null() {
        body["target"] = target;
    }
    if !settings.is_null() {
        body["settings"] = settings;
    }
    body
}

/// A form that is opened and saved changes nothing, and nobody writes JSON in it.
#[rstest]
fn a_saved_service_loses_nothing(
    #[values("http", "tcp", "dns", "icmp", "ssl", "heartbeat", "manual")] check_type: &str,
) {
    let editor = ServiceEditor::new(|client| of_type(client, check_type));
    let before = editor.stored();
    let page = editor.page();
    assert!(
        !page.contains("class=\"data\"") && !page.contains("s3cr3t-value") && !page.contains("h1dden-value"),
        "{page}"
    );
    editor.post(&editor.fields()).expect(303);
    assert_eq!(editor.stored(), before);
}

/// A change of one part keeps the others, and the rest of the part.
#[test]
fn a_row_is_added_to_a_service() {
    let editor = ServiceEditor::new(whole);
    let before = editor.stored();
    let mut fields = editor.fields();
    for (name, value) in [
        ("settings.config.conditions.5.field", "json"),
        ("settings.config.conditions.5.key", "queue.length"),
        ("settings.config.conditions.5.operator", "gte"),
        ("settings.config.conditions.5.value", "100"),
        ("settings.config.conditions.5.status", "degraded"),
        ("settings.config.conditions.0.remove", "true"),
        ("settings.config.headers.2.name", "X-More"),
        ("settings.config.headers.2.value", "more"),
        ("tags", "team"),
    ] {
        set(&mut fields, name, value);
    }
    editor.post(&fields).expect(303);
    let after = editor.stored();
    let (old, new) = (&before["settings"]["config"], &after["settings"]["config"]);
    let conditions = new["conditions"].as_array().unwrap();
    assert_eq!(conditions[..4], old["conditions"].as_array().unwrap()[1..]);
    let added = json!({"field": "json.queue.length", "operator": "gte", "value": 100, "status": "degraded"});
    assert_eq!((conditions.len(), &conditions[4]), (5, &added));
    let names: Vec<&String> = new["headers"].as_object().unwrap().keys().collect();
    assert_eq!((names.len(), &new["body"], &new["auth"]), (3, &old["body"], &old["auth"]));
    assert_eq!(after["tags"].as_array().unwrap().len(), 1);
    assert_eq!(after["depends_on"], before["depends_on"]);
}

/// Problems are at the field in its row; what was entered stays.
#[rstest]
#[case("settings.config.conditions.0.value", "many", "settings.config.conditions.0.value")]
#[case("settings.config.headers.0.name", "X-New", "settings.config.headers.0.value")]
#[case("settings.retries", "99", "settings.retries")]
#[case("settings.retries", "few", "settings.retries")]
#[case("settings.config.auth.type", "bearer", "settings.config.auth.token")]
fn a_problem_is_at_its_field(#[case] field: &str, #[case] value: &str, #[case] problem: &str) {
    let editor = ServiceEditor::new(whole);
    let mut fields = editor.fields();
    set(&mut fields, field, value);
    let page = editor.post(&fields).expect(422).body;
    assert!(page.contains(&format!("id=\"{problem}-problem\"")), "{page}");
    assert!(page.contains(&format!("value=\"{value}\"")) && !page.contains("role=\"alert\""), "{page}");
}

/// More rows are offered without a save; a user who is confined to a scope does not see dependencies.
#[test]
fn rows_and_fields_depend_on_the_user() {
    let editor = ServiceEditor::new(whole);
    let mut fields = editor.fields();
    set(&mut fields, "more-rows", "settings.config.conditions");
    let page = editor.post(&fields).expect(200).body;
    assert!(page.contains("settings.config.conditions.8.field") && page.contains("depends_on_service_ids"));
    let scope =
        editor.client.post("/v1/access-scopes", &json!({"name": "T", "tags": ["team"]})).expect(201).data();
    let body = json!({"role": "editor", "access_scope_id": scope["id"]});
    let confined = ConsoleUser::with(&editor.client, &body);
    let before = editor.stored();
    let page = confined.get(&editor.path()).expect(200).body;
    assert!(!page.contains("depends_on"), "{page}");
    let mut fields = fields_of(&page, &editor.path());
    set(&mut fields, "name", "Renamed");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    confined.post(&editor.path(), &fields).expect(303);
    let after = editor.stored();
    assert_eq!((&after["name"], &after["depends_on"]), (&json!("Renamed"), &before["depends_on"]));
}

/// A form that is shown again holds the secrets that were just entered: they are stored with the next save.
#[test]
fn an_entered_secret_survives_a_form_that_is_shown_again() {
    let editor = ServiceEditor::new(whole);
    let mut fields = editor.fields();
    set(&mut fields, "settings.config.headers.2.name", "X-More");
    set(&mut fields, "settings.config.headers.2.value", "more");
    set(&mut fields, "more-rows", "settings.config.headers");
    let page = editor.post(&fields).expect(200).body;
    let fields = fields_of(&page, &editor.path());
    let entered = fields.iter().find(|(name, _)| name == "settings.config.headers.2.value").unwrap();
    assert_eq!(entered.1, "more");
    editor.post(&fields).expect(303);
    assert_eq!(editor.stored()["settings"]["config"]["headers"].as_object().unwrap().len(), 3);
    // A new header without a value is a problem, and not an empty header.
    let mut fields = editor.fields();
    set(&mut fields, "settings.config.headers.3.name", "X-None");
    let page = editor.post(&fields).expect(422).body;
    assert!(page.contains("id=\"settings.config.headers.3.value-problem\""), "{page}");
}

/// What somebody else has stored meanwhile is not overwritten without notice.
#[test]
fn a_change_by_somebody_else_is_noticed() {
    let editor = ServiceEditor::new(whole);
    let mut fields = editor.fields();
    let path = format!("/v1/services/{}", editor.id);
    editor.client.patch(&path, &json!({"settings": {"interval_seconds": 600}})).expect(200);
    set(&mut fields, "name", "Renamed");
    let page = editor.post(&fields).expect(422).body;
    assert!(page.contains("Somebody else has changed this service"), "{page}");
    assert_eq!(
        (&editor.stored()["name"], &editor.stored()["settings"]["interval_seconds"]),
        (&json!("Shop"), &json!(600))
    );
    editor.post(&fields_of(&page, &editor.path())).expect(303);
    assert_eq!(editor.stored()["name"], "Renamed");
}

/// A service that was created without settings gets them in its form.
#[test]
fn a_service_without_settings_gets_them() {
    let editor =
        ServiceEditor::new(|_| json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9"}));
    let mut fields = editor.fields();
    set(&mut fields, "settings.interval_seconds", "3600");
    editor.post(&fields).expect(303);
    assert_eq!(editor.stored()["settings"]["interval_seconds"], 3600);
}

/// Two headers of one name are not one: the form is shown again, with the problem at the second.
#[test]
fn a_header_is_named_once() {
    let editor = ServiceEditor::new(|_| {
        json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
            "settings": {"interval_seconds": 3600, "config": {"headers": {"X-Key": "first"}}}})
    });
    let before = editor.stored();
    let mut fields = editor.fields();
    set(&mut fields, "settings.config.headers.1.name", "x-key");
    set(&mut fields, "settings.config.headers.1.value", "second");
    let page = editor.post(&fields).expect(422).body;
    let problem = page.split_once("id=\"settings.config.headers.1.name-problem\">").expect("a problem").1;
    assert!(problem.starts_with("Another row above has a header of this name."), "{page}");
    assert!(!page.contains("id=\"settings.config.headers.0.name-problem\""), "{page}");
    assert_eq!(editor.stored(), before);
}
