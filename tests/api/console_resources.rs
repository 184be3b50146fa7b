//! Screens of resources in the console: what they offer and show.

use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::console::ConsoleUser;
use crate::support::html_form::{FormField, fields_of, set};
use crate::support::pages::fresh;
use crate::support::server::Server;

/// An owner at the console, and the API of the same organisation.
struct Owner {
    user: ConsoleUser,
    client: Client,
}

impl Owner {
    fn new() -> Self {
        let client = Server::shared().tenant("business");
        Self { user: ConsoleUser::invited(&client, "owner"), client }
    }

    fn page(&self, path: &str) -> String {
        self.user.get(path).expect(200).body
    }

    fn post(&self, path: &str, fields: &[FormField]) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.user.post(path, &fields)
    }

    fn made(&self, api: &str, body: &Value) -> String {
        self.client.post(api, body).expect(201).data()["id"].as_str().unwrap().to_owned()
    }
}

/// The signing secret of a webhook is drawn if none is entered, and shown once; a form that is sent twice makes one channel.
#[test]
fn a_signing_secret_is_drawn() {
    let owner = Owner::new();
    let page = owner.page("/channels/new?kind=webhook");
    let input = page.split_once("name=\"settings.secret\"").unwrap().1.split_once('>').unwrap().0;
    assert!(!input.contains("required"), "{input}");
    let mut fields = fields_of(&page, "/channels/new");
    set(&mut fields, "name", "Program");
    set(&mut fields, "settings.url", "https://a.example/hook");
    let shown = owner.post("/channels/new", &fields).expect(200).body;
    let secret = shown.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0;
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{shown}");
    assert!(
        shown.contains("Copy the signing secret now") && shown.contains("<dt>Signing secret</dt>"),
        "{shown}"
    );
    assert_eq!(owner.post("/channels/new", &fields).expect(200).body, shown, "it is the same channel");
    let channels = owner.client.get("/v1/notification-channels").expect(200).data();
    assert_eq!(channels.as_array().unwrap().len(), 1, "{channels}");
    let path = format!("/channels/{}", channels[0]["id"].as_str().unwrap());
    assert!(!owner.page(&path).contains(secret), "it is shown once");
}

/// A secret that was entered is not shown again.
#[test]
fn an_entered_secret_counts() {
    let owner = Owner::new();
    let mut fields = fields_of(&owner.page("/channels/new?kind=webhook"), "/channels/new");
    set(&mut fields, "name", "Program");
    set(&mut fields, "settings.url", "https://a.example/hook");
    set(&mut fields, "settings.secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    owner.post("/channels/new", &fields).expect(303);
}

/// A page that is published can be withdrawn, and the other way round.
#[test]
fn only_actions_with_an_effect_are_offered() {
    let owner = Owner::new();
    let page = owner.made("/v1/statuspages", &json!({"name": "Shop", "slug": fresh("actions")}));
    for path in [format!("/statuspages/{page}"), format!("/statuspages/{page}/edit")] {
        for action in ["unpublish", "publish"] {
            let html = owner.page(&path);
            let offered = ["publish", "unpublish"].map(|one| html.contains(&format!("/{page}/{one}\"")));
            assert_eq!(offered, [action == "publish", action == "unpublish"], "{path} {action}");
            owner.post(&format!("/statuspages/{page}/{action}"), &[]).expect(303);
        }
    }
}

/// What somebody has entered is not translated, even if it is a word of the API.
#[test]
fn names_are_not_translated() {
    let owner = Owner::new();
    owner.made("/v1/incident-policies", &json!({"name": "down", "down_severity": "major"}));
    let german = [("what", "profile"), ("name", "Anna"), ("language", "de")];
    owner.user.post("/settings", &german).expect(303);
    let list = owner.page("/policies");
    assert!(list.contains(">down</a>") && !list.contains("ausgefallen</a>"), "{list}");
    let slug = fresh("public");
    let page = owner.made("/v1/statuspages", &json!({"name": "Shop", "slug": slug}));
    let html = owner.page(&format!("/statuspages/{page}/edit"));
    assert!(html.contains("<dt>Wer die Seite sieht</dt><dd>öffentlich</dd>"), "{html}");
    assert!(html.contains("<dt>Name in der Adresse (Slug)</dt>"), "{html}");
}

/// A change of several services says what is missing, and changes nothing.
#[test]
fn a_change_of_no_service_is_refused() {
    let owner = Owner::new();
    let service = owner.made("/v1/services", &json!({"name": "Shop", "check_type": "manual"}));
    let nothing = "No service was chosen";
    for (fields, expected) in [
        (vec![("action", "pause"), ("q", "shop")], nothing),
        (vec![("action", "delete"), ("q", "shop")], nothing),
        (vec![("action", "tag"), ("q", "shop"), ("id", &service)], "Enter the tag"),
    ] {
        let answer = owner.user.post("/services", &fields).expect(303);
        let path = answer.header("location").unwrap().strip_prefix("/console").unwrap().to_owned();
        assert!(path.ends_with("&q=shop"), "{path}");
        let list = owner.page(&path);
        let alert = list.split_once("role=\"alert\">").expect("a problem").1;
        assert!(alert.starts_with(expected) && !list.contains("Done."), "{list}");
    }
    let stored = owner.client.get(&format!("/v1/services/{service}")).expect(200).data();
    assert_eq!((&stored["status"] == "paused", &stored["tags"]), (false, &json!([])));
}
