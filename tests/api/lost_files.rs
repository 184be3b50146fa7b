//! Files of an embedded installation that are lost, empty, replaced or of another program: no command takes them for a new
//! installation, and a server that runs notices it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::unistd::Uid;
use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use serde_json::{Value, json};
use watchkeeper::store::database::sqlite_url;

use crate::support::server::Server;
use crate::support::{create_unconfigured, eventually};

const NOBODY: u32 = 65_534;

/// An installation with a service, whose server has stopped.
async fn stopped() -> Server {
    let mut server = Server::embedded("", &[]);
    create_unconfigured(&server.client());
    server.terminate().await;
    server
}

/// Names and contents of the databases and the key of a folder.
fn contents(folder: &Path) -> Vec<Option<Vec<u8>>> {
    ["main.db", "history.db", "secret.key"].map(|name| fs::read(folder.join(name)).ok()).to_vec()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The finding of a check of doctor, as text.
fn finding(output: &Output, check: &str) -> String {
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(output)));
    let findings = found["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["check"] == check).map(Value::to_string).unwrap_or_default()
}

async fn fill(file: &Path, statement: &str) {
    let connection: DatabaseConnection = sea_orm::Database::connect(sqlite_url(file)).await.unwrap();
    connection.execute_unprepared(statement).await.unwrap();
    connection.close().await.unwrap();
}

/// Columns: the file, whether it is removed or emptied, what is said.
#[rstest]
#[case::empty_main("main.db", false, "main.db is empty beside")]
#[case::missing_main("main.db", true, "main.db is missing beside")]
#[case::empty_history("history.db", false, "history.db is missing or empty beside")]
#[case::missing_history("history.db", true, "history.db is missing or empty beside")]
#[tokio::test]
async fn a_lost_database_is_not_replaced_by_a_new_one(
    #[case] name: &str,
    #[case] is_removed: bool,
    #[case] expected: &str,
) {
    let server = stopped().await;
    let file = server.data().join(name);
    if is_removed { fs::remove_file(&file) } else { fs::write(&file, "") }.unwrap();
    let before = contents(&server.data());
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["org", "list"]] {
        let output = server.command(command);
        let said = text(&output);
        assert!(
            !output.status.success() && said.contains(expected) && said.contains("from a backup"),
            "{said}"
        );
    }
    let found = text(&server.command(&["doctor", "--json", "--listen", "127.0.0.1:1"]));
    assert!(found.contains(name), "{found}");
    assert_eq!(contents(&server.data()), before);
}

/// After a crash much is in the write-ahead log, which SQLite removes beside a file that is missing or empty, and which is lost
/// where somebody copies the database alone.
#[rstest]
#[case::missing_main("main.db", Loss::Removed, "main.db is missing beside")]
#[case::empty_main("main.db", Loss::Emptied, "main.db is empty beside")]
#[case::main_without_its_log("main.db", Loss::WithoutLog, "main.db has no tables beside")]
#[case::missing_history("history.db", Loss::Removed, "history.db is missing or empty beside")]
#[case::history_without_its_log("history.db", Loss::WithoutLog, "history.db is missing or empty beside")]
#[tokio::test]
async fn a_database_lost_after_a_crash_is_not_replaced_by_a_new_one(
    #[case] name: &str,
    #[case] loss: Loss,
    #[case] expected: &str,
) {
    let mut server = Server::embedded("", &[]);
    create_unconfigured(&server.client());
    server.kill();
    let file = server.data().join(name);
    assert!(file.with_extension("db-wal").exists());
    match loss {
        Loss::Removed => fs::remove_file(&file).unwrap(),
        Loss::Emptied => fs::write(&file, "").unwrap(),
        Loss::WithoutLog => {
            // A checkpoint has written parts of it: what is left is the first page of a database without tables.
            let blank = server.data().join("blank.db");
            fill(&blank, "PRAGMA user_version = 0").await;
            fs::rename(&blank, &file).unwrap();
            let _ = fs::remove_file(file.with_extension("db-wal"));
            let _ = fs::remove_file(file.with_extension("db-shm"));
        }
    }
    let before = contents(&server.data());
    for command in [&["org", "list"][..], &["migrate"], &["serve", "--listen", "127.0.0.1:0"]] {
        let output = server.command(command);
        let said = text(&output);
        assert!(!output.status.success() && said.contains(expected), "{said}");
    }
    assert_eq!(contents(&server.data()), before);
}

