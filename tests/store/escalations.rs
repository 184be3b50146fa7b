//! Steps of escalations: each is taken once, whoever looks how often, and none after somebody has taken the incident.

use rstest::rstest;
use watchkeeper::id::Id;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::escalation::{Assignment, EscalationPolicy, Step};
use watchkeeper::model::incident::Severity;
use watchkeeper::model::notification::Event;
use watchkeeper::model::notification::routing::Routed;
use watchkeeper::store::escalation_steps::{DueStep, due, take_step};
use watchkeeper::store::escalations::find;
use watchkeeper::store::notifications::courier;
use watchkeeper::store::{escalation_policies, incidents};

use crate::incidents::made;
use crate::notifications::stored_channel;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, stored_organisation};

/// A policy of two steps, a minute apart, that begins anew after a minute.
async fn stored_policy(store: &Store, owner: &Organisation) -> EscalationPolicy {
    let channel = stored_channel(store, owner).await;
    let told = Routed { key: channel.key, id: channel.id };
    let step = |after_seconds| Step {
        after_seconds,
        channels: vec![told],
        contacts: Vec::new(),
        schedules: Vec::new(),
    };
    let policy = EscalationPolicy {
        key: 0,
        id: Id::random(),
        organisation: owner.key,
        position: 1,
        name: "Shop".into(),
        assignment: Assignment { min_severity: Severity::Minor, selection: None },
        steps: vec![step(0), step(60)],
        repeat_after_seconds: Some(60),
        created_at: at(1),
        updated_at: at(1),
    };
    let transaction = store.main.begin().await.unwrap();
    let policy = escalation_policies::insert(&transaction, policy).await.unwrap();
    transaction.commit().await.unwrap();
    policy
}

async fn take(store: &Store, step: DueStep, now: i64) -> usize {
    let transaction = store.main.begin().await.unwrap();
    let messages = take_step(&transaction, step, at(now)).await.unwrap();
    transaction.commit().await.unwrap();
    messages
}

#[rstest]
#[tokio::test]
async fn a_step_is_taken_once(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let policy = stored_policy(&store, &owner).await;
    let transaction = store.main.begin().await.unwrap();
    let mut incident = made(&owner, &[]);
    incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    let begun = incident.incident.updated_at;
    let main = store.main.reader();
    let steps = due(main, begun, 9).await.unwrap();
    assert_eq!(steps, [DueStep { incident: incident.incident.key, organisation: owner.key }]);
    let second = |seconds: i64| (begun.ms() - at(0).ms()) + seconds * 1_000;
    let taken = [take(&store, steps[0], second(0)).await, take(&store, steps[0], second(0)).await];
    assert_eq!(taken, [1, 0], "whoever comes second finds nothing");
    assert_eq!(take(&store, steps[0], second(59)).await, 0, "not before its time");
    assert_eq!(take(&store, steps[0], second(60)).await, 1);
    let (follows, progress) = find(main, incident.incident.key).await.unwrap().unwrap();
    assert_eq!((follows, progress.round, progress.next_step), (policy, 2, 0));
    let told = courier::due(main, at(second(200)), &[], 9).await.unwrap();
    let events: Vec<Event> = told.iter().map(|delivery| delivery.message.event).collect();
    assert_eq!(events, [Event::IncidentOpened], "the others wait behind it");
}
