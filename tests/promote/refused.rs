//! Obstacles to a promotion, each reported in one line, with nothing moved.

use serde_json::{Value, json};

use crate::database::{Database, refusal, text};
use crate::filled::filled;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{create_unconfigured, eventually, service};

/// A server holds the data folder, also against a dry run.
#[tokio::test]
async fn a_running_server_is_not_promoted() {
    let Some(postgres) = Postgres::start() else { return };
    let target = Database::empty(&postgres, "busy");
    let server = Server::start();
    for arguments in [&[][..], &["--dry-run"]] {
        let said = refusal(&target.promote(&server, arguments), 1);
        assert!(said.contains("another Watchkeeper serves the data folder"), "{said}");
    }
    assert_eq!(target.tables(), "0");
}

/// A database that holds anything else is left alone, whichever of the two it is.
#[tokio::test]
async fn a_target_with_other_data_is_refused() {
    let Some(postgres) = Postgres::start() else { return };
    let (target, empty) = (Database::empty(&postgres, "taken"), Database::empty(&postgres, "still_empty"));
    target.ask("CREATE TABLE diary (page TEXT)");
    let mut server = Server::start();
    create_unconfigured(&server.client());
    server.kill();
    let expected = "is not empty: it holds 1 tables (diary, …); promote to an empty database";
    let said = refusal(&target.promote(&server, &[]), 1);
    assert!(said.contains(expected) && !said.contains("postgres@"), "{said}");
    let said = refusal(&empty.promote(&server, &["--history-to", &target.url()]), 1);
    assert!(said.contains(expected), "{said}");
    let rehearsed = target.promote(&server, &["--dry-run", "--json"]);
    assert_eq!(rehearsed.status.code(), Some(1));
    let rehearsed: Value = serde_json::from_slice(&rehearsed.stdout).unwrap();
    assert!(rehearsed["obstacles"][0].as_str().unwrap().contains(expected), "{rehearsed}");
    assert_eq!((target.tables(), empty.tables()), ("1".into(), "0".into()));
}

/// Half of one installation is no target for another, nor for the same one after it has run again.
#[tokio::test]
async fn an_interrupted_promotion_continues_only_with_the_same_installation() {
    let Some(postgres) = Postgres::start() else { return };
    let target = Database::empty(&postgres, "halfway");
    let mut installed = filled(100_000).await;
    let mut child = installed.server.spawn(&["promote", "--to", &target.url()]);
    eventually("it has begun", || {
        let begun = target.ask("SELECT to_regclass('main_promotion') IS NOT NULL");
        (begun == "t").then_some(())
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();

    let mut other = Server::start();
    other.kill();
    let said = refusal(&target.promote(&other, &[]), 1);
    assert!(said.contains("holds a part of another installation"), "{said}");

    installed.server.restart();
    // As many rows as before, and not the same.
    let path = service(&installed.services[0]);
    installed.server.client().patch(&path, &json!({"name": "Renamed"})).expect(200);
    installed.server.kill();
    let said = refusal(&target.promote(&installed.server, &[]), 1);
    assert!(said.contains("has run or was changed since; empty it and promote again"), "{said}");
    target.ask("DROP SCHEMA public CASCADE");
    target.ask("CREATE SCHEMA public");
    let moved = target.promote(&installed.server, &[]);
    assert!(moved.status.success(), "{}", text(&moved));
}

/// The key and the spool are no rows; without them the target would not be whole.
#[tokio::test]
async fn files_beside_the_databases_are_checked() {
    let Some(postgres) = Postgres::start() else { return };
    let target = Database::empty(&postgres, "beside");
    let mut server = Server::start();
    create_unconfigured(&server.client());
    server.kill();
    let data = server.data();
    let (key, aside) = (data.join("secret.key"), data.join("secret.aside"));
    std::fs::rename(&key, &aside).unwrap();
    let said = refusal(&target.promote(&server, &[]), 1);
    assert!(said.contains("secret.key is missing; the target needs the same key"), "{said}");
    std::fs::rename(&aside, &key).unwrap();

    std::fs::create_dir_all(data.join("spool")).unwrap();
    let waiting = data.join("spool").join("00000001.spool");
    std::fs::write(&waiting, b"results").unwrap();
    let rehearsed = target.promote(&server, &["--dry-run", "--json"]);
    let rehearsed: Value = serde_json::from_slice(&rehearsed.stdout).unwrap();
    let obstacle = rehearsed["obstacles"][0].as_str().unwrap();
    assert!(obstacle.starts_with("the spool holds 7 bytes of results"), "{rehearsed}");
    let said = refusal(&target.promote(&server, &[]), 1);
    assert!(said.contains("the spool holds 7 bytes"), "{said}");
    std::fs::remove_file(waiting).unwrap();
    assert_eq!(target.tables(), "0");

    let moved = target.promote(&server, &["--json"]);
    assert!(moved.status.success(), "{}", text(&moved));
    let moved: Value = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!(moved["already_there"], json!(false));
}

/// Wrong usage: the source is what the settings name, and must be embedded.
#[tokio::test]
async fn only_an_embedded_installation_is_promoted() {
    let mut server = Server::start();
    server.kill();
    let said = refusal(&server.command(&["promote", "--to", "sqlite://x.db"]), 2);
    assert!(said.contains("a URL that begins with postgres:"), "{said}");
    server.set("WATCHKEEPER_DATABASE_URL", "postgres://127.0.0.1:1/x");
    let said = refusal(&server.command(&["promote", "--to", "postgres://127.0.0.1:1/y"]), 2);
    assert!(said.contains("database_url is set to a PostgreSQL already"), "{said}");
    server.unset("WATCHKEEPER_DATABASE_URL");
    let said = refusal(&server.command(&["promote", "--to", "postgres://127.0.0.1:1/y"]), 1);
    assert!(said.contains("postgres://127.0.0.1:1/y: "), "{said}");
}
