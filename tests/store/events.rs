//! Events: a row for every change of an incident or a maintenance, in the transaction of that change, and for an hour.

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::lifecycle;
use watchkeeper::lifecycle::service_deletion::{ServiceDeletion, settle_incidents, settle_maintenances};
use watchkeeper::model::event::{EventAction, EventSubjectKind};
use watchkeeper::model::maintenance::transition::MaintenanceTransition;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::events;

use crate::incidents::made;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::planned::{maintenance, stored};
use crate::support::rows::{at, service, stored_organisation, stored_service};

async fn acts(store: &Store, behind: i64) -> Vec<(EventSubjectKind, EventAction)> {
    let events = events::after(store.main.reader(), behind, 100).await.unwrap();
    events.iter().map(|event| (event.kind, event.act)).collect()
}

#[rstest]
#[tokio::test]
async fn every_change_of_an_incident_writes_an_event(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let affected = stored_service(&store, service(owner.key, "a")).await;
    let mut first = made(&owner, &[&affected]);
    let undone = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&undone, &mut first).await.unwrap();
    undone.undo().await.unwrap();
    assert_eq!(acts(&store, 0).await, [], "what is not committed is not noted");

    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&transaction, &mut first).await.unwrap();
    lifecycle::incidents::save(&transaction, &first, &first, at(200)).await.unwrap();
    let mut changed = first.clone();
    changed.incident.updated_at = at(200);
    lifecycle::incidents::save(&transaction, &first, &changed, at(200)).await.unwrap();
    let id = first.incident.id;
    assert!(
        lifecycle::incidents::delete(&transaction, Visibility::whole(owner.key), id, at(900)).await.unwrap()
    );
    transaction.commit().await.unwrap();
    let noted = events::after(store.main.reader(), 0, 100).await.unwrap();
    let noted: Vec<_> = noted.iter().map(|event| (event.act, event.subject, &*event.services)).collect();
    let services = &[affected.key][..];
    let expected: [(EventAction, &[i64]); 3] =
        [(EventAction::Created, &[]), (EventAction::Updated, &[]), (EventAction::Deleted, services)];
    assert_eq!(noted, expected.map(|(act, services)| (act, id, services)));
}

/// Also its changes when a service is deleted.
#[rstest]
#[tokio::test]
async fn every_change_of_a_maintenance_writes_an_event(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(false, true)] delete_orphaned: bool,
) {
    use watchkeeper::model::maintenance::MaintenanceStatus::Scheduled;
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let covered = stored_service(&store, service(owner.key, "a")).await;
    let planned = stored(&store, maintenance(owner.key, Scheduled), (&[covered.key], 0)).await;
    let before = events::newest(store.main.reader()).await.unwrap();
    let noted = events::after(store.main.reader(), 0, 100).await.unwrap();
    let created = noted.iter().find(|event| event.subject == planned.id).unwrap();
    assert_eq!((created.act, &*created.services), (EventAction::Created, &[] as &[i64]));
    let transaction = store.main.begin().await.unwrap();
    let step = MaintenanceTransition { after: planned.clone(), entries: Vec::new() };
    lifecycle::maintenances::carry_out(&transaction, &step, at(900)).await.unwrap();
    settle_maintenances(&transaction, covered.key, delete_orphaned, at(900)).await.unwrap();
    transaction.commit().await.unwrap();
    let end = if delete_orphaned { EventAction::Deleted } else { EventAction::Updated };
    assert_eq!(
        acts(&store, before).await,
        [EventAction::Updated, end].map(|act| (EventSubjectKind::Maintenance, act))
    );
}

