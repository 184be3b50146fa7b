//! A target that serves already: the same command again changes nothing in it, and says so when the two went apart.

use serde_json::{Value, json};

use crate::database::{Database, refusal, text};
use crate::support::create_unconfigured;
use crate::support::postgres::Postgres;
use crate::support::server::Server;

/// A stopped installation with one service.
fn installed() -> Server {
    let mut server = Server::start();
    create_unconfigured(&server.client());
    server.kill();
    server
}

/// A leftover marker of the history is removed, and no later write is.
#[tokio::test]
async fn a_promotion_interrupted_at_its_end_deletes_nothing() {
    let Some(postgres) = Postgres::start() else { return };
    let (target, server) = (Database::empty(&postgres, "very_end"), installed());
    let moved = target.promote(&server, &[]);
    assert!(moved.status.success(), "{}", text(&moved));
    let left = target.ask("SELECT count(*) FROM pg_class WHERE relname LIKE '%\\_promotion%'");
    assert_eq!(left, "0", "no marker stays");
    target.ask(
        "CREATE TABLE history_promotion AS SELECT split_part(value, ' ', 1) AS installation, \
        split_part(value, ' ', 2) AS state FROM installation WHERE name = 'promoted'",
    );
    target.ask(
        "CREATE TABLE history_promotion_progress \
        (name TEXT PRIMARY KEY, position TEXT, rows BIGINT NOT NULL, is_done BOOLEAN NOT NULL)",
    );
    target.ask("UPDATE service SET name = 'Written since'");
    let again = target.promote(&server, &["--json"]);
    assert_eq!(target.ask("SELECT name FROM service"), "Written since");
    assert!(again.status.success(), "{}", text(&again));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["already_there"], json!(true));
    assert_eq!(target.ask("SELECT to_regclass('history_promotion') IS NULL"), "t", "the marker is gone");
}

/// Later writes of the embedded installation are not in the target: that is no success.
#[tokio::test]
async fn an_installation_that_ran_after_its_promotion_is_not_recognised_as_promoted() {
    let Some(postgres) = Postgres::start() else { return };
    let (target, mut server) = (Database::empty(&postgres, "ran_since"), installed());
    assert!(target.promote(&server, &[]).status.success());
    let again = target.promote(&server, &[]);
    assert!(again.status.success() && text(&again).contains("was moved already"), "{}", text(&again));
    server.restart();
    create_unconfigured(&server.client());
    server.kill();
    let said = refusal(&target.promote(&server, &[]), 1);
    assert!(said.contains("the embedded one has run or was changed since"), "{said}");
    assert_eq!(target.ask("SELECT count(*) FROM service"), "1");
}

/// Main and history belong together: a finished one is refused with any other.
#[tokio::test]
async fn a_finished_target_is_recognised_only_with_its_own_history() {
    let Some(postgres) = Postgres::start() else { return };
    let (main, history) = (Database::empty(&postgres, "own_main"), Database::empty(&postgres, "own_history"));
    let (other, server) = (Database::empty(&postgres, "other"), installed());
    assert!(main.promote(&server, &["--history-to", &history.url()]).status.success());
    for arguments in [&[][..], &["--history-to", &*other.url()]] {
        let said = refusal(&main.promote(&server, arguments), 1);
        assert!(said.contains("does not hold its history"), "{said}");
    }
    let said = refusal(&other.promote(&server, &["--history-to", &history.url()]), 1);
    assert!(said.contains("holds the history of this installation already"), "{said}");
    assert_eq!(other.tables(), "0");
    let again = main.promote(&server, &["--history-to", &history.url()]);
    assert!(again.status.success() && text(&again).contains("was moved already"), "{}", text(&again));
}
