//! Events that are not incidents: they are sent once at their start and once at their end, and are listed.

use rstest::rstest;
use serde_json::{Value, json};

use crate::contacts::create_contact;
use crate::notification_channels::{create_channel, webhook};
use crate::oncall::{create_schedule, daily};
use crate::probes::unfriendly_target;
use crate::support::client::Client;
use crate::support::moments::{in_ms, moment};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::target::Target;
use crate::support::tls_target::TlsTarget;
use crate::support::{create, create_watched, eventually};

const DAY_SECONDS: i64 = 86_400;
/// Trouble of locations and of the process counts after a second.
const SOON: (&str, &str) = ("WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS", "1");

/// A channel that gets only this event.
fn sink_for(client: &Client, event: &str) -> Sink {
    let sink = Sink::start();
    create_channel(client, &webhook(&sink.url(), &json!({"events": [event]})));
    sink
}

/// The notices that a sink received: whether they are over, and their titles.
async fn until_notices(sink: &Sink, expected: &[(bool, &str)]) -> Vec<Value> {
    let found = eventually(&format!("{expected:?}"), || {
        let received = sink.received();
        (received.len() >= expected.len()).then_some(received)
    })
    .await;
    let notices: Vec<Value> = found.iter().map(|message| message.json()["data"]["notice"].clone()).collect();
    let said: Vec<(bool, &str)> =
        notices.iter().map(|notice| (notice["is_over"] == true, notice["title"].as_str().unwrap())).collect();
    assert_eq!(said, expected);
    assert!(notices.iter().all(|notice| notice["id"] == notices[0]["id"]), "{notices:?}");
    notices
}

fn ping(client: &Client, service: &str, path: &str) {
    let shown = client.get(&format!("/v1/services/{service}")).expect(200).data();
    let url = shown["heartbeat"]["ping_url"].as_str().unwrap();
    let address = format!("{}{path}", &url[url.find("/ping/").unwrap()..]);
    client.without_token().send("POST", &address, &[], b"").expect(200);
}

#[tokio::test]
async fn a_missed_heartbeat_causes_a_notice_until_the_next_ping() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "heartbeat.missed");
    let backup = create(&client, &json!({"name": "Backup", "check_type": "heartbeat"}));
    ping(&client, &backup, "/fail");
    let begin = until_notices(&sink, &[(false, "Backup has not reported")]).await;
    assert_eq!((&begin[0]["severity"], &begin[0]["is_over"]), (&json!("major"), &json!(false)));
    ping(&client, &backup, "");
    until_notices(&sink, &[(false, "Backup has not reported"), (true, "Backup reports again")]).await;
    let rows = client.get("/v1/notices?lasts=false").expect(200).data();
    assert_eq!((&rows[0]["event"], &rows[0]["about"]), (&json!("heartbeat.missed"), &json!(backup)));
    assert!(rows[0]["ended_at"].is_string(), "{rows}");
    assert_eq!(client.get("/v1/notices?lasts=true").expect(200).data(), json!([]));
}

/// Notices about a service are delayed while a maintenance covers it.
#[tokio::test]
async fn a_maintenance_delays_notices_of_its_services() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "heartbeat.missed");
    let [covered, other] =
        ["Covered", "Other"].map(|name| create(&client, &json!({"name": name, "check_type": "heartbeat"})));
    let window =
        json!({"title": "Work", "service_ids": [covered], "scheduled_start": "2026-01-01T00:00:00Z"});
    let window = create_maintenance(&client, &window);
    ping(&client, &covered, "/fail");
    ping(&client, &other, "/fail");
    until_notices(&sink, &[(false, "Other has not reported")]).await;
    client.post(&format!("/v1/maintenances/{window}/complete"), &json!({})).expect(200);
    let messages = eventually("the other one", || {
        let received = sink.received();
        (received.len() == 2).then_some(received)
    })
    .await;
    assert_eq!(messages[1].json()["data"]["notice"]["title"], "Covered has not reported");
}

