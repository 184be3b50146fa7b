//! What the console says about now, and what can be done about it at once: causes, messages, silences, queries, filled forms.

use serde_json::json;

use crate::console_boards::escalate;
use crate::console_service::down;
use crate::support::console::ConsoleUser;
use crate::support::moments::moment;
use crate::support::pages::{fresh, id_of};
use crate::support::server::Server;
use crate::support::{create_unconfigured, eventually};

/// The overview says why a service is down, and the message about it what the receiver answered.
#[tokio::test]
async fn causes_and_answers_are_shown() {
    let client = Server::shared().tenant("business");
    let sink = escalate(&client);
    let user = ConsoleUser::invited(&client, "viewer");
    down(&client).await;
    eventually("the overview shows the cause", || {
        let page = user.get("/").expect(200).body;
        let row = page.split_once("data-row").map(|(_, row)| row.split("</tr>").next().unwrap_or_default());
        row.is_some_and(|row| row.contains("Shop") && row.contains("Connection refused")).then_some(())
    })
    .await;
    let message = eventually("somebody was told", || {
        let told = client.get("/v1/notifications?status=delivered").expect(200).data();
        told.as_array().unwrap().iter().find(|one| one["tries"][0]["status_code"] == 204).cloned()
    })
    .await;
    let page = user.get(&format!("/channels/messages/{}", message["id"].as_str().unwrap())).expect(200).body;
    let incident = format!("href=\"/console/incidents/{}\"", message["incident_id"].as_str().unwrap());
    for part in [message["headline"].as_str().unwrap(), "HTTP 204", "Phones", &incident, "delivered"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    user.get("/channels/messages/nothing").expect(404);
    drop(sink);
}

/// A service shows the silence that covers it, with a button that ends it; a viewer sees it without the button.
#[test]
fn a_silence_is_ended_where_it_was_begun() {
    let client = Server::shared().tenant("business");
    let [user, viewer] = ["editor", "viewer"].map(|role| ConsoleUser::invited(&client, role));
    let id = create_unconfigured(&client);
    let path = format!("/services/{id}");
    assert!(!user.get(&path).expect(200).body.contains("/end-maintenance"));
    user.post(&format!("{path}/silence"), &[("hours", "1")]).expect(303);
    let running = client.get("/v1/maintenances?status=in_progress").expect(200).data();
    let maintenance = running[0]["id"].as_str().unwrap().to_owned();
    let page = user.get(&path).expect(200).body;
    assert!(page.contains(&format!("href=\"/console/maintenances/{maintenance}\"")), "{page}");
    assert!(page.contains("End now") && page.contains("Unplanned maintenance"), "{page}");
    let seen = viewer.get(&path).expect(200).body;
    assert!(seen.contains("Unplanned maintenance") && !seen.contains("End now"), "{seen}");
    let end = [("maintenance", &*maintenance)];
    viewer.post(&format!("{path}/end-maintenance"), &end).expect(403);
    user.post(&format!("{path}/end-maintenance"), &[("maintenance", "../services")]).expect(404);
    user.post(&format!("{path}/end-maintenance"), &end).expect(303);
    let ended = client.get(&format!("/v1/maintenances/{maintenance}")).expect(200).data();
    assert_eq!(ended["status"], "completed");
    assert!(!user.get(&path).expect(200).body.contains("End now"));
}

/// Forms for an incident or a maintenance can be opened with a service chosen; work starts and ends by itself by default.
#[test]
fn links_choose_the_service_of_a_form() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let id = create_unconfigured(&client);
    let page = user.get(&format!("/services/{id}")).expect(200).body;
    let chosen = format!("name=\"service_ids\" value=\"{id}\" checked");
    for form in ["/incidents/new", "/maintenances/new"] {
        assert!(page.contains(&format!("href=\"/console{form}?service_ids={id}\"")), "{form}: {page}");
        let shown = user.get(&format!("{form}?service_ids={id}&title=Bait")).expect(200).body;
        assert!(shown.contains(&chosen) && !shown.contains("Bait"), "{shown}");
        assert!(!user.get(form).expect(200).body.contains(&chosen));
    }
    let work = user.get("/maintenances/new").expect(200).body;
    for field in ["auto_start", "auto_complete", "notify_announcement"] {
        assert!(work.contains(&format!("name=\"{field}\" value=\"true\" checked")), "{field}: {work}");
    }
}