/// Those of others neither show nor count.
#[rstest]
#[tokio::test]
async fn only_events_of_the_organisation_are_read(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = (stored_organisation(&store, "1").await, stored_organisation(&store, "2").await);
    let mut own = Vec::new();
    for owner in [&two, &one, &two, &two, &one, &one] {
        let mut made = made(owner, &[]);
        let transaction = store.main.begin().await.unwrap();
        lifecycle::incidents::insert(&transaction, &mut made).await.unwrap();
        transaction.commit().await.unwrap();
        own.extend((owner.key == one.key).then_some(made.incident.id));
    }
    let read = async |number: i64, limit: u64| {
        let found = events::of_organisation(store.main.reader(), one.key, number, limit).await.unwrap();
        let last = found.last().map(|event| event.number);
        (found.iter().map(|event| event.subject).collect::<Vec<_>>(), last)
    };
    let (first, last) = read(0, 2).await;
    assert_eq!(first, own[..2]);
    assert_eq!(read(last.unwrap(), 2).await.0, own[2..]);
}

/// Its time begins when upkeep finds it, and numbers are never given again.
#[rstest]
#[tokio::test]
async fn an_event_is_stored_for_an_hour(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let note = async || {
        let transaction = store.main.begin().await.unwrap();
        lifecycle::incidents::insert(&transaction, &mut made(&owner, &[])).await.unwrap();
        transaction.commit().await.unwrap();
        events::newest(store.main.reader()).await.unwrap()
    };
    let forget = async |now: Timestamp| {
        let transaction = store.main.begin().await.unwrap();
        let removed = events::forget_old(&transaction, now).await.unwrap();
        transaction.commit().await.unwrap();
        removed
    };
    let first = note().await;
    let found_at = at(1_000);
    assert_eq!(forget(found_at).await, 0);
    assert_eq!(forget(found_at.plus_ms(events::RETENTION_MS - 1)).await, 0);
    assert_eq!(forget(found_at.plus_ms(events::RETENTION_MS)).await, 1);
    assert_eq!(events::newest(store.main.reader()).await.unwrap(), 0);
    assert!(note().await > first);
}

/// The services that were affected until then. The services affected now are read when the event is sent.
#[rstest]
#[tokio::test]
async fn an_event_names_the_services_that_were_removed(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    use watchkeeper::model::maintenance::MaintenanceStatus::Scheduled;
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let [a, b] = ["a", "b"].map(|name| stored_service(&store, service(owner.key, name)));
    let (a, b) = (a.await, b.await);
    let planned = stored(&store, maintenance(owner.key, Scheduled), (&[a.key, b.key], 0)).await;
    let transaction = store.main.begin().await.unwrap();
    let mut first = made(&owner, &[&a, &b]);
    lifecycle::incidents::insert(&transaction, &mut first).await.unwrap();
    transaction.commit().await.unwrap();
    let before = events::newest(store.main.reader()).await.unwrap();

    let transaction = store.main.begin().await.unwrap();
    let mut changed = first.clone();
    changed.services.retain(|affected| affected.service == b.key);
    lifecycle::incidents::save(&transaction, &first, &changed, at(200)).await.unwrap();
    lifecycle::maintenances::cover(&transaction, planned.key, &[b.key], at(200)).await.unwrap();
    let message = TranslatedText::single("en", "Gone.");
    let deletion = ServiceDeletion {
        organisation: owner.key,
        service: b.key,
        at: at(900),
        deletes_orphans: false,
        message: &message,
    };
    settle_incidents(&transaction, &deletion).await.unwrap();
    settle_maintenances(&transaction, b.key, false, at(900)).await.unwrap();
    transaction.commit().await.unwrap();
    let noted = events::after(store.main.reader(), before, 100).await.unwrap();
    let noted = noted.iter().map(|event| (event.kind, event.act, &*event.services, &*event.former));
    let (a, b, none): (&[i64], &[i64], &[i64]) = (&[a.key], &[b.key], &[]);
    let expected = [
        (EventSubjectKind::Incident, EventAction::Updated, none, a),
        (EventSubjectKind::Maintenance, EventAction::Updated, none, a),
        (EventSubjectKind::Incident, EventAction::Resolved, none, b),
        (EventSubjectKind::Maintenance, EventAction::Updated, none, b),
    ];
    assert_eq!(noted.collect::<Vec<_>>(), expected);
}
