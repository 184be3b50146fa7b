//! A big outage costs as much for each service as a small one: services with a common tag fail together, are one incident, and come
//! back.
//!
//! The services are rows that the test writes, and so are their changes of status; the server makes of them what it would make of
//! measured ones. The quick form compares 500 with 5,000 services on both databases; with `WATCHKEEPER_ENDURE=1` 1,000, 10,000 and
//! 100,000, with a table of what each cost.

use std::cell::Cell;
use std::time::Duration;

use rstest::rstest;
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait as _, DatabaseConnection, DbBackend, EntityTrait as _,
    IdenStatic as _, Iterable as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, Statement,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use watchkeeper_entities::{incident, incident_service, service};

use crate::crowd::now;
use crate::endures;
use crate::notifications::cpu;
use crate::support::client::Client;
use crate::support::create;
use crate::support::postgres::Postgres;
use crate::support::server::Server;

const QUICK: &[usize] = &[500, 5_000];
const LONG: &[usize] = &[1_000, 10_000, 100_000];
/// Maximum cost ratio of a service of the largest outage to one of the smallest, which shares the fixed costs with few.
const DEARER: f64 = 2.0;
/// Milliseconds within which all services fail, or recover.
const SPREAD_MS: i64 = 10_000;
/// Rows in one statement.
const AT_ONCE: usize = 500;
/// The longest that a part of an outage may take, on a slow machine and in a debug build.
const LONGEST: Duration = Duration::from_secs(900);
/// The wait between two writes of another organisation.
const BETWEEN_WRITES: Duration = Duration::from_millis(50);
/// The wait between two pings: more often would be refused.
const BETWEEN_PINGS: Duration = Duration::from_secs(2);
/// The time for which the writes of another organisation are measured before the outage.
const QUIET: Duration = Duration::from_secs(2);
/// The same in the long form.
const LONG_QUIET: Duration = Duration::from_secs(60);
/// Maximum ratio by which the slowest hundredth of another organisation's writes grows during the outage (long form).
const SLOWER: u32 = 10;

/// Cost of a part of an outage for the server.
#[derive(Clone, Copy, Debug)]
struct OutageCost {
    wall: Duration,
    cpu_ms: u64,
    written_bytes: u64,
    /// The slowest hundredth of the writes of another organisation starts here.
    write_p99: Duration,
}

/// The same outage with this number of services.
struct BigOutage {
    server: Server,
    client: Client,
    main: DatabaseConnection,
    history: DatabaseConnection,
    services: Vec<i64>,
    /// The path of a heartbeat that is pinged throughout.
    ping: String,
    pinged_at: Cell<Option<Instant>>,
}

impl BigOutage {
    async fn prepare(server: Server, number: usize) -> Self {
        let client = server.client();
        let policies = client.get("/v1/incident-policies").expect(200).data();
        let policy = format!("/v1/incident-policies/{}", policies[0]["id"].as_str().unwrap());
        let rules = json!({"group_by_tag_keys": ["fleet"], "resolve_after_seconds": 0});
        client.patch(&policy, &rules).expect(200);
        create(&client, &json!({"name": "s", "check_type": "manual", "tags": ["fleet:one"]}));
        let [main, history] = server.urls();
        let main = sea_orm::Database::connect(main).await.unwrap();
        let history = sea_orm::Database::connect(history).await.unwrap();
        let (services, ping, pinged_at) = (Vec::new(), String::new(), Cell::new(None));
        let mut outage = Self { server, client, main, history, services, ping, pinged_at };
        outage.copy_service(number).await;
        let heartbeat = create(&outage.client, &json!({"name": "beat", "check_type": "heartbeat"}));
        let shown = outage.client.get(&format!("/v1/services/{heartbeat}")).expect(200).data();
        let url = shown["heartbeat"]["ping_url"].as_str().unwrap();
        url[url.find("/ping/").unwrap()..].clone_into(&mut outage.ping);
        outage
    }