/// A misspelt filter finds nothing, so that nobody acts on services that were not meant; the word of a status alone is
/// searched as text, with a remark.
#[test]
fn a_misspelt_filter_finds_nothing() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    client.post("/v1/services", &json!({"name": "Lamp", "check_type": "manual"})).expect(201);
    let shown = |query: &str| user.get(&format!("/services?q={query}")).expect(200).body;
    assert!(shown("").contains(">Lamp</a>"));
    let page = shown("status%3Adwn");
    assert!(!page.contains(">Lamp</a>") && page.contains("“dwn” is unknown. Allowed:"), "{page}");
    assert!(!shown("-status%3Adwn").contains(">Lamp</a>"), "nor what it was to leave out");
    let page = shown("down");
    assert!(page.contains("status:down") && !page.contains(">Lamp</a>"), "{page}");
}

/// What is refused where there is no form says why; a message that was delivered is not offered to be sent again.
#[test]
fn a_refused_action_says_why() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let body = json!({"name": "Shop", "slug": fresh("refused")});
    let page = id_of(&client.post("/v1/statuspages", &body).expect(201).data());
    let domain = json!({"hostname": format!("{}.shop.example", fresh("status"))});
    let domains = format!("/v1/statuspages/{page}/custom-domains");
    let domain = id_of(&client.post(&domains, &domain).expect(201).data());
    let verify = || user.post(&format!("/statuspages/{page}/domains/{domain}/verify"), &[]);
    verify();
    let refused = verify().expect(422).body;
    assert!(refused.contains("role=\"alert\""), "{refused}");
}

/// The title of a silence is in the language of the organisation, whose visitors read it.
#[test]
fn a_silence_is_in_the_language_of_the_organisation() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    user.post("/settings", &[("what", "profile"), ("name", "Anna"), ("language", "de")]).expect(303);
    let id = create_unconfigured(&client);
    user.post(&format!("/services/{id}/silence"), &[("hours", "1")]).expect(303);
    let running = client.get("/v1/maintenances?status=in_progress").expect(200).data();
    assert_eq!(running[0]["title"], "Unplanned maintenance");
}

/// A button for one service ends no maintenance of several; one that has ended meanwhile is over.
#[test]
fn only_a_maintenance_of_one_service_is_ended_there() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let [one, two] = [create_unconfigured(&client), create_unconfigured(&client)];
    let start = |services: &[&str]| {
        let body = json!({"title": "Work", "type": "emergency", "scheduled_start": moment(0),
            "scheduled_end": moment(3_600), "auto_start": true, "service_ids": services});
        id_of(&client.post("/v1/maintenances", &body).expect(201).data())
    };
    let end = |service: &str, work: &str| {
        user.post(&format!("/services/{service}/end-maintenance"), &[("maintenance", work)]).expect(303)
    };
    let status =
        |work: &str| client.get(&format!("/v1/maintenances/{work}")).expect(200).data()["status"].clone();
    let (own, shared) = (start(&[&one]), start(&[&one, &two]));
    assert_eq!(end(&two, &own).header("location"), Some(&*format!("/console/maintenances/{own}")));
    assert_eq!(end(&one, &shared).header("location"), Some(&*format!("/console/maintenances/{shared}")));
    assert_eq!((status(&own), status(&shared)), (json!("in_progress"), json!("in_progress")));
    for _ in 0..2 {
        assert_eq!(end(&one, &own).header("location"), Some(&*format!("/console/services/{one}?done=done")));
    }
    assert_eq!(status(&own), "completed");
}
