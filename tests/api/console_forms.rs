//! Forms of the console in which nobody writes JSON: settings of channels, and lists of rows.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::console::ConsoleUser;
use crate::support::html_form::{FormField, fields_of, set};
use crate::support::server::Server;

const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// A user of the console, and the API of the same organisation.
struct Operator {
    user: ConsoleUser,
    client: Client,
}

impl Operator {
    fn new() -> Self {
        let client = Server::shared().tenant("business");
        Self { user: ConsoleUser::invited(&client, "owner"), client }
    }

    fn made(&self, api: &str, body: &Value) -> Value {
        self.client.post(api, body).expect(201).data()
    }

    fn post(&self, path: &str, fields: &[FormField]) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.user.post(path, &fields)
    }

    /// The fields of the form of a screen.
    fn form(&self, path: &str) -> Vec<FormField> {
        fields_of(&self.user.get(path).expect(200).body, path)
    }

    /// The fields of the form for a new channel of a kind.
    fn new_channel(&self, kind: &str) -> Vec<FormField> {
        let page = self.user.get(&format!("/channels/new?kind={kind}")).expect(200);
        fields_of(&page.body, "/channels/new")
    }

    fn newest_of(&self, api: &str) -> Value {
        let rows = self.client.get(&format!("{api}?per_page=100")).expect(200).data();
        rows.as_array().unwrap().last().unwrap().clone()
    }

    fn contacts(&self) -> [Value; 2] {
        ["Anna", "Ben"].map(|name| {
            let email = format!("{name}@example.com");
            self.made("/v1/contacts", &json!({"name": name, "email": email}))["id"].clone()
        })
    }
}

fn without_times(mut view: Value) -> Value {
    view.as_object_mut().unwrap().remove("updated_at");
    view
}

fn webhook() -> Value {
    json!({"kind": "webhook", "name": "Program", "settings": {"url": "https://a.example/hook", "secret": SECRET}})
}

/// A channel is created without JSON: first its kind, then its settings.
#[test]
fn a_channel_is_created_by_its_kind() {
    let operator = Operator::new();
    let kinds = operator.user.get("/channels/new").expect(200).body;
    assert!(kinds.contains("href=\"/console/channels/new?kind=slack\"") && kinds.contains("Microsoft Teams"));
    let mut fields = operator.new_channel("email");
    for (name, value) in [
        ("name", "Mail"),
        ("settings.host", "mail.example.com"),
        ("settings.from", "status@example.com"),
        ("settings.to", "a@example.com\r\nb@example.com"),
    ] {
        set(&mut fields, name, value);
    }
    operator.post("/channels/new", &fields).expect(303);
    let made = operator.newest_of("/v1/notification-channels");
    assert_eq!((&made["kind"], &made["is_enabled"]), (&json!("email"), &json!(true)));
    let expected = json!({"host": "mail.example.com", "port": 587, "encryption": "starttls",
        "from": "status@example.com", "to": ["a@example.com", "b@example.com"]});
    assert_eq!(made["settings"], expected);
}

/// Secrets are never shown; they stay when nothing is entered, and optional ones can be removed.
#[test]
fn secrets_of_a_channel_stay() {
    let operator = Operator::new();
    let mut body = webhook();
    body["settings"]["previous_secret"] = json!(SECRET);
    let made = operator.made("/v1/notification-channels", &body);
    let path = format!("/channels/{}", made["id"].as_str().unwrap());
    let page = operator.user.get(&path).expect(200).body;
    assert!(
        !page.contains("whsec_MD") && page.contains("name=\"settings.secret\" value=\"\" type=\"password\"")
    );
    let mut fields = operator.form(&path);
    set(&mut fields, "settings.url", "https://b.example/hook");
    operator.post(&path, &fields).expect(303);
    let changed = operator.newest_of("/v1/notification-channels");
    assert_eq!(changed["settings"]["url"], "https://b.example/hook");
    assert_eq!(changed["settings"]["secret"], made["settings"]["secret"]);
    assert_eq!(changed["settings"]["previous_secret"], made["settings"]["previous_secret"]);
    set(&mut fields, "settings.previous_secret.clear", "true");
    operator.post(&path, &fields).expect(303);
    let changed = operator.newest_of("/v1/notification-channels");
    assert_eq!(changed["settings"].get("previous_secret"), None);
    assert_eq!(changed["settings"]["secret"], made["settings"]["secret"]);
}