    /// Copies the one service with its tag, until there are this many.
    async fn copy_service(&mut self, number: usize) {
        use service::Column;
        let is_copied = |column: &Column| !matches!(column, Column::Id | Column::PublicId | Column::Name);
        let copied: Vec<String> =
            Column::iter().filter(is_copied).map(|column| column.as_str().to_owned()).collect();
        let copied = copied.join(", ");
        let numbers: Vec<usize> = (1..number).collect();
        for some in numbers.chunks(AT_ONCE) {
            let rows: Vec<String> = some.iter().map(|n| format!("('{n:0>21}', 's{n:06}')")).collect();
            let copies = format!(
                "INSERT INTO service (public_id, name, {copied}) SELECT made.column1, made.column2, {copied} \
                FROM service, (VALUES {}) AS made WHERE service.id = (SELECT min(id) FROM service)",
                rows.join(", ")
            );
            self.main.execute_unprepared(&copies).await.unwrap();
        }
        let tags = "INSERT INTO service_tag (service_id, tag_id) SELECT service.id, tag.id FROM service, tag \
            WHERE service.id > (SELECT min(id) FROM service)";
        self.main.execute_unprepared(tags).await.unwrap();
        let rows = service::Entity::find().order_by_asc(Column::Id).all(&self.main).await.unwrap();
        self.services = rows.into_iter().map(|row| row.id).collect();
        assert_eq!(self.services.len(), number);
    }

    /// Records that every service is down, or up again, within the last seconds.
    async fn record(&self, (from, to): (u8, u8)) {
        let begin = now().plus_ms(-SPREAD_MS).ms();
        let number = i64::try_from(self.services.len()).unwrap();
        let changes: Vec<String> = (0..)
            .zip(&self.services)
            .map(|(place, key)| format!("({key}, {}, {from}, {to}, 1)", begin + place * SPREAD_MS / number))
            .collect();
        let text = "INSERT INTO status_change (service_id, at, from_status, to_status, cause) VALUES";
        for some in changes.chunks(AT_ONCE) {
            self.history.execute_unprepared(&format!("{text} {}", some.join(", "))).await.unwrap();
        }
    }

    /// Lets it happen and waits until it `is_done`, while another organisation writes now and then.
    async fn pass(&self, change: (u8, u8), is_done: impl AsyncFn(&Self) -> bool) -> OutageCost {
        let (begin, before) = (Instant::now(), self.spent().await);
        self.record(change).await;
        let write_p99 = self.write_until(|| is_done(self)).await;
        let after = self.spent().await;
        OutageCost {
            wall: begin.elapsed(),
            cpu_ms: after.0 - before.0,
            written_bytes: after.1 - before.1,
            write_p99,
        }
    }

    /// The slowest hundredth of the writes of another organisation while nothing happens.
    async fn quiet_p99(&self) -> Duration {
        let begin = Instant::now();
        let length = if endures() { LONG_QUIET } else { QUIET };
        self.write_until(async || begin.elapsed() > length).await
    }

    /// Writes now and then as another organisation, and pings a heartbeat: nothing is refused. Gives the time from which on the slowest
    /// hundredth of the writes begins.
    async fn write_until(&self, is_done: impl AsyncFn() -> bool) -> Duration {
        let begin = Instant::now();
        let mut writes: Vec<Duration> = Vec::new();
        while !is_done().await {
            assert!(begin.elapsed() < LONGEST, "{} services: it takes too long", self.services.len());
            let write = Instant::now();
            let key = format!("k{}", now().ms());
            self.client.post("/v1/tags", &json!({ "key": key })).expect(201);
            writes.push(write.elapsed());
            self.ping_now_and_then();
            tokio::time::sleep(BETWEEN_WRITES).await;
        }
        writes.sort_unstable();
        writes.get(writes.len() * 99 / 100).copied().unwrap_or_default()
    }

    fn ping_now_and_then(&self) {
        if self.pinged_at.get().is_none_or(|at| at.elapsed() > BETWEEN_PINGS) {
            self.client.get(&self.ping).expect(200);
            self.pinged_at.set(Some(Instant::now()));
        }
    }

    /// Milliseconds of processor time of the server, and bytes that it or its database has written.
    async fn spent(&self) -> (u64, u64) {
        let written = if self.main.get_database_backend() == DbBackend::Postgres {
            let position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS position";
            let row = self.main.query_one_raw(Statement::from_string(DbBackend::Postgres, position)).await;
            row.unwrap().unwrap().try_get::<i64>("", "position").unwrap().unsigned_abs()
        } else {
            let io = std::fs::read_to_string(format!("/proc/{}/io", self.server.process())).unwrap();
            let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
            line.parse().unwrap()
        };
        (cpu(self.server.process()), written)
    }

