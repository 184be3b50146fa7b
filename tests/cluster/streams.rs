//! Streams and buckets: made at the first start, checked at each, changed only when they differ.

use watchkeeper::bus::streams::{self, StreamPreparation};
use watchkeeper::config::limits::BusLimits;

use crate::bus::{Bus, messages};

#[tokio::test]
async fn streams_are_created_once_and_reused() {
    let Some(bus) = Bus::start().await else { return };
    let (first, second) =
        (bus.connect(bus.node_credentials("a")).await, bus.connect(bus.node_credentials("b")).await);
    let limits = BusLimits::default();
    let done = |prepared: Vec<(String, StreamPreparation)>| {
        prepared.into_iter().map(|(_, done)| done).collect::<Vec<_>>()
    };
    let made = streams::prepare(first.unwrap().jetstream(), &limits).await.unwrap();
    assert_eq!(done(made), [StreamPreparation::Made; 4]);
    let second = second.unwrap();
    let reused = streams::prepare(second.jetstream(), &limits).await.unwrap();
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
    let prepared = streams::prepare(engine.jetstream(), &limits).await.unwrap();
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
    let (a, b) =
        tokio::join!(streams::prepare(a.jetstream(), &limits), streams::prepare(b.jetstream(), &limits));
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
}

/// A flood of one location fills its own share; others go on.
#[tokio::test]
async fn only_the_location_that_exceeds_its_share_is_refused() {
    let Some(bus) = Bus::start().await else { return };
    let engine = bus.node("a").await;
    let limits = BusLimits { results_per_subject: 3, ..BusLimits::default() };
    streams::prepare(engine.jetstream(), &limits).await.unwrap();
    let (fra, ams) = (bus.location("fra").await, bus.location("ams").await);
    let send = async |from: &watchkeeper::bus::connection::BusConnection, subject: &'static str| {
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
