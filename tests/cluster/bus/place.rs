//! A machine in another place: a process that is a location, with a data folder of its own.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bus::Bus;
use crate::support::client::Client;
use crate::support::server::{Server, binary};
use crate::support::{eventually, service};

/// The server of an engine node on this bus.
pub(crate) fn engine(bus: &Bus) -> Server {
    let settings = bus.node_settings(0);
    Server::embedded("", &settings.each_ref().map(|(name, value)| (*name, &**value)))
}

/// Makes a location; returns the join token.
pub(crate) fn invited(engine: &Server, code: &str) -> String {
    let made = engine.command_json(&["location", "create", "--code", code, "--name", code]);
    made["join_token"].as_str().unwrap().to_owned()
}

/// Every second, from one location, without a second attempt.
pub(crate) fn from(code: &str) -> Value {
    json!({"interval_seconds": 1, "retries": 0, "assigned_probes": [code]})
}

/// The location as `/v1/probes` shows it.
pub(crate) fn probe(client: &Client, code: &str) -> Option<Value> {
    let all = client.get("/v1/probes").expect(200).json();
    all["data"].as_array()?.iter().find(|probe| probe["code"] == code).cloned()
}

/// Waits until the location is online.
pub(crate) async fn until_online(client: &Client, code: &str) {
    let is_online = || probe(client, code).filter(|probe| probe["status"] == "online").map(drop);
    eventually(&format!("{code} is online"), is_online).await;
}

/// Every check of a service that is returned.
pub(crate) fn checks(client: &Client, id: &str) -> Vec<Value> {
    let first = format!("{}/checks?per_page=100", service(id));
    let (mut all, mut path) = (Vec::new(), first.clone());
    loop {
        let page = client.get(&path).expect(200).json();
        all.extend(page["data"].as_array().unwrap().iter().cloned());
        let Some(cursor) = page["meta"]["next_cursor"].as_str() else { return all };
        path = format!("{first}&cursor={cursor}");
    }
}

/// The status changes of all services of an engine on SQLite, as numbers: the new status and its cause.
pub(crate) async fn changes(engine: &Server) -> String {
    let [_, url] = engine.urls();
    let history = sea_orm::Database::connect(url).await.unwrap();
    let text = "SELECT to_status, cause FROM status_change ORDER BY at, id";
    let rows = history.query_all_raw(Statement::from_string(DbBackend::Sqlite, text)).await.unwrap();
    let line = |row: &sea_orm::QueryResult| {
        let number = |name| row.try_get::<i16>("", name).unwrap();
        format!("{} {}", number("to_status"), number("cause"))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// An engine node and a location that takes part.
pub(crate) async fn scene() -> Option<(Bus, Server, Place)> {
    let bus = Bus::start().await?;
    let engine = engine(&bus);
    let location = Place::joining(&invited(&engine, "fra"));
    until_online(&engine.client(), "fra").await;
    Some((bus, engine, location))
}

/// The process, killed at the end.
pub(crate) struct Place {
    folder: TempDir,
    process: Child,
}

impl Place {
    /// A machine that becomes the location of this token, or says why not in its log.
    pub(crate) fn joining(token: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = command(&folder).args(["--join", token]).spawn().unwrap();
        Self { folder, process }
    }

    /// The same with these reference targets.
    pub(crate) fn with_references(references: &str, token: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(&folder);
        command.env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", references);
        let process = command.args(["--join", token]).spawn().unwrap();
        Self { folder, process }
    }

    /// Ends the process as a power cut would, and starts it again on the same data.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.process = command(&self.folder).spawn().unwrap();
    }

    /// Ends the process as a power cut would.
    pub(crate) fn kill(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Its exit code, once it has ended.
    pub(crate) fn ended(&mut self) -> Option<Option<i32>> {
        self.process.try_wait().unwrap().map(|status| status.code())
    }

    /// Output of the process.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- what the location said\n{}", self.log());
        }
    }
}

fn command(folder: &TempDir) -> Command {
    let log = File::options().create(true).append(true).open(folder.path().join("log")).unwrap();
    let mut command = Command::new(binary());
    command.env_clear().env("WATCHKEEPER_DATA_DIR", folder.path().join("data"));
    command.env("WATCHKEEPER_EGRESS", "private-allowed").arg("probe");
    // Tests address nobody outside of this machine.
    command.env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    command.stdout(Stdio::null()).stderr(log);
    command
}