/// A refused form keeps what was entered, and shows each problem at its field.
#[test]
fn a_refused_channel_names_the_setting() {
    let operator = Operator::new();
    let mut fields = operator.new_channel("webhook");
    for (name, value) in [("name", "Program"), ("settings.url", "nonsense"), ("settings.secret", SECRET)] {
        set(&mut fields, name, value);
    }
    let page = operator.post("/channels/new", &fields).expect(422).body;
    assert!(page.contains("id=\"settings.url-problem\"") && page.contains("value=\"nonsense\""), "{page}");
    // What was entered stays, also a secret, which is not stored yet.
    assert!(page.contains("name=\"kind\" value=\"webhook\"") && page.contains(SECRET));
}

/// Labels, explanations and problems are in the language of the user, also those that come from the API.
#[test]
fn forms_are_in_the_language_of_the_user() {
    let operator = Operator::new();
    let german = [("what", "profile"), ("name", "Anna"), ("language", "de")];
    operator.user.post("/settings", &german).expect(303);
    let kinds = operator.user.get("/channels/new").expect(200).body;
    assert!(kinds.contains("Schreibt in einen Kanal von Slack") && !kinds.contains("Posts to"), "{kinds}");
    let mut fields = operator.new_channel("email");
    set(&mut fields, "settings.port", "99999999");
    let page = operator.post("/channels/new", &fields).expect(422).body;
    for text in [
        "Verschlüsselung",
        "Der Name des SMTP-Servers.",
        "Dieses Feld ist erforderlich.",
        "erlaubte Wert ist",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let body = json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/",
        "settings": {"interval_seconds": 3600}});
    let service = operator.made("/v1/services", &body);
    let path = format!("/services/{}/edit", service["id"].as_str().unwrap());
    let page = operator.user.get(&path).expect(200).body;
    for text in ["Zeitlimit", "Weiterleitungen folgen", "ist mindestens", "Statuscode", "mehr als die Hälfte"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    let mut fields = operator.form(&path);
    set(&mut fields, "settings.config.conditions.0.value", "many");
    let page = operator.post(&path, &fields).expect(422).body;
    assert!(page.contains("Dieser Wert passt nicht zu Feld und Vergleich."), "{page}");
}

/// Weekly hours with everything that the API accepts.
fn hours() -> Value {
    json!([{"days": ["sat", "sun"], "from": "00:00", "to": "24:00"}, {"days": ["mon"], "from": "18:30", "to": "22:00"}])
}

/// Returns list, API and body of a resource with rows.
fn resource(operator: &Operator, kind: &str) -> (&'static str, &'static str, Value) {
    let quiet = json!({"hours": hours(), "time_zone": "Europe/Berlin", "except_from": "major"});
    match kind {
        "channel" => {
            let mut body = webhook();
            body["quiet_hours"] = quiet;
            body["events"] = json!(["incident.opened", "incident.resolved"]);
            body["digest_above"] = json!(7);
            ("/channels", "/v1/notification-channels", body)
        }
        "template" => {
            let settings = json!({"url": "https://a.example/", "method": "PUT", "headers": {"X-Key": "a: b"},
                "body": "{\"a\":\n {{ headline|tojson }}}"});
            let body = json!({"kind": "template", "name": "T", "settings": settings});
            ("/channels", "/v1/notification-channels", body)
        }
        "contact" => {
            let quiet = json!({"hours": hours(), "except_from": "minor"});
            let body = json!({"name": "C", "email": "c@example.com", "quiet_hours": quiet});
            ("/oncall/contacts", "/v1/contacts", body)
        }
        "schedule" => {
            let [anna, ben] = operator.contacts();
            let (daily, weekly) = (
                json!({"kind": "daily", "length": 2, "at": "09:00"}),
                json!({"kind": "weekly", "length": 1, "day": "tue", "at": "08:30"}),
            );
            let layer = |name: &str, rotation: &Value, hours: &Value| {
                json!({"name": name, "contact_ids": [ben, anna, ben], "starts_at": "2026-11-23T08:00:00.250Z",
                    "ends_at": "2027-01-01T00:00:00.000Z", "rotation": rotation, "hours": hours})
            };
            let layers = [
                layer("Days", &daily, &hours()),
                layer("Weeks", &weekly, &Value::Null),
                layer("Hours", &json!({"kind": "hours", "length": 12}), &Value::Null),
            ];
            let body = json!({"name": "S", "time_zone": "Europe/Berlin", "layers": layers});
            ("/oncall/schedules", "/v1/oncall/schedules", body)
        }
        "escalation" => {
            let [anna, ben] = operator.contacts();
            let channel = operator.made("/v1/notification-channels", &webhook())["id"].clone();
            let opener = operator.made("/v1/incident-policies", &json!({"name": "P"}))["id"].clone();
            let steps = json!([{"after_seconds": 0, "channel_ids": [channel]},
                {"after_seconds": 600, "channel_ids": [channel], "contact_ids": [anna, ben]}]);
            let body = json!({"name": "E", "steps": steps, "incident_policy_ids": [opener],
                "repeat_after_seconds": 900});
            ("/policies/escalations", "/v1/escalation-policies", body)
        }
        _ => {
            let tag = operator.made("/v1/tags", &json!({"key": "team", "value": "a"}))["id"].clone();
            let body = json!({"name": "T", "tag_id": tag, "objective": 99.95, "period": "month",
                "time_zone": "Europe/Berlin", "business_hours": hours()});
            ("/sla", "/v1/sla-targets", body)
        }
    }
}

