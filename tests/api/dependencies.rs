//! `depends_on` of a service, and what it means for those that fail behind another one.

use rstest::rstest;
use serde_json::{Value, json};

use crate::foreign_ids::{Chance, seed};
use crate::support::client::{Client, exchange};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{UNKNOWN_ID, create, eventually, service, until_status};

fn manual(client: &Client, name: &str, more: &Value) -> String {
    let mut body = json!({"name": name, "check_type": "manual"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    create(client, &body)
}

fn watched(client: &Client, name: &str, target: &Target, depends_on: &[&str]) -> String {
    let body = json!({"name": name, "check_type": "http", "target": target.url(), "depends_on": depends_on,
        "settings": {"interval_seconds": 1, "retries": 0}});
    create(client, &body)
}

fn depends_on(client: &Client, id: &str) -> Value {
    client.get(&service(id)).expect(200).data()["depends_on"].clone()
}

/// Services by id, tags by id or name; the order stays, repetitions go, `[]` clears.
#[test]
fn a_service_depends_on_services_and_tags() {
    let client = Server::shared().tenant("business");
    let gateway = manual(&client, "Gateway", &json!({"tags": ["net:core"]}));
    let tag = client.get("/v1/tags").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let id =
        manual(&client, "Shop", &json!({"depends_on": ["net:core", gateway, tag, format!(" {gateway} ")]}));
    let expected = json!([
        {"kind": "tag", "id": tag, "name": "net:core"},
        {"kind": "service", "id": gateway, "name": "Gateway"},
    ]);
    assert_eq!(depends_on(&client, &id), expected);
    assert_eq!(client.get(&service(&id)).expect(200).data()["unreachable"], Value::Null);
    client.patch(&service(&id), &json!({"name": "Shop front"})).expect(200);
    assert_eq!(depends_on(&client, &id), expected, "what is not sent stays");
    let changed = client.patch(&service(&id), &json!({"depends_on": [gateway]})).expect(200).data();
    assert_eq!(changed["depends_on"].as_array().unwrap().len(), 1);
    client.delete(&service(&gateway)).expect(200);
    assert_eq!(depends_on(&client, &id), json!([]), "what is gone is nothing to depend on");
    client.patch(&service(&id), &json!({"depends_on": [tag]})).expect(200);
    let refused = client.delete(&format!("/v1/tags/{tag}")).expect(422).json();
    assert_eq!(refused["errors"], json!({"tag": ["This tag is still in use: service Shop front."]}));
    client.patch(&service(&id), &json!({"depends_on": []})).expect(200);
    client.delete(&format!("/v1/tags/{tag}")).expect(200);
}

#[rstest]
#[case(json!("x"), "depends_on", "This value must be a list.")]
#[case(json!(null), "depends_on", "This field must not be null.")]
#[case(json!([1]), "depends_on.0", "This value must be a string.")]
#[case(json!([UNKNOWN_ID]), "depends_on.0", "No service or tag with the ID or name AAAAAAAAAAAAAAAAAAAAA exists.")]
#[case(json!(["no:tag"]), "depends_on.0", "No service or tag with the ID or name no:tag exists.")]
#[case(json!(vec!["x"; 21]), "depends_on", "Send at most 20 entries.")]
fn an_invalid_entry_is_named(#[case] sent: Value, #[case] field: &str, #[case] message: &str) {
    let client = Server::shared().tenant("business");
    let body = json!({"name": "Shop", "check_type": "manual", "depends_on": sent});
    let errors = client.post("/v1/services", &body).expect(422).json()["errors"].clone();
    assert_eq!(errors, json!({field: [message]}));
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 0);
}

/// Contract 1.5: a service or tag of another organisation is not found.
#[test]
fn a_dependency_on_a_foreign_service_is_refused() {
    let server = Server::shared();
    let (ours, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = manual(&theirs, "theirs", &json!({"tags": ["theirs"]}));
    for entry in [foreign.as_str(), "theirs"] {
        let body = json!({"name": "Shop", "check_type": "manual", "depends_on": [entry]});
        let errors = ours.post("/v1/services", &body).expect(422).json()["errors"].clone();
        let message = format!("No service or tag with the ID or name {entry} exists.");
        assert_eq!(errors, json!({"depends_on.0": [message]}));
    }
}

/// A circle is refused and named, whether a service or a tag closes it; nothing is stored.
#[test]
fn a_circular_dependency_is_refused() {
    let client = Server::shared().tenant("business");
    let a = manual(&client, "a", &json!({"tags": ["other"]}));
    let b = manual(&client, "b", &json!({"depends_on": [a]}));
    let c = manual(&client, "c", &json!({"depends_on": [b]}));
    let refused = client.patch(&service(&a), &json!({"depends_on": [c]})).expect(422).json();
    let message = refused["errors"]["depends_on"][0].as_str().unwrap().to_owned();
    assert_eq!(message, "These services would depend on each other: a → c → b → a.");
    assert_eq!(depends_on(&client, &a), json!([]));
    client.patch(&service(&a), &json!({"depends_on": ["other"]})).expect(200);
    let refused = client.patch(&service(&c), &json!({"tags": ["other"]})).expect(422).json();
    assert!(refused["errors"]["tags"][0].as_str().unwrap().starts_with("These services would"), "{refused}");
    let refused = client.patch(&service(&a), &json!({"depends_on": [c, a]})).expect(422).json();
    assert_eq!(refused["errors"], json!({"depends_on.1": ["A service cannot depend on itself."]}));
    assert_eq!(client.get(&service(&c)).expect(200).data()["tags"], json!([]));
}

/// Unreachable ends with its cause: when the service depends on another one, when its status is unknown, or when its dependency is
/// deleted.
#[tokio::test]
async fn unreachable_ends_with_its_cause() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let gateway = watched(&client, "Gateway", &target, &[]);
    let behind: Vec<String> =
        (0..3).map(|number| watched(&client, &format!("behind {number}"), &target, &[&gateway])).collect();
    for id in behind.iter().chain([&gateway]) {
        until_status(&client, id, "up").await;
    }
    target.stop();
    let unreachable = |id: &str| client.get(&service(id)).expect(200).data()["unreachable"].clone();
    for id in &behind {
        eventually("it is unreachable", || (!unreachable(id).is_null()).then_some(())).await;
    }
    let left_out = |id: &str| {
        let days = client.get(&format!("{}/uptime?days=1", service(id))).expect(200).data();
        days[0]["unreachable_seconds"].as_i64().unwrap()
    };
    client.post(&format!("{}/pause", service(&behind[0])), &json!({})).expect(200);
    eventually("nobody knows of it", || unreachable(&behind[0]).is_null().then_some(())).await;
    let at_pause = left_out(&behind[0]);
    client.patch(&service(&behind[1]), &json!({"depends_on": []})).expect(200);
    eventually("it depends on nobody", || unreachable(&behind[1]).is_null().then_some(())).await;
    client.delete(&service(&gateway)).expect(200);
    eventually("nobody is there to depend on", || unreachable(&behind[2]).is_null().then_some(())).await;
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(left_out(&behind[0]), at_pause, "a pause is no time in which it cannot be reached");
    client.post(&format!("{}/resume", service(&behind[0])), &json!({})).expect(200);
    until_status(&client, &behind[0], "down").await;
    assert_eq!((left_out(&behind[0]), unreachable(&behind[0])), (at_pause, Value::Null));
    eventually("each has an incident of its own", || {
        let incidents = client.get("/v1/incidents?resolved=false").expect(200).json();
        let affected = incidents["data"].as_array().unwrap().iter();
        let affected: usize =
            affected.map(|incident| incident["services"].as_array().map_or(0, Vec::len)).sum();
        (affected >= 3).then_some(())
    })
    .await;
}

/// A gateway and a shop behind it with these further settings, by their ids: both were up, now both fail, and the shop is
/// unreachable.
async fn both_fail(
    client: &Client,
    (line, shop): (&mut Target, &mut Target),
    more: &Value,
) -> (String, String) {
    let gateway = watched(client, "Gateway", line, &[]);
    let mut settings = json!({"interval_seconds": 1, "retries": 0});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = json!({"name": "Shop", "check_type": "http", "target": shop.url(), "depends_on": [gateway],
        "settings": settings});
    let behind = create(client, &body);
    for id in [&gateway, &behind] {
        until_status(client, id, "up").await;
    }
    line.stop();
    shop.stop();
    eventually("it is unreachable", || {
        let seen = client.get(&service(&behind)).expect(200).data();
        (!seen["unreachable"].is_null()).then_some(())
    })
    .await;
    (gateway, behind)
}

/// The dependency is back, but the recheck of the service takes long and fails: its own outage starts only then.
#[tokio::test]
async fn a_service_is_unreachable_until_its_own_recheck() {
    let server = Server::start();
    let client = server.client();
    let (mut line, mut shop) = (Target::start(), Target::start());
    let (gateway, behind) = both_fail(&client, (&mut line, &mut shop), &json!({"timeout_seconds": 4})).await;
    let unreachable = || client.get(&service(&behind)).expect(200).data()["unreachable"].clone();
    shop.hang();
    shop.start_again();
    line.start_again();
    until_status(&client, &gateway, "up").await;
    eventually("it is to look, and nobody else is down", || {
        (unreachable()["because_of"] == json!([])).then_some(())
    })
    .await;
    let left_out = || {
        let days = client.get(&format!("{}/uptime?days=1", service(&behind))).expect(200).data();
        days[0]["unreachable_seconds"].as_i64().unwrap()
    };
    let at_return = left_out();
    eventually("it has looked", || unreachable().is_null().then_some(())).await;
    assert!(left_out() > at_return + 1, "{} then {}", at_return, left_out());
    eventually("an incident tells of it", || {
        let incidents = client.get("/v1/incidents").expect(200).json();
        let mut affected =
            incidents["data"].as_array().unwrap().iter().flat_map(|one| one["services"].as_array().unwrap());
        affected.any(|service| service["id"] == behind.as_str()).then_some(())
    })
    .await;
}

/// A service that needs two good checks to recover is not reported as down after the first one.
#[tokio::test]
async fn a_slowly_recovering_dependent_stays_unreachable() {
    let server = Server::start();
    let client = server.client();
    let (mut line, mut shop) = (Target::start(), Target::start());
    let (_, behind) = both_fail(&client, (&mut line, &mut shop), &json!({"recovery_checks": 4})).await;
    let seen = || client.get(&service(&behind)).expect(200).data();
    line.start_again();
    shop.start_again();
    eventually("it is up", || {
        let seen = seen();
        (seen["status"] == "up" && seen["unreachable"].is_null()).then_some(())
    })
    .await;
    let days = client.get(&format!("{}/uptime?days=1", service(&behind))).expect(200).data();
    assert_eq!(days[0]["downtime_seconds"], 0, "{days}");
}

/// Services behind the parent.
const CHILDREN: usize = 200;

fn is_down(client: &Client, id: &str) -> bool {
    client.get(&service(id)).expect(200).data()["status"] == "down"
}

/// The parent fails too, and is as likely to be noticed last: each reports its own outage, one after the other. Until then it
/// answers nobody: a response after the failure of a child would make it a parent that works.
#[tokio::test]
async fn dependents_that_fail_in_any_order_are_one_incident() {
    let seed = seed();
    println!("WATCHKEEPER_TEST_SEED={seed}");
    let mut chance = Chance(seed);
    let server = Server::start();
    let client = server.client();
    let policy = client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let each = json!({"group_by": "none", "open_after_seconds": 0, "resolve_after_seconds": 0});
    client.patch(&format!("/v1/incident-policies/{policy}"), &each).expect(200);
    let mut targets: Vec<Target> = (0..=CHILDREN).map(|_| Target::start()).collect();
    let mut services = vec![watched(&client, "Parent", &targets[0], &[])];
    for (number, target) in targets.iter().enumerate().skip(1) {
        let id = watched(&client, &format!("child {number}"), target, &[services[0].as_str()]);
        services.push(id);
    }
    for id in &services {
        until_status(&client, id, "up").await;
    }
    let mut order: Vec<usize> = (0..=CHILDREN).collect();
    for end in (1..order.len()).rev() {
        order.swap(end, chance.below(end + 1));
    }
    println!("the parent is number {:?} to fail", order.iter().position(|number| *number == 0));
    targets[0].hang();
    for number in &order {
        targets[*number].stop();
    }
    eventually("all are down", || services.iter().all(|id| is_down(&client, id)).then_some(())).await;
    eventually("the parent's incident is open", || {
        let incidents = client.get("/v1/incidents").expect(200).json();
        (incidents["meta"]["total"] != 0).then_some(())
    })
    .await;
    // A child that is known to be unreachable opens none any more.
    eventually("all children are unreachable", || {
        let is_unreachable = |id| !client.get(&service(id)).expect(200).data()["unreachable"].is_null();
        services[1..].iter().all(|id| is_unreachable(id)).then_some(())
    })
    .await;
    let incidents = client.get("/v1/incidents").expect(200).json();
    assert_eq!(incidents["meta"]["total"], 1, "WATCHKEEPER_TEST_SEED={seed}: {incidents}");
    assert_eq!(incidents["data"][0]["title"], "Parent is down", "WATCHKEEPER_TEST_SEED={seed}");
}

/// Many services behind one that dies: one incident, whichever fails first; their time counts for nothing meanwhile.
#[tokio::test]
async fn services_behind_a_failed_dependency_are_unreachable() {
    let server = Server::start();
    let client = server.client();
    let policy = client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let each = json!({"group_by": "none", "resolve_after_seconds": 0});
    client.patch(&format!("/v1/incident-policies/{policy}"), &each).expect(200);
    let mut target = Target::start();
    let gateway = watched(&client, "Gateway", &target, &[]);
    let behind: Vec<String> =
        (0..200).map(|number| watched(&client, &format!("behind {number}"), &target, &[&gateway])).collect();
    for id in behind.iter().chain([&gateway]) {
        until_status(&client, id, "up").await;
    }
    target.stop();
    for id in behind.iter().chain([&gateway]) {
        until_status(&client, id, "down").await;
    }
    let seen = eventually("it is unreachable", || {
        let seen = client.get(&service(&behind[199])).expect(200).data();
        (!seen["unreachable"].is_null()).then_some(seen)
    })
    .await;
    assert_eq!(seen["unreachable"]["because_of"], json!([{"id": gateway, "name": "Gateway"}]));
    assert_eq!(seen["status"], "down", "what was measured stays");
    let page =
        client.post("/v1/statuspages", &json!({"name": "Our lines", "slug": "our-lines"})).expect(201).data();
    let path = format!("/v1/statuspages/{}", page["id"].as_str().unwrap());
    let shown = |id: &str, name: &str| {
        let component = json!({"name": name, "service_id": id});
        client.post(&format!("{path}/components"), &component).expect(201);
        let head = "GET / HTTP/1.1\r\nHost: our-lines.localhost\r\nConnection: close\r\n\r\n";
        exchange(client.address, head.as_bytes()).expect(200).body
    };
    let html = shown(&behind[0], "Shop");
    assert!(html.contains("Cannot be reached because of another system."), "{html}");
    let html = shown(&gateway, "Line");
    assert!(html.contains("Cannot be reached because of Line."), "the name that visitors know: {html}");
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let incidents = client.get("/v1/incidents").expect(200).json();
    assert_eq!(incidents["meta"]["total"], 1, "{incidents}");
    assert_eq!(incidents["data"][0]["title"], "Gateway is down");
    let uptime = |id: &str| client.get(&service(id)).expect(200).data()["uptime_30d"].as_f64().unwrap();
    eventually("the time counts for nothing while it lasts", || (uptime(&behind[0]) > 99.999).then_some(()))
        .await;
    assert!(uptime(&gateway) < 99.0, "{}", uptime(&gateway));
    target.start_again();
    for id in &behind {
        until_status(&client, id, "up").await;
    }
    eventually("all can be reached", || {
        let unreachable = |id: &String| !client.get(&service(id)).expect(200).data()["unreachable"].is_null();
        (!behind.iter().any(unreachable)).then_some(())
    })
    .await;
    let today = client.get(&format!("{}/uptime?days=1", service(&behind[0]))).expect(200).data();
    let of_gateway = client.get(&format!("{}/uptime?days=1", service(&gateway))).expect(200).data();
    let down = |days: &Value| days[0]["downtime_seconds"].as_i64().unwrap();
    assert!(
        down(&today) == 0 && down(&of_gateway) >= 2,
        "it is back at its first look: {today} {of_gateway}"
    );
    let left_out = |days: &Value| days[0]["unreachable_seconds"].as_i64().unwrap();
    assert!(
        left_out(&today) >= 2 && left_out(&of_gateway) == 0,
        "why it counts for nothing: {today} {of_gateway}"
    );
    let incidents = client.get("/v1/incidents").expect(200).json();
    assert_eq!(incidents["meta"]["total"], 1, "{incidents}");
}
