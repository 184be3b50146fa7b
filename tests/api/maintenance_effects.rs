//! Effects of maintenances on services (contract 4.12, 4.3.7, 4.7, 4.3.9), and their automatic transitions.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::{in_ms, moment};
use crate::support::planned::{id_of, in_state, maintenance, operate, planned, shown, timeline};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{
    create, create_unconfigured, create_watched, eventually, ms_of_day, service, until_status,
};

fn effective(client: &Client, id: &str) -> Value {
    client.get(&service(id)).expect(200).data()["effective_status"].clone()
}

/// Contract 4.3.7, row 3: planned and emergency work masks the status, in lists as well, until it ends.
#[rstest]
fn a_covered_service_is_in_maintenance(
    #[values("planned", "emergency")] kind: &str,
    #[values("complete", "delete", "extend", "uncover")] ending: &str,
) {
    let server = Server::shared();
    let client = server.tenant("business");
    let (id, other) = (create_unconfigured(&client), create_unconfigured(&client));
    let made = planned(&client, &json!({"type": kind, "service_ids": [id]}));
    assert_eq!(effective(&client, &id), "unknown", "it has not begun");
    operate(&client, &id_of(&made), "start").expect(200);
    let path = maintenance(&id_of(&made));
    assert_eq!(
        (effective(&client, &id), effective(&client, &other)),
        (json!("maintenance"), json!("unknown"))
    );
    let list = client.get("/v1/services").expect(200).data();
    let seen = |id: &str| list.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(seen(&id)["effective_status"], "maintenance");
    assert_eq!(seen(&id)["status"], "unknown");
    assert_eq!(seen(&other)["effective_status"], "unknown");
    let renamed = client.patch(&service(&id), &json!({"name": "New"})).expect(200).data();
    assert_eq!(renamed["effective_status"], "maintenance");
    match ending {
        "complete" => operate(&client, &id_of(&made), "complete"),
        "delete" => client.delete(&path),
        "uncover" => client.patch(&path, &json!({"service_ids": [other]})),
        _ => client.post(
            &format!("{path}/extend"),
            &json!({"scheduled_start": moment(3_600), "scheduled_end": null}),
        ),
    }
    .expect(200);
    assert_eq!(effective(&client, &id), "unknown");
    assert_eq!(effective(&client, &other), if ending == "uncover" { "maintenance" } else { "unknown" });
}

/// Contract 4.3.7: an override and a pause win over a maintenance; a manual service is masked.
#[test]
fn an_override_and_a_pause_win_over_a_maintenance() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    in_state(&client, "in_progress", &[&id]);
    assert_eq!(effective(&client, &id), "maintenance");
    let paused = client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200).data();
    assert_eq!(paused["effective_status"], "paused");
    let stated = json!({"status": "down", "reason": "x"});
    client.post(&format!("{}/status-override", service(&id)), &stated).expect(200);
    assert_eq!(effective(&client, &id), "down");
    client.delete(&format!("{}/status-override", service(&id))).expect(200);
    let resumed = client.post(&format!("{}/resume", service(&id)), &json!({})).expect(200).data();
    assert_eq!(resumed["effective_status"], "maintenance");
}

/// Contract 4.12: the effect lasts until the last of several maintenances has ended.
#[test]
fn the_effect_lasts_until_the_last_maintenance_ends() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let (one, two) = (in_state(&client, "in_progress", &[&id]), in_state(&client, "in_progress", &[&id]));
    operate(&client, &one, "complete").expect(200);
    assert_eq!(effective(&client, &id), "maintenance");
    operate(&client, &two, "complete").expect(200);
    assert_eq!(effective(&client, &id), "unknown");
}

