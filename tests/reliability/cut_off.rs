//! Locations that lose their own network (reliability 10): no service is reported down, no incident starts, the others continue,
//! and all of it is shown. In a network namespace with a cable for each location, to a machine that has the target.

use std::time::Duration;

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use serde_json::{Value, json};
use tokio::time::Instant;
use watchkeeper::model::history::MeasuredStatus;

use crate::namespace::{Peer, inside, ip, may_make_namespaces};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{create_watched, eventually, service, until_status};

/// The target, behind every cable.
const TARGET: &str = "10.88.0.1";
const LOCATIONS: [&str; 3] = ["a", "b", "c"];

/// A server with three locations, each with an uplink of its own, and the services they check.
struct Scene {
    peer: Peer,
    server: Server,
    client: Client,
    /// Services, watched from all three.
    services: Vec<String>,
}

impl Scene {
    async fn lay() -> Self {
        let peer = Peer::start();
        peer.ip(&format!("addr add {TARGET}/32 dev lo"));
        for number in 1..=LOCATIONS.len() {
            let (near, gateway) = (format!("10.77.{number}.1"), format!("10.77.{number}.2"));
            let (end, other) = (format!("near{number}"), format!("far{number}"));
            peer.lay_cable(&end, &format!("{near}/24"), &other, &format!("{gateway}/24"));
            ip(&format!("rule add from {near} lookup {}", 100 + number));
            ip(&uplink(number));
        }
        for port in [80, 81, 82, 83] {
            peer.serve(&format!("{TARGET}:{port}"));
        }
        let server = Server::embedded(&settings(), &[]);
        let client = server.client();
        let watched = json!({"interval_seconds": 1, "timeout_seconds": 1, "retries": 0});
        let create = |port| create_watched(&client, &format!("http://{TARGET}:{port}/"), &watched);
        let services: Vec<String> = [80, 81, 82, 83].map(create).to_vec();
        for id in &services {
            until_status(&client, id, "up").await;
        }
        Self { peer, server, client, services }
    }

    /// Packets to this location are dropped silently.
    fn cut(&self, number: usize) {
        self.peer.ip(&format!("route add blackhole 10.77.{number}.1/32"));
    }

    fn mend(&self, number: usize) {
        self.peer.ip(&format!("route del blackhole 10.77.{number}.1/32"));
    }

    /// The location's cable is out: what leads through it is gone with it.
    fn pull_out(number: usize) {
        ip(&format!("link set near{number} down"));
    }

    fn plug_in(number: usize) {
        ip(&format!("link set near{number} up"));
        ip(&uplink(number));
    }

    /// The status of each location, in their order.
    fn standings(&self) -> Vec<String> {
        let probes = self.client.get("/v1/probes").expect(200).data();
        let status = |probe: &Value| probe["status"].as_str().unwrap().to_owned();
        probes.as_array().unwrap().iter().map(status).collect()
    }

    async fn until_standings(&self, expected: [&str; 3]) {
        let stand = || (self.standings() == expected).then_some(());
        eventually(&format!("the locations are {expected:?}"), stand).await;
    }

    fn statuses(&self) -> Vec<String> {
        let status = |id: &String| self.client.get(&service(id)).expect(200).data()["status"].clone();
        self.services.iter().map(status).map(|status| status.as_str().unwrap().to_owned()).collect()
    }

    /// Every status that any service was given.
    async fn changes(&self) -> Vec<MeasuredStatus> {
        let history = sea_orm::Database::connect(self.server.urls()[1].clone()).await.unwrap();
        let text = Statement::from_string(DbBackend::Sqlite, "SELECT to_status FROM status_change");
        let rows = history.query_all_raw(text).await.unwrap();
        let to = |row: &sea_orm::QueryResult| {
            MeasuredStatus::from_code(row.try_get::<i16>("", "to_status").unwrap()).unwrap()
        };
        rows.iter().map(to).collect()
    }

    /// The same, without a local fault in any status; and there is no incident.
    async fn harmless_changes(&self) -> Vec<MeasuredStatus> {
        let changes = self.changes().await;
        let troubles = [MeasuredStatus::Down, MeasuredStatus::Degraded];
        assert!(!changes.iter().any(|to| troubles.contains(to)), "{changes:?}");
        let incidents = self.incidents();
        assert!(incidents.is_empty(), "{incidents:?}");
        changes
    }