fn create_maintenance(client: &Client, body: &Value) -> String {
    client.post("/v1/maintenances", body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_unavailable_history_causes_a_notice_to_the_operator() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_HISTORY_URL", &postgres.url()), SOON]);
    let (client, other) = (server.client(), server.tenant("business"));
    let sink = sink_for(&client, "monitor.trouble");
    let other_sink = sink_for(&other, "monitor.trouble");
    let target = Target::start();
    create(
        &client,
        &json!({"name": "Shop", "check_type": "http", "target": target.url(), "settings": {"interval_seconds": 1}}),
    );
    eventually("it is looked at", || (!target.requests().is_empty()).then_some(())).await;
    postgres.stop();
    let told = eventually("it is told", || sink.received().first().map(|message| message.json())).await;
    assert_eq!(told["data"]["notice"]["severity"], "critical", "{told}");
    postgres.start_again();
    let history = told["data"]["notice"]["id"].clone();
    let over = eventually("it is over", || {
        let all = sink.received();
        let mut notices = all.iter().map(|message| message.json()["data"]["notice"].clone());
        notices.find(|notice| notice["id"] == history && notice["is_over"] == true)
    })
    .await;
    assert_eq!(over["title"], "Over: Watchkeeper cannot write its history");
    assert!(other_sink.received().is_empty(), "it concerns nobody else");
}

/// A server with three locations.
fn three_locations() -> Server {
    let location = |number: u8| {
        format!("[[probe.locations]]\ncode = 'l{number}'\nsource_address = '127.0.9.{number}'\n")
    };
    Server::embedded(&(1..=3).map(location).collect::<String>(), &[SOON])
}

/// Services that only the second location reports down.
fn impair_second_location(client: &Client) {
    let target = unfriendly_target([127, 0, 9, 2].into());
    let settings = json!({"interval_seconds": 1, "retries": 0});
    for _ in 0..5 {
        create_watched(client, &format!("http://{target}/"), &settings);
    }
}

#[tokio::test]
async fn an_impaired_location_causes_a_notice_where_it_is_seen() {
    let server = three_locations();
    let (client, neighbour) = (server.client(), server.tenant("team"));
    let sink = sink_for(&client, "location.impaired");
    let other_sink = sink_for(&neighbour, "location.impaired");
    impair_second_location(&client);
    until_notices(&sink, &[(false, "Location l2 has lost its network")]).await;
    assert!(other_sink.received().is_empty(), "the neighbour has seen nothing");
}

/// A notice is listed also without a channel that could receive it.
#[tokio::test]
async fn an_impaired_location_is_listed_without_a_channel() {
    let server = three_locations();
    let client = server.client();
    impair_second_location(&client);
    let shown = eventually("it is shown", || {
        let rows = client.get("/v1/notices?lasts=true").expect(200).data();
        rows.as_array().unwrap().iter().find(|row| row["event"] == "location.impaired").cloned()
    })
    .await;
    assert_eq!(shown["title"], "Location l2 has lost its network");
    assert_eq!(client.get("/v1/notifications").expect(200).data(), json!([]));
}

#[tokio::test]
async fn a_burning_budget_causes_a_notice() {
    let server = Server::start();
    let client = server.client();
    let sink = sink_for(&client, "sla.burning");
    let shop = create_watched(&client, "http://127.0.0.1:9/", &json!({"interval_seconds": 1, "retries": 0}));
    let target =
        json!({"name": "Gold", "service_id": shop, "objective": 99.9, "period": "month", "time_zone": "UTC"});
    let target = client.post("/v1/sla-targets", &target).expect(201).data();
    let notices = until_notices(&sink, &[(false, "The error budget of Gold is being used up fast")]).await;
    assert_eq!(notices[0]["severity"], "critical");
    assert_eq!(
        notices[0]["message"], "In the last hour it was used up 1000.0 times as fast as allowed.",
        "it has been down since it was first looked at"
    );
    let rows = client.get("/v1/notices").expect(200).data();
    assert_eq!((&rows[0]["event"], &rows[0]["about"]), (&json!("sla.burning"), &target["id"]));
}

/// The day of the week after this number of days.
fn weekday(days: i64) -> &'static str {
    let day = in_ms(days * DAY_SECONDS * 1_000).day();
    // The first day of 1970 was a Thursday.
    let index = usize::try_from((day + 3).rem_euclid(7)).unwrap();
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][index]
}

