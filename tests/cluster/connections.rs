//! Connections: who gets one, and that a lost one is restored by itself.

use std::path::PathBuf;

use async_nats::ConnectOptions;
use watchkeeper::bus::certificates::{CertificateAuthority, new_key};
use watchkeeper::bus::connection::{BusConnection, BusServers};
use watchkeeper::bus::users::{BusUser, TokenIssuer};
use watchkeeper::config::limits::BusLimits;
use watchkeeper::id::Id;

use crate::bus::{Bus, location, messages, now, until};

async fn refusal(bus: &Bus, servers: BusServers) -> String {
    let connection = BusConnection::open(&servers, bus.node_credentials("a"), &BusLimits::default()).await;
    connection.expect_err("it is refused").to_string()
}

#[tokio::test]
async fn credentials_that_have_expired_are_refused() {
    let Some(bus) = Bus::start().await else { return };
    for user in [BusUser::Location(location("fra")), BusUser::Enrolment(Id::random())] {
        let expired = bus.credentials(&user, now().plus_ms(-2_000));
        let refused = bus.connect(expired).await.expect_err("it is refused").to_string();
        assert!(refused.contains("authorization violation"), "{user:?}: {refused}");
    }
}

#[tokio::test]
async fn credentials_of_another_installation_are_refused() {
    let Some(bus) = Bus::start().await else { return };
    let real = TokenIssuer::read(&bus.files.locations_key).unwrap();
    let forged = TokenIssuer::new(real.account().to_owned(), nkeys::KeyPair::new_account());
    let forged = forged.credentials(&BusUser::Location(location("fra")), now(), None).unwrap();
    let refused = bus.connect(forged).await.expect_err("it is refused").to_string();
    assert!(refused.contains("authorization violation"), "{refused}");
}

/// The signing key for locations cannot sign credentials of an engine node.
#[tokio::test]
async fn the_location_key_cannot_sign_node_credentials() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let key = TokenIssuer::read(&bus.files.locations_key).unwrap();
    let forged = key.credentials(&BusUser::Node("a".parse().unwrap()), now(), None).unwrap();
    let connection = bus.connect(forged).await.unwrap();
    // It is a user of the locations' account all the same: no JetStream there, and nobody at the other end.
    assert!(connection.jetstream().get_stream("WK_RESULTS").await.is_err());
    assert!(connection.jetstream().publish("$KV.wk_leases.0", "x".into()).await.unwrap().await.is_err());
    assert_eq!(messages(&engine, "KV_wk_leases").await, (0, 0));
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let Some(bus) = Bus::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, CertificateAuthority::with_key(&new_key().unwrap(), now()).unwrap().pem()).unwrap();
    for ca_file in [Some(file), None::<PathBuf>] {
        let refused = refusal(&bus, BusServers { ca_file, ..bus.servers() }).await;
        assert!(refused.to_lowercase().contains("certificate"), "{refused}");
    }
}

#[tokio::test]
async fn a_connection_without_encryption_is_refused() {
    let Some(bus) = Bus::start().await else { return };
    let address = bus.url().replace("tls://", "");
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"CONNECT {\"verbose\":false}\r\nPING\r\n")
        .await
        .unwrap();
    let mut said = Vec::new();
    // A reset is as good as an end.
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut said).await;
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("INFO ") && !said.contains("PONG"), "{said}");
    // Without the authority, and without credentials.
    assert!(ConnectOptions::new().connect(format!("nats://{address}")).await.is_err());
}

#[tokio::test]
async fn a_connection_recovers_with_all_acknowledged_messages() {
    let Some(mut bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let fra = bus.location("fra").await;
    for _ in 0..20 {
        fra.jetstream().publish("wk.results.fra.1", "x".into()).await.unwrap().await.unwrap();
    }
    bus.server.kill();
    until("both have noticed", async || !engine.state().is_connected() && !fra.state().is_connected()).await;
    bus.server.resume().await;
    until("both are back", async || engine.state().is_connected() && fra.state().is_connected()).await;
    assert_eq!((engine.state().connections(), fra.state().connections()), (2, 2));
    assert_eq!(messages(&engine, "WK_RESULTS").await, (20, 20));
    let next = fra.jetstream().publish("wk.results.fra.1", "x".into()).await.unwrap().await.unwrap();
    assert_eq!(next.sequence, 21);
}

#[tokio::test]
async fn new_credentials_replace_expiring_ones() {
    let Some(bus) = Bus::start().await else { return };
    let _engine = bus.node("a").await;
    let user = BusUser::Location(location("fra"));
    let fra = bus.connect(bus.credentials(&user, now().plus_ms(3_000))).await.unwrap();
    fra.use_credentials(bus.credentials(&user, now().plus_ms(3_600_000)));
    until("it has a second connection", async || fra.state().connections() >= 2).await;
    fra.jetstream().publish("wk.results.fra.1", "x".into()).await.unwrap().await.unwrap();
    assert_eq!(fra.state().refused(), 0);
}
