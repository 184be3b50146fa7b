//! Streams and buckets: made at the first start, checked at each, changed only when they differ.

use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::streams::{self, StreamFailure, StreamPreparation};
use watchkeeper::config::limits::BusLimits;

use crate::bus::{Bus, messages, prepare_streams};

#[tokio::test]
async fn streams_are_created_once_and_reused() {
    let Some(bus) = Bus::start().await else { return };
    let (first, second) =
        (bus.connect(bus.node_credentials("a")).await, bus.connect(bus.node_credentials("b")).await);
    let limits = BusLimits::default();
    let done = |prepared: Vec<(String, StreamPreparation)>| {
        prepared.into_iter().map(|(_, done)| done).collect::<Vec<_>>()
    };
    let made = prepare_streams(&first.unwrap(), &limits).await;
    assert_eq!(done(made), [StreamPreparation::Made; 4]);
    let second = second.unwrap();
    let reused = prepare_streams(&second, &limits).await;
    let names: Vec<&str> = reused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["WK_RESULTS", "KV_wk_definitions", "KV_wk_presence", "KV_wk_leases"]);
    assert_eq!(done(reused), [StreamPreparation::Unchanged; 4]);
}

#[tokio::test]
async fn a_changed_limit_changes_only_its_stream_and_loses_nothing() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    engine.jetstream().publish("wk.results.fra.0", "x".into()).await.unwrap().await.unwrap();
    let limits = BusLimits { results_per_subject: 7, ..BusLimits::default() };
    let prepared = prepare_streams(&engine, &limits).await;
    let changed: Vec<&str> = prepared
        .iter()
        .filter_map(|(name, done)| (*done == StreamPreparation::Changed).then_some(name.as_str()))
        .collect();
    assert_eq!(changed, ["WK_RESULTS"]);
    assert_eq!(messages(&engine, "WK_RESULTS").await, (1, 1));
}

#[tokio::test]
async fn two_nodes_may_prepare_at_once() {
    let Some(bus) = Bus::start().await else { return };
    let (a, b) = tokio::join!(bus.connect(bus.node_credentials("a")), bus.connect(bus.node_credentials("b")));
    let (a, b) = (a.unwrap(), b.unwrap());
    let limits = BusLimits::default();
    tokio::join!(prepare_streams(&a, &limits), prepare_streams(&b, &limits));
}

/// A node that starts meanwhile goes on, and asks again.
#[tokio::test]
async fn a_server_that_does_not_answer_has_not_refused() {
    let Some(bus) = Bus::start().await else { return };
    let impatient = BusLimits { request_timeout_ms: 50, ..BusLimits::default() };
    let node = BusConnection::open(&bus.servers(), bus.node_credentials("a"), &impatient).await.unwrap();
    bus.server.signal("STOP");
    let problem = streams::prepare(node.jetstream(), &impatient).await.unwrap_err();
    assert!(matches!(problem.failure, StreamFailure::Unanswered(_)), "{problem}");
    bus.server.signal("CONT");
    prepare_streams(&node, &impatient).await;
}

/// A flood of one location fills its own share; others go on.
#[tokio::test]
async fn only_the_location_that_exceeds_its_share_is_refused() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let limits = BusLimits { results_per_subject: 3, ..BusLimits::default() };
    prepare_streams(&engine, &limits).await;
    let (fra, ams) = (bus.location("fra").await, bus.location("ams").await);
    let send = async |from: &BusConnection, subject: &'static str| {
        from.jetstream().publish(subject, "x".into()).await.unwrap().await
    };
    for _ in 0..3 {
        send(&fra, "wk.results.fra.0").await.unwrap();
    }
    assert!(send(&fra, "wk.results.fra.0").await.is_err());
    assert!(send(&ams, "wk.results.ams.0").await.is_ok());
    assert!(send(&fra, "wk.results.fra.64").await.is_err(), "there is no partition 64");
    assert_eq!(messages(&engine, "WK_RESULTS").await.0, 4);
}