    /// Waits until this number of periods without data have started.
    async fn until_gaps(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let changes = self.changes().await;
            if gaps(&changes) == count {
                return;
            }
            assert!(Instant::now() < deadline, "{count} gaps are due: {changes:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Every incident, open or not.
    fn incidents(&self) -> Vec<Value> {
        self.client.get("/v1/incidents?per_page=100").expect(200).data().as_array().unwrap().clone()
    }
}

fn gaps(changes: &[MeasuredStatus]) -> usize {
    changes.iter().filter(|to| **to == MeasuredStatus::NoData).count()
}

/// The default route of a location, as arguments of `ip`.
fn uplink(number: usize) -> String {
    format!("route add default via 10.77.{number}.2 dev near{number} table {}", 100 + number)
}

fn settings() -> String {
    let location = |(index, code): (usize, &&str)| {
        let number = index + 1;
        format!(
            "[[probe.locations]]\ncode = '{code}'\nsource_address = '10.77.{number}.1'\n\
             reference_targets = ['10.77.{number}.2']\n"
        )
    };
    LOCATIONS.iter().enumerate().map(location).collect()
}

fn test<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    if may_make_namespaces() {
        inside(test);
    }
}

#[test]
fn the_remaining_locations_decide() {
    test(|| async {
        let scene = Scene::lay().await;
        scene.until_standings(["online"; 3]).await;
        scene.cut(2);
        scene.until_standings(["online", "impaired", "online"]).await;
        for _ in 0..50 {
            assert_eq!(scene.statuses(), ["up"; 4]);
            assert_eq!(scene.incidents(), [Value::Null; 0]);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let metrics = scene.client.get("/metrics").expect(200).body;
        assert!(metrics.contains("watchkeeper_location_impaired{location=\"b\"} 1\n"), "{metrics}");
        assert!(metrics.contains("watchkeeper_location_impaired{location=\"a\"} 0\n"), "{metrics}");
        scene.mend(2);
        scene.until_standings(["online"; 3]).await;
        scene.harmless_changes().await;
        let told = scene.server.log();
        assert_eq!(told.matches("location impaired").count(), 1, "{told}");
        assert_eq!(told.matches("location no longer impaired").count(), 1, "{told}");
    });
}

/// A real outage is reported by the remaining location: results of the others from before they lost their network do not
/// count, neither now nor when they are back.
#[test]
fn an_outage_is_detected_by_the_remaining_location() {
    test(|| async {
        let scene = Scene::lay().await;
        (1..=2).for_each(|number| scene.cut(number));
        scene.until_standings(["impaired", "impaired", "online"]).await;
        scene.peer.ip(&format!("addr del {TARGET}/32 dev lo"));
        for id in &scene.services {
            until_status(&scene.client, id, "down").await;
        }
        assert_eq!(scene.standings(), ["impaired", "impaired", "online"]);
        let services = |row: &Value| row["services"].as_array().unwrap().len();
        let affected = || scene.incidents().iter().map(services).sum::<usize>();
        eventually("each is in an incident", || (affected() == scene.services.len()).then_some(())).await;
        (1..=2).for_each(|number| scene.mend(number));
        scene.until_standings(["online"; 3]).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let changes = scene.changes().await;
        let edges = changes.iter().filter(|to| **to == MeasuredStatus::Down).count();
        assert_eq!((edges, changes.len()), (4, 8), "each was up, and is down since: {changes:?}");
    });
}

/// All cables of this machine at once.
async fn assert_no_target_down_without(lose: impl Fn(&Scene, usize), regain: impl Fn(&Scene, usize)) {
    let scene = Scene::lay().await;
    scene.until_standings(["online"; 3]).await;
    (1..=3).for_each(|number| lose(&scene, number));
    scene.until_standings(["impaired"; 3]).await;
    // A gap begins when nothing was measured for longer than a check and its retries may take.
    scene.until_gaps(scene.services.len()).await;
    (1..=3).for_each(|number| regain(&scene, number));
    scene.until_standings(["online"; 3]).await;
    for id in &scene.services {
        until_status(&scene.client, id, "up").await;
    }
    assert_eq!(gaps(&scene.harmless_changes().await), scene.services.len(), "the time is a gap");
    for id in &scene.services {
        let uptime = scene.client.get(&format!("{}/uptime?days=1", service(id))).expect(200).data();
        assert_eq!(uptime[0]["uptime_percent"], 100.0, "{uptime}");
    }
}

#[test]
fn a_machine_without_a_network_reports_no_target_down() {
    test(|| assert_no_target_down_without(Scene::cut, Scene::mend));
}

#[test]
fn a_machine_with_unplugged_cables_reports_no_target_down() {
    test(|| {
        assert_no_target_down_without(|_, number| Scene::pull_out(number), |_, number| Scene::plug_in(number))
    });
}
