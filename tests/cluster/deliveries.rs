//! Operations that a location must be able to use: results, presence, definitions, recheck requests, new credentials.

use async_nats::HeaderMap;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;
use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::definitions::{self, DefinitionEvent, DefinitionSubscription};
use watchkeeper::bus::subjects::BusSubject;
use watchkeeper::bus::users::BusUser;
use watchkeeper::id::Id;
use watchkeeper::model::partition::Partition;

use crate::bus::{Bus, DEADLINE, is_taken_in, location, messages, now, until};

/// Answers the requests of locations for their definitions, as an engine node does.
async fn answer_followers(engine: BusConnection) {
    let mut requests = definitions::requests(&engine).await.unwrap();
    is_taken_in(engine.client(), "wk.look.nobody").await;
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            definitions::answer(&engine, &request).await.unwrap();
        }
    });
}

async fn put(engine: &BusConnection, location_code: &str, service: Id, text: &'static str) -> u64 {
    let subject = definition(location_code, service);
    engine.jetstream().publish(subject, text.into()).await.unwrap().await.unwrap().sequence
}

fn definition(code: &str, service: Id) -> String {
    BusSubject::Definition { location: location(code), partition: Partition::of(5), service }.to_string()
}

async fn change(following: &mut DefinitionSubscription) -> definitions::DefinitionChange {
    loop {
        match timeout(DEADLINE, following.next()).await.unwrap() {
            Some(DefinitionEvent::Change(change)) => return change,
            Some(DefinitionEvent::Idle) => {}
            other => panic!("expected a change, not {other:?}"),
        }
    }
}

#[tokio::test]
async fn results_and_presence_are_acknowledged() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let fra = bus.location("eu.fra").await;
    for partition in 0..3_u8 {
        let subject =
            BusSubject::Results { location: location("eu.fra"), partition: Partition::of(partition.into()) }
                .to_string();
        let acknowledged = fra.jetstream().publish(subject, "x".into()).await.unwrap().await.unwrap();
        assert_eq!(
            (acknowledged.stream.as_str(), acknowledged.sequence),
            ("WK_RESULTS", u64::from(partition) + 1)
        );
    }
    let presence = BusSubject::Presence(location("eu.fra"));
    for report in ["one", "two"] {
        fra.jetstream().publish(presence.to_string(), report.into()).await.unwrap().await.unwrap();
    }
    let bucket = engine.jetstream().get_key_value("wk_presence").await.unwrap();
    let entry = bucket.get(presence.key().unwrap()).await.unwrap();
    assert_eq!(entry.as_deref(), Some(&b"two"[..]));
    assert_eq!(messages(&engine, "KV_wk_presence").await.0, 1);
    assert_eq!(fra.state().refused(), 0);
}

#[tokio::test]
async fn a_location_receives_only_its_own_definitions() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    answer_followers(engine.clone()).await;
    let (old, new) = (Id::random(), Id::random());
    put(&engine, "eu.fra", old, "first").await;
    let second = put(&engine, "eu.fra", old, "second").await;
    put(&engine, "ams", old, "foreign").await;
    let fra = bus.location("eu.fra").await;
    let mut following = DefinitionSubscription::listen(&fra, &location("eu.fra")).await.unwrap();
    assert_eq!(following.ask().await, Ok(1));
    let initial = change(&mut following).await;
    assert_eq!((initial.service, initial.revision, initial.pending), (old, second, 0));
    assert_eq!((initial.partition.number(), initial.definition.as_deref()), (5, Some(&b"second"[..])));
    put(&engine, "ams", new, "foreign").await;
    put(&engine, "eu.fra", new, "third").await;
    let later = change(&mut following).await;
    assert_eq!((later.service, later.definition.as_deref()), (new, Some(&b"third"[..])));
    let mut headers = HeaderMap::new();
    headers.insert("KV-Operation", "DEL");
    let gone = definition("eu.fra", old);
    engine.jetstream().publish_with_headers(gone, headers, Bytes::new()).await.unwrap().await.unwrap();
    let taken = change(&mut following).await;
    assert_eq!((taken.service, taken.definition), (old, None));
    assert_eq!(fra.state().refused(), 0);
}

#[tokio::test]
async fn a_repeated_request_delivers_everything_from_the_start() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    answer_followers(engine.clone()).await;
    let service = Id::random();
    put(&engine, "fra", service, "x").await;
    let fra = bus.location("fra").await;
    let mut following = DefinitionSubscription::listen(&fra, &location("fra")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(following.ask().await, Ok(1));
        assert_eq!(change(&mut following).await.service, service);
    }
    let nobody = bus.location("ams").await;
    let mut following = DefinitionSubscription::listen(&nobody, &location("ams")).await.unwrap();
    assert_eq!(following.ask().await, Ok(0));
}