    async fn affected(&self, condition: Option<Condition>) -> usize {
        let rows = incident_service::Entity::find().filter(condition.unwrap_or_else(Condition::all));
        usize::try_from(rows.count(&self.main).await.unwrap()).unwrap()
    }

    async fn is_whole(&self) -> bool {
        self.affected(None).await == self.services.len()
    }

    async fn is_over(&self) -> bool {
        let open = incident::Entity::find().filter(incident::Column::ResolvedAt.is_null());
        open.count(&self.main).await.unwrap() == 0
    }

    fn incident(&self) -> Value {
        let rows = self.client.get("/v1/incidents?per_page=2").expect(200).data();
        assert_eq!(rows.as_array().unwrap().len(), 1, "all of them are one incident");
        rows[0].clone()
    }
}

const UP: u8 = 1;
const DOWN: u8 = 3;

/// The cost of the outage, and of its end.
async fn costs(server: Server, number: usize) -> [OutageCost; 2] {
    let outage = BigOutage::prepare(server, number).await;
    let quiet = outage.quiet_p99().await;
    println!("{number} services: writes of the quiet time before p99 {quiet:?}");
    let began = outage.pass((UP, DOWN), BigOutage::is_whole).await;
    let incident = outage.incident();
    assert_eq!(incident["title"], format!("s and {} other services are down", number - 1));
    let path = format!("/v1/incidents/{}/acknowledge", incident["id"].as_str().unwrap());
    let begin = Instant::now();
    outage.client.post(&path, &json!({})).expect(200);
    println!("{number} services: acknowledged in {:?}", begin.elapsed());
    let ended = outage.pass((DOWN, UP), BigOutage::is_over).await;
    let recovered = Condition::all().add(incident_service::Column::RecoveredAt.is_not_null());
    assert_eq!(outage.affected(Some(recovered)).await, number, "all of them have recovered");
    assert_eq!(outage.incident()["status"], "resolved");
    for cost in [began, ended] {
        let most = quiet * SLOWER;
        assert!(
            !endures() || cost.write_p99 <= most,
            "writes take {:?}, {most:?} is allowed",
            cost.write_p99
        );
    }
    [began, ended]
}

#[rstest]
#[case::on_sqlite(false)]
#[case::on_postgres(true)]
#[tokio::test]
async fn a_big_outage_is_linear(#[case] is_postgres: bool) {
    let mut table: Vec<(usize, [OutageCost; 2])> = Vec::new();
    for number in if endures() { LONG } else { QUICK } {
        // One of its own: what others write would count.
        let postgres = if is_postgres { Postgres::start() } else { None };
        let server = match postgres.as_ref().map(Postgres::url) {
            Some(url) => {
                Server::with("", &[("WATCHKEEPER_DATABASE_URL", &url), ("WATCHKEEPER_HISTORY_URL", &url)])
            }
            None if is_postgres => return,
            None => Server::embedded("", &[]),
        };
        table.push((*number, costs(server, *number).await));
    }
    for (number, [began, ended]) in &table {
        for (part, cost) in [("outage", began), ("end", ended)] {
            println!(
                "{number:>7} services, {part}: {:.1} s, {} ms CPU, {} KiB written, writes p99 {:?}",
                cost.wall.as_secs_f64(),
                cost.cpu_ms,
                cost.written_bytes / 1_024,
                cost.write_p99
            );
        }
    }
    let (few, least) = table.first().unwrap();
    let (many, most) = table.last().unwrap();
    let each = |value: u64, number: usize| value as f64 / number as f64;
    for (part, least, most) in [("outage", least[0], most[0]), ("end", least[1], most[1])] {
        let cpu = each(most.cpu_ms, *many) / each(least.cpu_ms.max(1), *few);
        let written = each(most.written_bytes, *many) / each(least.written_bytes, *few);
        assert!(
            cpu < DEARER,
            "{part}: each of {many} services takes {cpu:.1} times the CPU of each of {few}"
        );
        assert!(written < DEARER, "{part}: each of {many} services writes {written:.1} times as much");
    }
}