/// Contract 4.7: time in planned maintenance is left out, time in emergency maintenance is measured. The live figure, the
/// figure of the range and the days agree. A manual service without an override is measured as nothing, so a watched one
/// that is down shows the difference.
#[tokio::test]
async fn planned_time_is_left_out_and_emergency_time_is_measured() {
    let client = Server::shared_client();
    let mut target = Target::start();
    let watched = || create_watched(&client, &target.url(), &json!({"interval_seconds": 1}));
    let (planned_one, emergency_one) = (watched(), watched());
    for id in [&planned_one, &emergency_one] {
        until_status(&client, id, "up").await;
        eventually("some time is up", || uptime_of(&client, id).is_some().then_some(())).await;
    }
    for (kind, id) in [("planned", &planned_one), ("emergency", &emergency_one)] {
        let started =
            planned(&client, &json!({"type": kind, "service_ids": [id], "scheduled_start": moment(-1)}));
        assert_eq!(started["status"], "in_progress");
    }
    target.stop();
    for id in [&planned_one, &emergency_one] {
        let seen = until_status(&client, id, "down").await;
        assert_eq!(seen["effective_status"], "maintenance", "checks go on, their effect is masked");
    }
    eventually("the emergency is counted", || (uptime_of(&client, &emergency_one)? < 99.0).then_some(()))
        .await;
    for path in ["metrics?range=1h", "uptime?days=1"] {
        let figure = |id: &str| {
            let data = client.get(&format!("{}/{path}", service(id))).expect(200).data();
            data.get("uptime").or_else(|| data[0].get("uptime_percent")).and_then(Value::as_f64).unwrap()
        };
        // The stored figures follow the live ones after a moment.
        eventually(path, || (figure(&emergency_one) < 99.0).then_some(())).await;
        assert!((figure(&planned_one) - 100.0).abs() < f64::EPSILON, "{path}");
    }
    assert_eq!(uptime_of(&client, &planned_one), Some(100.0));
}

fn uptime_of(client: &Client, id: &str) -> Option<f64> {
    client.get(&service(id)).expect(200).data()["uptime_30d"].as_f64()
}

/// Contract 4.7: what planned maintenance leaves out stays left out after a restart and after the maintenance is deleted.
#[tokio::test]
async fn excluded_time_stays_excluded() {
    let mut server = Server::start();
    let mut target = Target::start();
    let id = create_watched(&server.client(), &target.url(), &json!({"interval_seconds": 1}));
    until_status(&server.client(), &id, "up").await;
    eventually("some time is up", || uptime_of(&server.client(), &id)).await;
    let made = in_state(&server.client(), "in_progress", &[&id]);
    target.stop();
    until_status(&server.client(), &id, "down").await;
    server.kill_and_restart();
    let client = server.client();
    until_status(&client, &id, "down").await;
    assert_eq!(effective(&client, &id), "maintenance");
    target.start_again();
    until_status(&client, &id, "up").await;
    client.delete(&maintenance(&made)).expect(200);
    // That it is up again is stored a moment after it is known; until then the time since the delete counts as down.
    eventually("only time outside the maintenance counts", || {
        let days = client.get(&format!("{}/uptime?days=1", service(&id))).expect(200).data();
        (days[0]["uptime_percent"] == 100.0 && days[0]["downtime_seconds"] == 0).then_some(())
    })
    .await;
    assert_eq!(uptime_of(&client, &id), Some(100.0));
}

/// Contract 4.11.2: automatic start and completion, at most five seconds after the planned instant.
#[tokio::test]
async fn a_maintenance_starts_and_completes_by_itself() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let (start, end) = (in_ms(1_500), in_ms(3_000));
    let made = planned(
        &client,
        &json!({"scheduled_start": start.to_string(), "scheduled_end": end.to_string(), "auto_complete": true,
            "service_ids": [id]}),
    );
    assert_eq!(made["status"], "scheduled");
    let made = id_of(&made);
    eventually("it starts", || (effective(&client, &id) == "maintenance").then_some(())).await;
    let ended = eventually("it completes", || {
        let seen = shown(&client, &made);
        (seen["status"] == "completed").then_some(seen)
    })
    .await;
    assert_eq!(effective(&client, &id), "unknown");
    for (actual, planned) in [("actual_start", "scheduled_start"), ("actual_end", "scheduled_end")] {
        let late_ms = ms_of_day(&ended[actual]) - ms_of_day(&ended[planned]);
        assert!((0..=5_000).contains(&late_ms) || late_ms < -80_000_000, "{actual} is {late_ms} ms late");
    }
    let statuses: Vec<String> = timeline(&ended).into_iter().map(|(status, ..)| status).collect();
    assert_eq!(statuses, ["scheduled", "in_progress", "completed"]);
}

/// Contract 4.11.2: without `auto_start` nothing starts, without `auto_complete` nothing ends by itself.
#[tokio::test]
async fn automatic_transitions_happen_only_when_enabled() {
    let client = Server::shared_client();
    let soon = |ms: i64| in_ms(ms).to_string();
    let waits = planned(&client, &json!({"scheduled_start": soon(500), "auto_start": false}));
    let runs = planned(&client, &json!({"scheduled_start": soon(-500), "scheduled_end": soon(700)}));
    let mark = planned(&client, &json!({"scheduled_start": soon(2_500)}));
    eventually("a later one has started", || {
        (shown(&client, &id_of(&mark))["status"] == "in_progress").then_some(())
    })
    .await;
    assert_eq!(shown(&client, &id_of(&waits))["status"], "scheduled");
    assert_eq!(shown(&client, &id_of(&runs))["status"], "in_progress");
}

