//! A location names a foreign subject as the place of an answer: what JetStream and the engine then send stays in the
//! locations' account, and is nothing that anybody takes for a message of ours.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;
use watchkeeper::bus::definitions::{DefinitionEvent, DefinitionSubscription};

use crate::bus::rogue::Rogue;
use crate::bus::{Bus, DEADLINE, is_taken_in, location, messages};

/// Subjects at which a wrong reply would do harm in the engine's account.
const TARGETS: [&str; 10] = [
    "$KV.wk_leases.0",
    "$KV.wk_definitions.ams.0.AAAAAAAAAAAAAAAAAAAAA",
    "$KV.wk_presence.ams",
    "wk.node.a",
    "wk.renew.ams",
    "wk.follow.ams",
    "wk.enrol.AAAAAAAAAAAAAAAAAAAAA",
    "$JS.API.STREAM.PURGE.WK_RESULTS",
    "$JS.API.STREAM.DELETE.KV_wk_definitions",
    "_INBOX.node.a.1",
];

/// Sends an honest result; returns its number.
async fn acknowledged(rogue: &Rogue) -> u64 {
    let jetstream = async_nats::jetstream::new(rogue.client.clone());
    jetstream.publish("wk.results.fra.0", "x".into()).await.unwrap().await.unwrap().sequence
}

#[tokio::test]
async fn an_acknowledgement_subject_cannot_address_the_engine() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let mut subscriptions = Vec::new();
    for pattern in ["wk.node.>", "wk.renew.*", "wk.follow.*", "wk.enrol.*"] {
        subscriptions.push(engine.client().subscribe(pattern).await.unwrap());
    }
    let mut inbox = engine.client().subscribe("_INBOX.node.a.1").await.unwrap();
    is_taken_in(engine.client(), "wk.look.nobody").await;
    let rogue = Rogue::connect(&bus, bus.location_credentials("fra")).await;
    for target in TARGETS {
        rogue.client.publish_with_reply("wk.results.fra.0", target, "x".into()).await.unwrap();
    }
    let stored = u64::try_from(TARGETS.len()).unwrap() + 1;
    // JetStream acknowledges in order: when this one is here, the others are where they were sent.
    assert_eq!(acknowledged(&rogue).await, stored);
    for stream in ["KV_wk_leases", "KV_wk_definitions", "KV_wk_presence"] {
        assert_eq!(messages(&engine, stream).await, (0, 0), "{stream}");
    }
    assert_eq!(messages(&engine, "WK_RESULTS").await, (stored, stored));
    // Messages sent before these would have arrived before them.
    for (listener, subject) in
        subscriptions.iter_mut().zip(["wk.node.a", "wk.renew.a", "wk.follow.a", "wk.enrol.a"])
    {
        engine.client().publish(subject, "last".into()).await.unwrap();
        let first = timeout(DEADLINE, listener.next()).await.unwrap().unwrap();
        assert_eq!(&first.payload[..], b"last", "{subject}");
    }
    assert!(timeout(Duration::ZERO, inbox.next()).await.is_err());
}

/// The bound of what is left: junk that is recognised.
#[tokio::test]
async fn junk_sent_as_another_location_is_recognised() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let ams = bus.location("ams").await;
    let mut following = DefinitionSubscription::listen(&ams, &location("ams")).await.unwrap();
    let mut looks = ams.client().subscribe("wk.look.ams").await.unwrap();
    is_taken_in(ams.client(), "wk.renew.ams").await;
    let rogue = Rogue::connect(&bus, bus.location_credentials("fra")).await;
    for target in ["wk.delivery.ams", "wk.look.ams", "wk.results.ams.0", "wk.follow.ams"] {
        rogue.client.publish_with_reply("wk.results.fra.0", target, Bytes::from_static(b"x")).await.unwrap();
    }
    acknowledged(&rogue).await;
    let delivered = timeout(DEADLINE, following.next()).await.unwrap();
    assert_eq!(delivered, Some(DefinitionEvent::Foreign));
    let look = timeout(DEADLINE, looks.next()).await.unwrap().unwrap();
    assert!(look.payload.starts_with(b"{\"stream\":\"WK_RESULTS\""), "{:?}", look.payload);
    let stored = messages(&engine, "WK_RESULTS").await.1;
    assert_eq!(stored, 5, "an acknowledgement became a result");
}
