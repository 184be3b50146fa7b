//! Depth of the history (contract 3.1, 4.8): 90 days, the retention of the plan, or the first settings, whichever is latest.

use rstest::rstest;
use serde_json::{Value, json};
use watchkeeper::clock::{DAY_MS, Timestamp};

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::{create, service, until_checks};

const MARGIN_MS: i64 = 3_600_000;

/// A stopped server with a service of an organisation on a plan, whose one own result is stored.
struct Stopped {
    server: Server,
    owner: Client,
    id: String,
}

impl Stopped {
    /// The owner, asking the process that runs now.
    fn client(&self) -> Client {
        Client { token: self.owner.token.clone(), ..self.server.client() }
    }
}

async fn stopped(settings: &str) -> Stopped {
    let mut server = Server::with(settings, &[]);
    let owner = server.tenant("business");
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    let body = json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let id = create(&owner, &body);
    until_checks(&owner, &id, 1).await;
    server.kill();
    Stopped { server, owner, id }
}

/// Imports one result for each of these times, and starts the server again.
fn import(Stopped { server, id, .. }: &mut Stopped, times: &[Timestamp]) {
    let path = server.data().join("past.csv");
    let lines = times.iter().map(|at| format!("{id},fra,{at},up,80\n"));
    let text: String =
        std::iter::once("service,location,time,status,response_time_ms\n".to_owned()).chain(lines).collect();
    std::fs::write(&path, text).unwrap();
    server.command_json(&["import", "--interval", "60", path.to_str().unwrap()]);
    server.restart();
}

/// Times of the imported results that are shown, newest first.
fn shown(client: &Client, id: &str, query: &str) -> Vec<Value> {
    let path = format!("{}/checks?probe=fra&per_page=100{query}", service(id));
    let rows = client.get(&path).expect(200).data();
    rows.as_array().unwrap().iter().map(|row| row["checked_at"].clone()).collect()
}

fn texts(times: &[Timestamp]) -> Vec<Value> {
    times.iter().map(|at| json!(at.to_string())).collect()
}

/// One hour on either side of the start; a `from` before it is raised silently, and figures are cut as well.
#[rstest]
#[case::at_most_ninety_days("", 90)]
#[case::retention_of_the_plan("[plans.business]\nretention_days = 30\n", 30)]
#[tokio::test]
async fn the_history_is_limited_by_the_plan_and_ninety_days(#[case] settings: &str, #[case] days: i64) {
    let mut stopped = stopped(settings).await;
    let start = in_ms(-days * DAY_MS);
    let (before, after, later) = (start.plus_ms(-MARGIN_MS), start.plus_ms(MARGIN_MS), in_ms(-2 * DAY_MS));
    import(&mut stopped, &[before, after, later]);
    let (client, id) = (stopped.client(), &stopped.id);
    assert_eq!(shown(&client, id, ""), texts(&[later, after]));
    assert_eq!(shown(&client, id, "&from=1970-01-01"), texts(&[later, after]));
    let to = format!("&to={}", start.plus_ms(-MARGIN_MS / 2));
    assert_eq!(shown(&client, id, &to), Vec::<Value>::new());
    if days < 90 {
        let uptime = client.get(&format!("{}/uptime?days=90", service(id))).expect(200).data();
        let of = |at: Timestamp| {
            let date = at.to_string()[..10].to_owned();
            let days = uptime.as_array().unwrap();
            days.iter().find(|day| day["date"] == date).map(|day| day["status"].clone()).unwrap()
        };
        assert_eq!(of(start.plus_ms(-2 * DAY_MS)), "no_data");
        assert_eq!(of(later), "up");
    }
}

/// Measurements from before the first settings are not part of the history of a service.
#[tokio::test]
async fn the_history_starts_with_the_first_settings() {
    let mut stopped = stopped("").await;
    let (before, after) = (in_ms(-5 * DAY_MS), in_ms(-3 * DAY_MS));
    import(&mut stopped, &[before, after]);
    assert_eq!(
        shown(&stopped.client(), &stopped.id, ""),
        texts(&[after, before]),
        "an import begins the history"
    );
    stopped.server.kill();
    let configured_at = in_ms(-4 * DAY_MS);
    let database = stopped.server.main_database().await;
    let statement = format!("UPDATE service SET configured_at = {}", configured_at.ms());
    sea_orm::ConnectionTrait::execute_unprepared(&database, &statement).await.unwrap();
    database.close().await.unwrap();
    stopped.server.restart();
    let (client, id) = (stopped.client(), &stopped.id);
    assert_eq!(shown(&client, id, ""), texts(&[after]));
    assert_eq!(shown(&client, id, "&from=1970-01-01"), texts(&[after]));
}