/// Nobody is on duty while the only contact is away; the notice ends when another contact takes over. Each uncovered period causes
/// a notice; time outside of the hours of a layer does not.
#[tokio::test]
async fn each_uncovered_period_causes_a_notice_until_it_is_covered() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "oncall.gap");
    let [anna, ben] = ["Anna", "Ben"].map(|name| create_contact(&client, name, &json!({})));
    let mut always = daily(&[&anna]);
    always["starts_at"] = json!("2020-01-01T00:00:00Z");
    let mut office = always.clone();
    office["hours"] = json!([{"days": [weekday(2), weekday(4)], "from": "09:00", "to": "17:00"}]);
    let office = create_schedule(&client, "Office", &[office]);
    let shop = create_schedule(&client, "Shop", &[always]);
    let (from, to) = (moment(-DAY_SECONDS), moment(14 * DAY_SECONDS));
    let away = json!({"contact_id": anna, "starts_at": from, "ends_at": to});
    client.post("/v1/oncall/absences", &away).expect(201);
    let (office_gap, shop_gap) = ("Nobody is on duty for Office", "Nobody is on duty for Shop");
    eventually("all are told", || (sink.received().len() >= 3).then_some(())).await;
    let messages = sink.received();
    let mut titles: Vec<String> = messages
        .iter()
        .map(|message| message.json()["data"]["notice"]["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, [office_gap, office_gap, shop_gap]);
    let body = json!({"schedule_id": shop["id"], "contact_id": ben, "starts_at": from, "ends_at": to});
    client.post("/v1/oncall/overrides", &body).expect(201);
    let over = eventually("it is over", || sink.received().get(3).map(|message| message.json())).await;
    let notice = &over["data"]["notice"];
    assert_eq!(
        (&notice["title"], &notice["is_over"]),
        (&json!("Shop has somebody on duty again"), &json!(true))
    );
    let lasting = client.get("/v1/notices?lasts=true").expect(200).data();
    let about: Vec<&str> =
        lasting.as_array().unwrap().iter().map(|notice| notice["about"].as_str().unwrap()).collect();
    let office = office["id"].as_str().unwrap();
    assert_eq!(about.len(), 2, "{lasting}");
    assert!(about.iter().all(|about| about.starts_with(&format!("{office}/"))), "{lasting}");
    client.delete(&format!("/v1/oncall/schedules/{office}")).expect(200);
    eventually("both are over", || (sink.received().len() >= 6).then_some(())).await;
    let title = sink.received()[5].json()["data"]["notice"]["title"].clone();
    assert_eq!(title, format!("Over: {office_gap}"));
}

/// No message is sent, for there is no channel; the notices are listed all the same.
#[tokio::test]
async fn notices_can_be_listed_without_a_channel() {
    let client = Server::shared().tenant("business");
    let anna = create_contact(&client, "Anna", &json!({}));
    let mut always = daily(&[&anna]);
    always["starts_at"] = json!("2020-01-01T00:00:00Z");
    create_schedule(&client, "Shop", &[always]);
    let away = json!({"contact_id": anna, "starts_at": moment(-DAY_SECONDS), "ends_at": moment(DAY_SECONDS)});
    client.post("/v1/oncall/absences", &away).expect(201);
    let settings = json!({"interval_seconds": 30, "retries": 0});
    let shop = create_watched(&client, "http://127.0.0.1:9/", &settings);
    let target =
        json!({"name": "Gold", "service_id": shop, "objective": 99.9, "period": "month", "time_zone": "UTC"});
    client.post("/v1/sla-targets", &target).expect(201);
    let expected = ["oncall.gap", "sla.burning"];
    eventually("both are there", || {
        let lasting = client.get("/v1/notices?lasts=true").expect(200).data();
        let events: Vec<&str> =
            lasting.as_array().unwrap().iter().filter_map(|notice| notice["event"].as_str()).collect();
        expected.iter().all(|event| events.contains(event)).then_some(())
    })
    .await;
}

/// An expiring certificate causes one notice, whatever else the service fails by, and its renewal another.
#[tokio::test]
async fn an_expiring_certificate_causes_a_notice_until_it_is_renewed() {
    let target = TlsTarget::ending_in_days(5);
    let authority = target.authority().display().to_string();
    let server = Server::with("", &[("WATCHKEEPER_PROBE__CA_FILE", &authority)]);
    let client = server.client();
    let sink = sink_for(&client, "certificate.expiring");
    let shop = json!({"name": "Shop", "check_type": "ssl", "target": target.address(),
        "settings": {"interval_seconds": 3_600, "retries": 0}});
    let shop = create(&client, &shop);
    let notices = until_notices(&sink, &[(false, "The certificate of Shop expires soon")]).await;
    assert_eq!(notices[0]["severity"], "minor");
    assert!(notices[0]["message"].as_str().unwrap().contains("metadata.days_until_expiry"), "{}", notices[0]);
    // During a maintenance no notice is sent.
    client.post(&format!("/v1/services/{shop}/pause"), &json!({})).expect(200);
    target.renew(300);
    client.post(&format!("/v1/services/{shop}/resume"), &json!({})).expect(200);
    until_notices(
        &sink,
        &[(false, "The certificate of Shop expires soon"), (true, "The certificate of Shop was renewed")],
    )
    .await;
}

/// A notice about a service that is deleted is over, and says why.
#[tokio::test]
async fn a_deleted_service_ends_its_notices() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "heartbeat.missed");
    let backup = create(&client, &json!({"name": "Backup", "check_type": "heartbeat"}));
    ping(&client, &backup, "/fail");
    until_notices(&sink, &[(false, "Backup has not reported")]).await;
    client.delete(&format!("/v1/services/{backup}")).expect(200);
    let both = [(false, "Backup has not reported"), (true, "Over: Backup has not reported")];
    until_notices(&sink, &both).await;
}

#[rstest]
#[case("lasts=yes", "lasts")]
fn a_wrong_filter_is_refused(#[case] query: &str, #[case] key: &str) {
    let client = Server::shared().tenant("business");
    assert_eq!(client.get(&format!("/v1/notices?{query}")).expect(422).errors()[0].0, key);
}
