//! `[watchdog]`: pings are sent as long as everything works, and their address is not disclosed.

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::server::{Server, failing_start};
use crate::support::target::Target;

fn pinging(url: &str, more: &[(&str, &str)]) -> Server {
    let own = [
        ("WATCHKEEPER_WATCHDOG__PING_URL", url),
        ("WATCHKEEPER_WATCHDOG__PING_INTERVAL_SECONDS", "1"),
        ("WATCHKEEPER_LOG", "trace"),
    ];
    Server::with("", &[&own, more].concat())
}

/// The pings of which this became.
fn count(client: &Client, result: &str) -> u64 {
    let page = client.without_token().get("/metrics").expect(200).body;
    let name = format!("watchkeeper_watchdog_pings_total{{result=\"{result}\"}} ");
    page.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

#[tokio::test]
async fn watchdog_pings_continue_after_a_failed_one() {
    let mut target = Target::start();
    let server = pinging(&format!("{}hunter2", target.url()), &[]);
    let client = server.client();
    eventually("they arrive", || (target.requests().len() >= 2).then_some(())).await;
    let heads = target.requests();
    assert!(heads.iter().all(|head| head.starts_with("GET /hunter2 HTTP/1.1\r\n")), "{heads:?}");
    target.stop();
    eventually("one has failed", || (count(&client, "failed") >= 1).then_some(())).await;
    target.start_again();
    let before = count(&client, "taken");
    eventually("they arrive again", || (count(&client, "taken") > before).then_some(())).await;
    assert_eq!(count(&client, "withheld"), 0);
    assert!(!server.log().contains("hunter2"), "the path is a secret");
}

#[tokio::test]
async fn no_watchdog_ping_is_sent_while_the_history_is_unavailable() {
    let Some(postgres) = Postgres::start() else { return };
    let target = Target::start();
    let server = pinging(&target.url(), &[("WATCHKEEPER_HISTORY_URL", &postgres.url())]);
    let client = server.client();
    eventually("they arrive", || (!target.requests().is_empty()).then_some(())).await;
    postgres.stop();
    eventually("one is withheld", || (count(&client, "withheld") >= 1).then_some(())).await;
    let before = target.requests().len();
    eventually("more are withheld", || (count(&client, "withheld") >= 3).then_some(())).await;
    assert_eq!(target.requests().len(), before, "silence is the message");
    postgres.start_again();
    eventually("they arrive again", || (target.requests().len() > before).then_some(())).await;
}

#[test]
fn an_unusable_address_is_refused_and_not_shown() {
    let (code, said) =
        failing_start("", &[("WATCHKEEPER_WATCHDOG__PING_URL", "https://hunter2@example.com/x")]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("watchdog.ping_url") && said.contains("user name"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}
