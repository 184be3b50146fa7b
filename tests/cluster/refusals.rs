//! Operations that users of the bus must not be able to use, each tried without our own client code.

use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::subjects::BusSubject;
use watchkeeper::bus::users::BusUser;
use watchkeeper::id::Id;
use watchkeeper::model::partition::Partition;

use crate::bus::rogue::Rogue;
use crate::bus::{Bus, is_taken_in, location, messages, now};

const STREAMS: [&str; 4] = ["WK_RESULTS", "KV_wk_definitions", "KV_wk_presence", "KV_wk_leases"];

/// Subjects to which no user of the locations' account may publish.
const FOREIGN: [&str; 37] = [
    // Another location's subjects, also those whose code only begins or ends like its own.
    "wk.results.ams.0",
    "wk.results.fr.0",
    "wk.results.fra2.0",
    "wk.results.eu=fra.0",
    "wk.results.fra",
    "wk.results.fra.0.1",
    "wk.renew.ams",
    "wk.follow.ams",
    "wk.look.fra",
    "wk.look.ams",
    "wk.delivery.fra",
    "wk.delivery.ams",
    "$KV.wk_presence.ams",
    "$KV.wk_presence.fra.x",
    // The engine's.
    "$KV.wk_definitions.fra.0.x",
    "$KV.wk_definitions.ams.0.x",
    "$KV.wk_leases.0",
    "wk.node.a",
    "wk.node.all.stop",
    "_INBOX.node.a.1",
    "_INBOX.location.ams.1",
    "_INBOX.location.fra.1",
    "_R_.1",
    // JetStream.
    "$JS.API.INFO",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.LIST",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.STREAM.INFO.WK_RESULTS",
    "$JS.API.STREAM.DELETE.WK_RESULTS",
    "$JS.API.STREAM.PURGE.KV_wk_definitions",
    "$JS.API.STREAM.MSG.GET.KV_wk_definitions",
    "$JS.API.STREAM.MSG.DELETE.KV_wk_leases",
    "$JS.API.DIRECT.GET.KV_wk_definitions.$KV.wk_definitions.ams.0.x",
    "$JS.API.CONSUMER.CREATE.WK_RESULTS",
    "$JS.API.CONSUMER.CREATE.KV_wk_definitions.c.$KV.wk_definitions.ams.>",
    "$JS.API.CONSUMER.MSG.NEXT.KV_wk_definitions.location_ams",
    "$JS.ACK.WK_RESULTS.p0.1.1.1.1.1",
];

/// Subjects to which no user of the locations' account may subscribe.
const OVERHEARD: [&str; 14] = [
    ">",
    "*",
    "wk.>",
    "wk.*.fra",
    "wk.results.>",
    "wk.look.*",
    "wk.look.ams",
    "wk.delivery.ams",
    "wk.follow.fra",
    "_INBOX.>",
    "_INBOX.location.ams.>",
    "$KV.>",
    "$JS.>",
    "$SYS.>",
];

async fn positions(engine: &BusConnection) -> Vec<(u64, u64)> {
    let mut positions = Vec::new();
    for stream in STREAMS {
        positions.push(messages(engine, stream).await);
    }
    positions
}

#[tokio::test]
async fn a_location_may_use_only_its_own_subjects() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let before = positions(&engine).await;
    let rogue = Rogue::connect(&bus, bus.location_credentials("fra")).await;
    for subject in FOREIGN {
        rogue.is_refused_to_publish(subject).await;
    }
    for subject in OVERHEARD {
        rogue.is_refused_to_subscribe(subject).await;
    }
    assert_eq!(positions(&engine).await, before);
    // The same way works for what is its own, so that a refusal above means something.
    let complaints = rogue.said().len();
    for subject in ["wk.results.fra.0", "wk.follow.fra", "$KV.wk_presence.fra"] {
        rogue.client.publish(subject, "x".into()).await.unwrap();
    }
    for subject in ["wk.look.fra", "wk.delivery.fra", "_INBOX.location.fra.>"] {
        drop(rogue.client.subscribe(subject).await.unwrap());
    }
    is_taken_in(&rogue.client, "wk.renew.fra").await;
    assert_eq!(rogue.said().len(), complaints, "{:?}", &rogue.said()[complaints..]);
    let after = positions(&engine).await;
    assert_eq!((after[0].1 - before[0].1, after[2].1 - before[2].1), (1, 1));
}

#[tokio::test]
async fn an_enrolment_may_use_only_its_own_subjects() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let before = positions(&engine).await;
    let (own, other) = (Id::random(), Id::random());
    let rogue = Rogue::connect(&bus, bus.credentials(&BusUser::Enrolment(own), now().plus_ms(60_000))).await;
    let others = BusSubject::Enrol(other).to_string();
    let locations = ["wk.results.fra.0", "$KV.wk_presence.fra", "wk.renew.fra", "wk.follow.fra", &others];
    for subject in FOREIGN.iter().chain(&locations) {
        rogue.is_refused_to_publish(subject).await;
    }
    let inbox = format!("_INBOX.enrol.{other}.>");
    for subject in OVERHEARD.iter().chain(&["wk.look.fra", "wk.delivery.fra", "wk.enrol.*", &inbox]) {
        rogue.is_refused_to_subscribe(subject).await;
    }
    assert_eq!(positions(&engine).await, before);
}

/// No user has access to the servers' own account, and a node cannot receive another node's replies.
#[tokio::test]
async fn a_node_receives_only_its_own_replies() {
    let Some(bus) = Bus::start().await else { return };
    let rogue = Rogue::connect(&bus, bus.node_credentials("a")).await;
    for subject in ["_INBOX.node.b.>", "_INBOX.>", ">", "$SYS.>"] {
        rogue.is_refused_to_subscribe(subject).await;
    }
    for subject in ["_INBOX.node.b.1", "$SYS.REQ.SERVER.PING"] {
        rogue.is_refused_to_publish(subject).await;
    }
}

/// Headers of JetStream that would delete what others wrote, or let it expire.
#[tokio::test]
async fn a_rollup_header_deletes_no_messages_of_others() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let ams = bus.location("ams").await;
    for subject in [
        BusSubject::Presence(location("ams")),
        BusSubject::Results { location: location("ams"), partition: Partition::of(0) },
    ] {
        ams.jetstream().publish(subject.to_string(), "mine".into()).await.unwrap().await.unwrap();
    }
    let rogue = bus.location("fra").await;
    for (name, value) in [("Nats-Rollup", "all"), ("Nats-Rollup", "sub"), ("Nats-TTL", "1s")] {
        for subject in ["$KV.wk_presence.fra", "wk.results.fra.0"] {
            let mut headers = async_nats::HeaderMap::new();
            headers.insert(name, value);
            let answer =
                rogue.jetstream().publish_with_headers(subject, headers, "x".into()).await.unwrap().await;
            assert!(answer.is_err(), "{name}: {value} on {subject}");
        }
    }
    assert_eq!(messages(&engine, "KV_wk_presence").await.0, 1);
    assert_eq!(messages(&engine, "WK_RESULTS").await.0, 1);
}