/// The connection was lost with the first message under way: without it, the later ones are the rest of a delivery before.
#[tokio::test]
async fn a_lost_first_message_is_noticed() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    answer_followers(engine.clone()).await;
    let (first, second) = (Id::random(), Id::random());
    put(&engine, "fra", first, "x").await;
    let fra = bus.location("fra").await;
    let mut thief = fra.client().subscribe("wk.delivery.fra").await.unwrap();
    fra.client().request("wk.follow.fra", Bytes::new()).await.unwrap();
    assert_eq!(&timeout(DEADLINE, thief.next()).await.unwrap().unwrap().payload[..], b"x");
    let mut following = DefinitionSubscription::listen(&fra, &location("fra")).await.unwrap();
    is_taken_in(fra.client(), "wk.renew.fra").await;
    drop(thief);
    put(&engine, "fra", second, "y").await;
    assert_eq!(timeout(DEADLINE, following.next()).await.unwrap(), Some(DefinitionEvent::Lost));
    assert_eq!(following.ask().await, Ok(2));
    assert_eq!(change(&mut following).await.service, first);
    assert_eq!(change(&mut following).await.service, second);
}

#[tokio::test]
async fn a_delivery_continues_after_a_server_restart() {
    let Some(mut bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    answer_followers(engine.clone()).await;
    let (before, after) = (Id::random(), Id::random());
    put(&engine, "fra", before, "x").await;
    let fra = bus.location("fra").await;
    let mut following = DefinitionSubscription::listen(&fra, &location("fra")).await.unwrap();
    following.ask().await.unwrap();
    assert_eq!(change(&mut following).await.service, before);
    bus.server.kill();
    until("both have noticed", async || !engine.state().is_connected() && !fra.state().is_connected()).await;
    bus.server.resume().await;
    until("both are back", async || engine.state().is_connected() && fra.state().is_connected()).await;
    put(&engine, "fra", after, "y").await;
    loop {
        match timeout(DEADLINE, following.next()).await.unwrap() {
            Some(DefinitionEvent::Change(change)) if change.service == after => break,
            Some(DefinitionEvent::Lost) => drop(following.ask().await.unwrap()),
            Some(DefinitionEvent::Change(_) | DefinitionEvent::Idle) => {}
            other => panic!("expected a change, not {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_location_gets_recheck_requests_and_new_credentials() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let fra = bus.location("fra").await;
    let mut looks =
        fra.client().subscribe(BusSubject::CheckRequest(location("fra")).to_string()).await.unwrap();
    is_taken_in(fra.client(), "wk.renew.fra").await;
    engine.client().publish("wk.look.fra", "now".into()).await.unwrap();
    let heard = timeout(DEADLINE, looks.next()).await.unwrap().unwrap();
    assert_eq!((heard.subject.as_str(), &heard.payload[..]), ("wk.look.fra", &b"now"[..]));

    let mut renewals = engine.client().subscribe("wk.renew.*").await.unwrap();
    is_taken_in(engine.client(), "wk.look.nobody").await;
    let answers = engine.client().clone();
    tokio::spawn(async move {
        let request = renewals.next().await.unwrap();
        answers.publish(request.reply.unwrap(), request.subject.as_str().to_owned().into()).await.unwrap();
    });
    let answer = fra.client().request("wk.renew.fra", "".into()).await.unwrap();
    assert_eq!(&answer.payload[..], b"wk.renew.fra");
    assert_eq!((fra.state().refused(), engine.state().refused()), (0, 0));
}

#[tokio::test]
async fn an_enrolment_is_answered() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let id = Id::random();
    let guest = bus.connect(bus.credentials(&BusUser::Enrolment(id), now().plus_ms(60_000))).await.unwrap();
    let mut asked = engine.client().subscribe("wk.enrol.*").await.unwrap();
    is_taken_in(engine.client(), "wk.look.nobody").await;
    let answers = engine.client().clone();
    tokio::spawn(async move {
        let request = asked.next().await.unwrap();
        answers.publish(request.reply.unwrap(), "welcome".into()).await.unwrap();
    });
    let answer = guest.client().request(BusSubject::Enrol(id).to_string(), "key".into()).await.unwrap();
    assert_eq!(&answer.payload[..], b"welcome");
}