/// A form that is opened and saved changes nothing.
#[rstest]
fn a_saved_form_loses_nothing(
    #[values("channel", "template", "contact", "schedule", "escalation", "sla")] kind: &str,
) {
    let operator = Operator::new();
    let (list, api, body) = resource(&operator, kind);
    let made = operator.made(api, &body);
    let id = made["id"].as_str().unwrap();
    let path = format!("{list}/{id}");
    let fields = operator.form(&path);
    operator.post(&path, &fields).expect(303);
    let saved = operator.client.get(&format!("{api}/{id}")).expect(200).data();
    assert_eq!(without_times(saved), without_times(made));
    assert!(!operator.user.get(&path).expect(200).body.contains("class=\"data\"") || kind == "template");
}

/// A new resource is entered row by row; more rows are offered on request; what is empty is left out.
#[test]
fn rows_are_entered_added_and_removed() {
    let operator = Operator::new();
    let [anna, ben] = operator.contacts();
    let mut fields = operator.form("/policies/escalations/new");
    set(&mut fields, "name", "Night");
    set(&mut fields, "steps.0.after_seconds", "0");
    set(&mut fields, "steps.0.contact_ids", anna.as_str().unwrap());
    set(&mut fields, "more-rows", "steps");
    let page = operator.post("/policies/escalations/new", &fields).expect(200).body;
    let mut fields = fields_of(&page, "/policies/escalations/new");
    set(&mut fields, "steps.3.after_seconds", "600");
    set(&mut fields, "steps.3.contact_ids", ben.as_str().unwrap());
    operator.post("/policies/escalations/new", &fields).expect(303);
    let made = operator.newest_of("/v1/escalation-policies");
    let seconds: Vec<&Value> =
        made["steps"].as_array().unwrap().iter().map(|step| &step["after_seconds"]).collect();
    assert_eq!((seconds, &made["name"]), (vec![&json!(0), &json!(600)], &json!("Night")));
    let path = format!("/policies/escalations/{}", made["id"].as_str().unwrap());
    let mut fields = operator.form(&path);
    set(&mut fields, "steps.0.remove", "true");
    operator.post(&path, &fields).expect(303);
    let changed = operator.newest_of("/v1/escalation-policies");
    assert_eq!(changed["steps"][0]["contact_ids"], json!([ben]));
    assert_eq!(changed["steps"].as_array().unwrap().len(), 1);
}

/// Rows are moved before the form is saved; the page begins at the button that was pressed.
#[test]
fn rows_are_moved() {
    let operator = Operator::new();
    let (list, api, body) = resource(&operator, "schedule");
    let made = operator.made(api, &body);
    let path = format!("{list}/{}", made["id"].as_str().unwrap());
    let names = |schedule: &Value| -> Vec<Value> {
        schedule["layers"].as_array().unwrap().iter().map(|layer| layer["name"].clone()).collect()
    };
    let page = operator.user.get(&path).expect(200).body;
    let button = "name=\"move-row\" value=\"up:layers.0\" formnovalidate disabled>Move Layer 1 up<";
    assert!(page.contains(button) && page.contains("value=\"down:layers.1\""), "{page}");
    assert!(!page.contains("up:layers.3") && !page.contains("up:layers.0.hours"), "{page}");
    let mut fields = operator.form(&path);
    set(&mut fields, "move-row", "up:layers.2");
    let page = operator.post(&path, &fields).expect(200).body;
    assert!(page.contains("value=\"up:layers.1\" formnovalidate autofocus>"), "{page}");
    assert_eq!(names(&operator.newest_of(api)), ["Days", "Weeks", "Hours"], "nothing is saved");
    let mut fields = fields_of(&page, &path);
    set(&mut fields, "move-row", "up:layers.1");
    let page = operator.post(&path, &fields).expect(200).body;
    assert!(page.contains("value=\"down:layers.0\" formnovalidate autofocus>"), "{page}");
    let fields = fields_of(&page, &path);
    operator.post(&path, &fields).expect(303);
    let saved = operator.newest_of(api);
    assert_eq!(names(&saved), ["Hours", "Days", "Weeks"]);
    assert_eq!(saved["layers"][1], made["layers"][0]);
}

