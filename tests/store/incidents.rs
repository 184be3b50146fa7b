//! Incidents: every field and link survives, a difference is all that is written, a deleted service and a measured recovery
//! leave the right rows.

use rstest::rstest;
use watchkeeper::id::Id;
use watchkeeper::incidents::recovery::mark_missed_recoveries;
use watchkeeper::lifecycle;
use watchkeeper::lifecycle::service_deletion::{IncidentCleanup, ServiceDeletion, settle_incidents};
use watchkeeper::model::access::Organisation;
use watchkeeper::model::announcement::AnnouncementAuthor;
use watchkeeper::model::history::MeasuredStatus::{Down, NoData, Up};
use watchkeeper::model::incident::{
    ChosenPage, Incident, IncidentKind, IncidentStatus, IncidentTimelineEntry, OpenPeriod, Severity,
    WholeIncident,
};
use watchkeeper::model::incident_policy::OutageKind;
use watchkeeper::model::outage::Outage;
use watchkeeper::model::service::{NamedService, Service};
use watchkeeper::model::timeline_size::TimelineSize;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::PageWindow;
use watchkeeper::store::incidents::list::{IncidentFilter, page, periods};
use watchkeeper::store::{incidents, outages, services};

use crate::linked::stored_page;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{append_changes, at, change, service, stored_organisation, stored_service};

/// An open incident of this organisation that began at 100 and affects these services since 110.
pub(crate) fn made(owner: &Organisation, affected: &[&Service]) -> WholeIncident {
    let text = |en: &str| TranslatedText::from_stored(&format!(r#"{{"de":"ä","en":"{en}"}}"#)).unwrap();
    let incident = Incident {
        key: 0,
        id: Id::random(),
        organisation: owner.key,
        title: text("Slow"),
        kind: IncidentKind::Standard,
        status: IncidentStatus::Identified,
        severity: Severity::Major,
        is_published: true,
        started_at: at(100),
        resolved_at: None,
        sla_counts_as_downtime: true,
        created_by: Some(AnnouncementAuthor { id: Id::random(), name: "Bot".into() }),
        acknowledgement: None,
        created_at: at(110),
        updated_at: at(110),
    };
    let first = entry(IncidentStatus::Identified, 110);
    let mut made = WholeIncident {
        incident,
        services: Vec::new(),
        others: 0,
        statuspages: Vec::new(),
        updates: vec![first],
        unread_updates: TimelineSize::default(),
        internal_updates: Vec::new(),
        automation: None,
    };
    made.affect(affected.iter().copied().map(named), at(110));
    made
}

fn named(service: &Service) -> NamedService {
    NamedService { key: service.key, id: service.id, name: service.name.clone() }
}

fn entry(status: IncidentStatus, ms: i64) -> IncidentTimelineEntry {
    let message = TranslatedText::single("en", "News");
    IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers: false, created_at: at(ms) }
}

async fn stored(store: &Store, mut whole: WholeIncident) -> WholeIncident {
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&transaction, &mut whole).await.unwrap();
    transaction.commit().await.unwrap();
    whole
}

async fn read(store: &Store, whole: &WholeIncident) -> Option<WholeIncident> {
    let Incident { organisation, id, .. } = whole.incident;
    let incident =
        incidents::find(store.main.reader(), Visibility::whole(organisation), id).await.unwrap()?;
    Some(incidents::whole(store.main.reader(), Visibility::whole(organisation), incident).await.unwrap())
}