/// The fate of a database file.
#[derive(Clone, Copy)]
enum Loss {
    Removed,
    Emptied,
    WithoutLog,
}

/// Killed while the first start makes its tables, whenever that is, an installation can be started again.
#[tokio::test]
async fn a_first_start_that_is_killed_can_be_repeated() {
    for written in (0..20).map(|round| round * 40_000) {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("data");
        let serve = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
            command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(&data);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut first = serve();
        let length = |name: &str| fs::metadata(data.join(name)).map_or(0, |found| found.len());
        let is_there = || length("main.db-wal") > written || data.join("token").exists();
        eventually("the first start writes", || is_there().then_some(())).await;
        first.kill().unwrap();
        first.wait().unwrap();
        let migrated = Command::new(env!("CARGO_BIN_EXE_watchkeeper"))
            .args(["org", "create", "--name", "First", "--egress", "public-only", "--data-dir"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(migrated.status.success(), "killed after {written} bytes: {}", text(&migrated));
    }
}

/// The way on without a backup: what is set up is kept, what was measured is not.
#[tokio::test]
async fn a_lost_history_is_replaced_when_that_is_asked_for() {
    let mut server = stopped().await;
    let (history, segments) = (server.data().join("history.db"), server.data().join("history.segments"));
    fs::remove_file(&history).unwrap();
    fs::create_dir_all(&segments).unwrap();
    fs::write(segments.join("00000001.db"), "measured before").unwrap();
    let begin = ["serve", "--new-history", "--listen", "127.0.0.1:0"];
    let said = text(&server.command(&begin));
    assert!(said.contains("move") && said.contains("history.segments away"), "{said}");
    fs::remove_dir_all(&segments).unwrap();
    let (mut child, line) = server.spawn_server(&begin);
    assert!(
        line.contains("answers at") && fs::metadata(&history).is_ok_and(|found| found.len() > 0),
        "{line}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    server.restart();
    let services = server.client().get("/v1/services").expect(200).data();
    assert_eq!(services.as_array().map(Vec::len), Some(1), "{services}");
}

/// Columns: the file that another program's database takes the place of.
#[rstest]
#[case("main.db", "main database")]
#[case("history.db", "history database")]
#[tokio::test]
async fn a_database_of_another_program_is_left_as_it_is(#[case] name: &str, #[case] check: &str) {
    let server = stopped().await;
    let file = server.data().join(name);
    fs::remove_file(&file).unwrap();
    fill(&file, "CREATE TABLE orders (id INTEGER)").await;
    let before = contents(&server.data());
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["token", "list"]] {
        let output = server.command(command);
        let said = text(&output);
        let expected = format!("{name} is a database of another program (it has the table orders)");
        assert!(!output.status.success() && said.contains(&expected), "{said}");
    }
    let found = finding(&server.command(&["doctor", "--json", "--listen", "127.0.0.1:1"]), check);
    assert!(found.contains("problem") && found.contains("another program"), "{found}");
    assert_eq!(contents(&server.data()), before);
}

/// What is written after that would be lost, so it is refused; when the folder is back, all goes on.
#[tokio::test]
async fn a_server_notices_that_its_files_are_gone() {
    let mut server = Server::embedded("", &[]);
    let (client, data) = (server.client(), server.data());
    let aside = data.with_extension("aside");
    fs::rename(&data, &aside).unwrap();
    let service = json!({"name": "a", "check_type": "http", "target": "http://127.0.0.1:9/"});
    client.post("/v1/services", &service).expect(503);
    let ready = client.get("/readyz").expect(503).json();
    assert_eq!(ready["databases"], json!({"main": "away", "history": "away"}));
    assert!(server.log().contains("main.db has been removed or replaced while it was open"));
    fs::rename(&aside, &data).unwrap();
    client.get("/readyz").expect(200);
    client.post("/v1/services", &service).expect(201);

    fs::rename(&data, &aside).unwrap();
    assert_eq!(server.terminate().await, Some(70));
    assert!(!server.log().contains("results are stored"), "{}", server.log());
    fs::rename(&aside, &data).unwrap();
}

/// The second organisation makes the egress policy a decision, without which no server starts.
#[tokio::test]
async fn a_missing_egress_policy_is_said_before_the_next_start() {
    let mut server = Server::embedded("", &[]);
    server.unset("WATCHKEEPER_EGRESS");
    server.terminate().await;
    server.restart();
    let create = ["org", "create", "--name", "Second", "--egress", "private-allowed"];
    let created = server.command(&create);
    assert!(created.status.success() && text(&created).contains("WATCHKEEPER_EGRESS"), "{}", text(&created));
    let ready = server.client().get("/readyz").expect(200).json();
    assert!(ready["warnings"].to_string().contains("egress is not set"), "{ready}");
    let found = finding(&server.command(&["doctor", "--json"]), "egress");
    assert!(found.contains("problem") && found.contains("public-only or private-allowed"), "{found}");
    let decided = finding(&server.command(&["doctor", "--json", "--egress", "public-only"]), "egress");
    assert_eq!(decided, "");
}

/// A transaction of another program that keeps writers out, while readers see a sound file.
#[tokio::test]
async fn doctor_sees_that_a_database_cannot_be_written() {
    let server = stopped().await;
    let file = server.data().join("main.db");
    let doctor = || server.command(&["doctor", "--json", "--listen", "127.0.0.1:1"]);
    let holder: DatabaseConnection = sea_orm::Database::connect(sqlite_url(&file)).await.unwrap();
    holder.execute_unprepared("BEGIN EXCLUSIVE").await.unwrap();
    let found = finding(&doctor(), "main database");
    assert!(found.contains("problem") && found.contains("locked by another program"), "{found}");
    holder.close().await.unwrap();
    let found = finding(&doctor(), "main database");
    assert!(found.contains("fine"), "{found}");
}

/// The server's own user may not write its database any more.
#[tokio::test]
async fn doctor_sees_that_a_database_is_read_only() {
    if !Uid::effective().is_root() {
        return;
    }
    let server = stopped().await;
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    for entry in fs::read_dir(server.data()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let copy = data.join(entry.file_name());
        fs::copy(entry.path(), &copy).unwrap();
        chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for folder in [place.path(), &data] {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let program = place.path().join("watchkeeper");
    fs::copy(env!("CARGO_BIN_EXE_watchkeeper"), &program).unwrap();
    let doctor = || {
        let mut command = Command::new(&program);
        command.env_clear().current_dir(place.path()).uid(NOBODY).gid(NOBODY);
        let arguments = ["doctor", "--json", "--listen", "127.0.0.1:1", "--data-dir", "data"];
        finding(&command.args(arguments).output().unwrap(), "main database")
    };
    assert!(doctor().contains("fine"), "{}", doctor());
    fs::set_permissions(data.join("main.db"), fs::Permissions::from_mode(0o400)).unwrap();
    let found = doctor();
    assert!(found.contains("problem") && found.contains("this user may not write"), "{found}");
    chown(data.join("main.db"), Some(0), Some(0)).unwrap();
    fs::set_permissions(data.join("main.db"), fs::Permissions::from_mode(0o444)).unwrap();
    let found = doctor();
    assert!(found.contains("unknown") && found.contains("this user may not write"), "{found}");
}