/// Transitions missed while the process was down are caught up once.
#[tokio::test]
async fn missed_transitions_are_caught_up() {
    let mut server = Server::start();
    let mut lead_ms = 2_000;
    // A busy machine may take longer to stop the server than it is until the start; then there is nothing to make up for.
    let made = loop {
        let (start, end) = (in_ms(lead_ms), in_ms(lead_ms + 500));
        let made = planned(
            &server.client(),
            &json!({"scheduled_start": start.to_string(), "scheduled_end": end.to_string(), "auto_complete": true}),
        );
        assert_eq!(made["status"], "scheduled");
        assert_eq!(server.terminate().await, Some(0));
        // The answer shows whole seconds.
        if in_ms(1_000) < start {
            break made;
        }
        server.restart();
        lead_ms *= 2;
    };
    eventually("its end has passed", || (moment(0).as_str() > made["scheduled_end"].as_str()?).then_some(()))
        .await;
    server.restart();
    let client = server.client();
    let ended = eventually("it completes", || {
        let seen = shown(&client, &id_of(&made));
        (seen["status"] == "completed").then_some(seen)
    })
    .await;
    assert_eq!(timeline(&ended).len(), 3);
    assert!(ended["actual_start"].as_str() >= ended["scheduled_end"].as_str(), "it says when it was");
}

/// Contract 4.3.9: what the delete of a service means for its maintenances; with and without the flag.
#[rstest]
fn a_deleted_service_leaves_its_maintenances(
    #[values("scheduled", "in_progress", "completed", "cancelled")] status: &str,
    #[values(false, true)] is_shared: bool,
    #[values("", "0", "1", "TRUE")] flag: &str,
) {
    let client = Server::shared_client();
    let (id, other) = (create_unconfigured(&client), create_unconfigured(&client));
    let covered: &[&str] = if is_shared { &[&id, &other] } else { &[&id] };
    let made = in_state(&client, status, covered);
    let before = shown(&client, &made);
    let path = format!("{}?delete_orphaned_maintenances={flag}", service(&id));
    let cleanup = client.delete(&path).expect(200).data()["cleanup"].clone();
    let deletes = matches!(flag, "1" | "TRUE") && !is_shared;
    let cancels = !deletes && !is_shared && matches!(status, "scheduled" | "in_progress");
    let count = |happens: bool| json!(u8::from(happens));
    for (key, happens) in [
        ("maintenances_cancelled", cancels),
        ("maintenances_deleted", deletes),
        ("maintenances_detached", !cancels && !deletes),
    ] {
        assert_eq!(cleanup[key], count(happens), "{key}");
    }
    if deletes {
        client.get(&maintenance(&made)).expect(404);
        return;
    }
    let after = shown(&client, &made);
    let left = if is_shared { json!([{"id": other, "name": "Shop"}]) } else { json!([]) };
    assert_eq!(after["services"], left);
    assert_eq!(after["status"], if cancels { "cancelled" } else { status });
    assert_eq!(after["updates"], before["updates"]);
    if cancels && status == "in_progress" {
        assert!(after["actual_end"].is_string());
    } else {
        assert_eq!(after["actual_end"], before["actual_end"]);
    }
}

/// Contract 2.3, 4.3.9: a wrong flag or a missing permission leaves everything untouched.
#[test]
fn a_refused_delete_touches_nothing() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let owner = server.member(&organisation, "all");
    let id = create_unconfigured(&owner);
    let made = in_state(&owner, "in_progress", &[&id]);
    let before = shown(&owner, &made);
    let path = format!("{}?delete_orphaned_maintenances", service(&id));
    assert_eq!(owner.delete(&format!("{path}=yes")).errors()[0].0, "delete_orphaned_maintenances");
    let refused = server.member(&organisation, "services.delete").delete(&format!("{path}=1")).expect(403);
    assert_eq!(refused.message(), "This token is missing the permission 'maintenances.delete'.");
    assert_eq!(shown(&owner, &made), before);
    owner.get(&service(&id)).expect(200);
}