async fn saved(store: &Store, before: &WholeIncident, after: &WholeIncident) {
    let transaction = store.main.begin().await.unwrap();
    let Incident { organisation, id, .. } = before.incident;
    let locked = incidents::find_for_update(&transaction, Visibility::whole(organisation), id).await.unwrap();
    assert_eq!(locked.as_ref(), Some(before));
    lifecycle::incidents::save(&transaction, before, after, at(200)).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn three_services(store: &Store) -> (Organisation, [Service; 3]) {
    let owner = stored_organisation(store, "owner").await;
    let mut made = Vec::new();
    for name in ["c", "a", "b"] {
        made.push(stored_service(store, service(owner.key, name)).await);
    }
    (owner, made.try_into().unwrap())
}

#[rstest]
#[tokio::test]
async fn every_field_and_link_survives(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (owner, [c, a, b]) = three_services(&store).await;
    let mut whole = made(&owner, &[&c, &a]);
    for name in ["Zwei", "Eins"] {
        let page = stored_page(&store, owner.key, name).await;
        whole.statuspages.push(ChosenPage { key: page.key, id: page.id, name: page.name });
    }
    let first = stored(&store, whole).await;
    assert_eq!(read(&store, &first).await.as_ref(), Some(&first));
    let foreign = incidents::find(store.main.reader(), Visibility::whole(owner.key + 1), first.incident.id)
        .await
        .unwrap();
    assert_eq!(foreign, None);

    let mut second = first.clone();
    second.set_severity(Severity::Critical);
    second.affect([&b, &a].map(named), at(200));
    second.statuspages.reverse();
    second.incident.title = TranslatedText::single("en", "New");
    second.incident.created_by = None;
    second.incident.sla_counts_as_downtime = false;
    saved(&store, &first, &second).await;
    assert_eq!(read(&store, &first).await.as_ref(), Some(&second));

    let mut third = second.clone();
    third.services[0].recovered_at = Some(at(150));
    third.resolve(entry(IncidentStatus::Resolved, 300), at(290));
    third.statuspages.clear();
    saved(&store, &second, &third).await;
    assert_eq!(read(&store, &first).await.as_ref(), Some(&third));

    let mut fourth = third.clone();
    fourth.post(entry(IncidentStatus::Monitoring, 400));
    saved(&store, &third, &fourth).await;
    assert_eq!(read(&store, &first).await.as_ref(), Some(&fourth));

    let transaction = store.main.begin().await.unwrap();
    assert!(
        !lifecycle::incidents::delete(
            &transaction,
            Visibility::whole(owner.key + 1),
            first.incident.id,
            at(900)
        )
        .await
        .unwrap()
    );
    assert!(
        lifecycle::incidents::delete(&transaction, Visibility::whole(owner.key), first.incident.id, at(900))
            .await
            .unwrap()
    );
    transaction.commit().await.unwrap();
    assert_eq!(read(&store, &first).await, None);
}

/// Contract 4.10.5, 4.7; the black-box tests say more, but on SQLite alone.
#[rstest]
#[tokio::test]
async fn lists_and_periods_are_filtered(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (owner, [c, a, b]) = three_services(&store).await;
    let open = stored(&store, made(&owner, &[&c, &a])).await;
    let mut over = made(&owner, &[&b, &a]);
    over.post(entry(IncidentStatus::Resolved, 200));
    over.incident.is_published = false;
    let over = stored(&store, over).await;
    let mut notice = made(&owner, &[&a]);
    notice.incident.kind = IncidentKind::Notice;
    notice.incident.started_at = at(300);
    let notice = stored(&store, notice).await;

    let none = IncidentFilter::default();
    let both = || {
        let mut both = [&open, &over];
        both.sort_by_key(|whole| whole.incident.id.as_str().to_owned());
        both
    };
    let all = [&[&notice][..], &both()].concat();
    for (filter, expected) in [
        (none.clone(), all.clone()),
        (IncidentFilter { of_service: Some(a.key), ..none.clone() }, all),
        (
            IncidentFilter { of_service: Some(a.key), services: Some(vec![c.key, b.key]), ..none.clone() },
            both().into(),
        ),
        (IncidentFilter { services: Some(vec![]), ..none.clone() }, vec![]),
        (IncidentFilter { resolved: Some(true), ..none.clone() }, vec![&over]),
        (
            IncidentFilter { resolved: Some(false), is_published: Some(true), ..none.clone() },
            vec![&notice, &open],
        ),
        (IncidentFilter { is_published: Some(false), ..none.clone() }, vec![&over]),
        (IncidentFilter { kind: Some(IncidentKind::Notice), ..none.clone() }, vec![&notice]),
        (IncidentFilter { from: Some(at(201)), ..none.clone() }, vec![&notice, &open]),
        (IncidentFilter { from: Some(at(200)), to: Some(at(300)), ..none.clone() }, both().into()),
        (IncidentFilter { to: Some(at(100)), ..none.clone() }, vec![]),
    ] {
        let (rows, total) = page(
            store.main.reader(),
            Visibility::whole(owner.key),
            &filter,
            PageWindow { offset: 0, limit: 10 },
        )
        .await
        .unwrap();
        let expected: Vec<_> =
            expected.into_iter().map(|whole| (whole.incident.clone(), whole.services.clone())).collect();
        assert_eq!((rows.as_slice(), total), (expected.as_slice(), expected.len() as u64), "{filter:?}");
        let (foreign, total) = page(
            store.main.reader(),
            Visibility::whole(owner.key + 1),
            &filter,
            PageWindow { offset: 0, limit: 10 },
        )
        .await
        .unwrap();
        assert_eq!((foreign.len(), total), (0, 0));
        let second = PageWindow { offset: 1, limit: 1 };
        let (rest, _) =
            page(store.main.reader(), Visibility::whole(owner.key), &filter, second).await.unwrap();
        assert_eq!(rest.as_slice(), expected.get(1..2).unwrap_or_default());
    }
    let mut found = periods(store.main.reader(), Visibility::whole(owner.key), a.key, at(150)).await.unwrap();
    found.sort_by_key(|period| period.resolved_at);
    let period = |resolved_at| OpenPeriod { started_at: at(100), resolved_at };
    assert_eq!(found, [period(None), period(Some(at(200)))]);
    assert_eq!(periods(store.main.reader(), Visibility::whole(owner.key), b.key, at(201)).await.unwrap(), []);
}

/// Contract 4.3.9, incident rows of the table.
#[rstest]
#[case(false, IncidentCleanup { resolved: 1, deleted: 0, detached: 3 })]
#[case(true, IncidentCleanup { resolved: 0, deleted: 2, detached: 2 })]
#[tokio::test]
async fn a_deleted_service_is_removed_from_its_incidents(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] deletes_orphans: bool,
    #[case] expected: IncidentCleanup,
) {
    let Some(store) = backend.open().await else { return };
    let (owner, [c, a, _]) = three_services(&store).await;
    let over = |mut whole: WholeIncident| {
        whole.post(entry(IncidentStatus::Resolved, 200));
        whole
    };
    let alone_open = stored(&store, made(&owner, &[&a])).await;
    let alone_over = stored(&store, over(made(&owner, &[&a]))).await;
    let shared_open = stored(&store, made(&owner, &[&a, &c])).await;
    let shared_over = stored(&store, over(made(&owner, &[&c, &a]))).await;
    let other = stored(&store, made(&owner, &[&c])).await;

    let message = TranslatedText::single("en", "Gone");
    let deletion = ServiceDeletion {
        organisation: owner.key,
        service: a.key,
        at: at(50),
        deletes_orphans,
        message: &message,
    };
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(settle_incidents(&transaction, &deletion).await.unwrap(), expected);
    services::delete(&transaction, a.key).await.unwrap();
    transaction.commit().await.unwrap();

    let detached = |whole: &WholeIncident| {
        let mut detached = whole.clone();
        detached.services.retain(|row| row.service != a.key);
        Some(detached)
    };
    for whole in [&shared_open, &shared_over, &other] {
        assert_eq!(read(&store, whole).await, detached(whole));
    }
    if deletes_orphans {
        assert_eq!((read(&store, &alone_open).await, read(&store, &alone_over).await), (None, None));
        return;
    }
    assert_eq!(read(&store, &alone_over).await, detached(&alone_over));
    let ended = read(&store, &alone_open).await.unwrap();
    assert_eq!(ended.incident.status, IncidentStatus::Resolved);
    assert_eq!(ended.incident.resolved_at, Some(at(100)), "not before it began, whatever the clock says");
    let last = ended.updates.last().unwrap();
    assert_eq!(
        (last.status, &last.message, last.notify_subscribers),
        (IncidentStatus::Resolved, &message, false)
    );
    assert_eq!((ended.updates.len(), last.created_at), (2, at(50)));
}

