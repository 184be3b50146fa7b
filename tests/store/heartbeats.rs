//! Ping addresses: found by the hash of their secret alone, and no two pings have one time.

use rstest::rstest;
use watchkeeper::model::heartbeat::{HeartbeatPing, StoredPings};
use watchkeeper::model::service::{PauseReason, Service, ServicePause};
use watchkeeper::store::heartbeats::{self, PingSecretHash, SealedPingSecret};
use watchkeeper::store::services;

use crate::support::Backend;
use crate::support::rows::{at, service, stored_organisation, stored_service};

const OLD: PingSecretHash = [1; 32];
const NEW: PingSecretHash = [2; 32];

fn secret(hash: PingSecretHash, sealed: &str) -> SealedPingSecret {
    SealedPingSecret { hash, sealed: sealed.into() }
}

const fn ping(at_ms: i64, has_failed: bool) -> HeartbeatPing {
    HeartbeatPing { at: at(at_ms), has_failed }
}

#[rstest]
#[tokio::test]
async fn a_ping_is_stored_for_the_service_of_its_secret(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let pinged = stored_service(&store, service(owner.key, "pinged")).await;
    let write = store.main.begin().await.unwrap();
    heartbeats::insert(&write, pinged.key, &secret(OLD, "sealed")).await.unwrap();
    assert_eq!(heartbeats::ping(&write, &NEW, ping(5_000, false)).await.unwrap(), None);
    for (sent, stored) in [
        (ping(5_000, false), ping(5_000, false)),
        (ping(5_000, true), ping(5_001, true)),
        (ping(4_900, false), ping(5_002, false)),
        (ping(9_000, true), ping(9_000, true)),
        // The clock was set back.
        (ping(1_000, false), ping(1_000, false)),
    ] {
        assert_eq!(heartbeats::ping(&write, &OLD, sent).await.unwrap(), Some(stored));
    }
    heartbeats::count_from(&write, pinged.key, at(7)).await.unwrap();
    heartbeats::rotate(&write, pinged.key, &secret(NEW, "anew")).await.unwrap();
    let paused =
        Service { pause: Some(ServicePause { reason: PauseReason::Manual, at: at(1) }), ..pinged.clone() };
    services::update(&write, paused).await.unwrap();
    write.commit().await.unwrap();
    let reader = store.main.reader();
    assert_eq!(heartbeats::find_by_hash(reader, &OLD).await.unwrap(), None);
    let found = heartbeats::find_by_hash(reader, &NEW).await.unwrap().unwrap();
    assert_eq!((found.service, found.id, found.is_paused), (pinged.key, pinged.id, true));
    let stored = heartbeats::of_services(reader, &[pinged.key, -1]).await.unwrap();
    let expected = StoredPings { last: Some(ping(1_000, false)), counts_from: Some(at(7)) };
    assert_eq!((stored.len(), stored[&pinged.key].heartbeat), (1, expected));
    assert_eq!(stored[&pinged.key].secret, "anew");
    let write = store.main.begin().await.unwrap();
    services::delete(&write, pinged.key).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(heartbeats::find_by_hash(reader, &NEW).await.unwrap(), None);
}