/// Quiet hours whose rows are emptied are no more.
#[test]
fn emptied_hours_are_removed() {
    let operator = Operator::new();
    let (list, api, body) = resource(&operator, "channel");
    let made = operator.made(api, &body);
    let path = format!("{list}/{}", made["id"].as_str().unwrap());
    let mut fields = operator.form(&path);
    set(&mut fields, "quiet_hours.hours.0.remove", "true");
    set(&mut fields, "quiet_hours.hours.1.remove", "true");
    operator.post(&path, &fields).expect(303);
    assert_eq!(operator.newest_of(api)["quiet_hours"], Value::Null);
}

/// A problem is shown at the field of its row, also behind rows that were left out.
#[test]
fn a_problem_is_shown_in_its_row() {
    let operator = Operator::new();
    let [anna, _] = operator.contacts();
    let mut fields = operator.form("/policies/escalations/new");
    set(&mut fields, "name", "Night");
    for (row, seconds) in [("1", "0"), ("4", "-5")] {
        set(&mut fields, &format!("steps.{row}.after_seconds"), seconds);
        set(&mut fields, &format!("steps.{row}.contact_ids"), anna.as_str().unwrap());
    }
    let page = operator.post("/policies/escalations/new", &fields).expect(422).body;
    assert!(page.contains("id=\"steps.1.after_seconds-problem\"") && page.contains("value=\"-5\""), "{page}");
    assert!(!page.contains("id=\"steps.0.after_seconds-problem\"") && !page.contains("role=\"alert\""));
    set(&mut fields, "steps.4.after_seconds", "soon");
    let page = operator.post("/policies/escalations/new", &fields).expect(422).body;
    assert!(page.contains("id=\"steps.1.after_seconds-problem\""), "{page}");
}

/// Services that are too many to be offered are entered by name, or by id where a name is not enough.
#[test]
fn many_services_are_entered_by_name() {
    let operator = Operator::new();
    let made = |name: &str| operator.made("/v1/services", &json!({"name": name, "check_type": "manual"}));
    let ids: Vec<Value> = (0..200).map(|number| made(&format!("Shop {number}"))["id"].clone()).collect();
    let choices = operator.user.get("/incidents/new").expect(200).body;
    assert!(choices.contains("type=\"checkbox\" name=\"service_ids\""), "they are still offered");
    let twin = made("Shop 7")["id"].clone();
    let mut fields = operator.form("/incidents/new");
    set(&mut fields, "title", "Outage");
    set(&mut fields, "message", "We look into it.");
    set(&mut fields, "service_ids", "Shop 3\r\nShop 7\r\nShip");
    let page = operator.post("/incidents/new", &fields).expect(422).body;
    assert!(
        page.contains("no service “Ship”") && page.contains("Several services are called “Shop 7”"),
        "{page}"
    );
    assert!(page.contains("Shop 3\r\nShop 7\r\nShip</textarea>"), "{page}");
    set(&mut fields, "service_ids", &format!("Shop 3\n{}", twin.as_str().unwrap()));
    operator.post("/incidents/new", &fields).expect(303);
    let incident = operator.newest_of("/v1/incidents");
    let named = incident["services"].as_array().unwrap();
    assert!(
        named.len() == 2 && named.iter().all(|one| one["id"] == ids[3] || one["id"] == twin),
        "{named:?}"
    );
    let page =
        operator.user.get(&format!("/incidents/{}/edit", incident["id"].as_str().unwrap())).expect(200).body;
    assert!(
        page.contains(&format!("Shop 3\n{}</textarea>", twin.as_str().unwrap()))
            || page.contains(&format!("{}\nShop 3</textarea>", twin.as_str().unwrap())),
        "{page}"
    );
}