/// The last awaited service of an incident is deleted: those that have recovered are examined at once, not in a minute.
#[rstest]
#[tokio::test]
async fn an_incident_does_not_wait_for_a_deleted_service(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (owner, [c, a, b]) = three_services(&store).await;
    let [waits, other] = [made(&owner, &[&c, &a]), made(&owner, &[&b])];
    let [waits, other] = [stored(&store, waits).await, stored(&store, other).await];
    let outage = |service, incident: &WholeIncident, recovered_at| Outage {
        incident: Some(incident.incident.key),
        reported_at: Some(at(100)),
        recovered_at,
        evaluate_at: Some(at(60_000)),
        ..Outage::begun(owner.key, service, OutageKind::Down, at(90))
    };
    let all = [
        outage(c.key, &waits, Some(at(200))),
        outage(a.key, &waits, None),
        outage(b.key, &other, Some(at(200))),
    ];
    let message = TranslatedText::single("en", "Gone");
    let (organisation, service) = (owner.key, a.key);
    let deletion =
        ServiceDeletion { organisation, service, at: at(300), deletes_orphans: false, message: &message };
    let transaction = store.main.begin().await.unwrap();
    outages::save(&transaction, &all).await.unwrap();
    settle_incidents(&transaction, &deletion).await.unwrap();
    services::delete(&transaction, a.key).await.unwrap();
    transaction.commit().await.unwrap();
    let mut left = outages::of_services(store.main.reader(), &[a.key, b.key, c.key]).await.unwrap();
    left.sort_by_key(|outage| outage.evaluate_at);
    let looks: Vec<_> = left.iter().map(|outage| (outage.service, outage.evaluate_at)).collect();
    assert_eq!(looks, [(c.key, Some(at(300))), (b.key, Some(at(60_000)))]);
}

/// Contract 4.9: recoveries in the history of services of open incidents, at a start and on a notification.
#[rstest]
#[tokio::test]
async fn a_missed_recovery_is_read_from_the_history(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(true, false)] at_start: bool,
) {
    let Some(store) = backend.open().await else { return };
    let (owner, [c, a, b]) = three_services(&store).await;
    let open = stored(&store, made(&owner, &[&c, &a, &b])).await;
    let mut notice = made(&owner, &[&a]);
    notice.incident.kind = IncidentKind::Notice;
    let notice = stored(&store, notice).await;
    append_changes(
        &store.history,
        &[
            // Back before the incident affected it, and never bad since.
            change(c.key, 50, (Up, Down)),
            change(c.key, 60, (Down, Up)),
            change(c.key, 150, (Up, NoData)),
            change(c.key, 160, (NoData, Up)),
            // Back, bad, and back again: the first return counts.
            change(a.key, 50, (Up, Down)),
            change(a.key, 120, (Down, NoData)),
            change(a.key, 130, (NoData, Up)),
            change(a.key, 140, (Up, Down)),
            change(a.key, 150, (Down, Up)),
            // Still down.
            change(b.key, 50, (Up, Down)),
        ],
    )
    .await;
    let keys = [c.key, a.key, b.key, 77];
    for _ in 0..2 {
        mark_missed_recoveries(&store, (!at_start).then_some(&keys[..])).await.unwrap();
        let mut expected = open.clone();
        expected.services[0].recovered_at = Some(at(130));
        assert_eq!(read(&store, &open).await, Some(expected), "a second time changes nothing");
        assert_eq!(read(&store, &notice).await.as_ref(), Some(&notice));
    }
    append_changes(&store.history, &[change(b.key, 500, (Down, Up))]).await;
    mark_missed_recoveries(&store, Some(&[a.key])).await.unwrap();
    assert_eq!(read(&store, &open).await.unwrap().services[1].recovered_at, None, "nobody asked about it");
    mark_missed_recoveries(&store, Some(&[b.key])).await.unwrap();
    assert_eq!(read(&store, &open).await.unwrap().services[1].recovered_at, Some(at(500)));
}
