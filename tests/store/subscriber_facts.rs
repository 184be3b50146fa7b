//! Facts for subscribers: which entries and reminders become one, for which pages, each once, and for how long they are kept.

use rstest::rstest;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::announcement::TimelineEntry;
use watchkeeper::model::component::Component;
use watchkeeper::model::incident::{ChosenPage, IncidentStatus, WholeIncident};
use watchkeeper::model::maintenance::transition::{
    MaintenanceTransition, OperationContext, RescheduleOptions,
};
use watchkeeper::model::maintenance::{
    Maintenance, MaintenanceNotices, MaintenanceStatus, MaintenanceWindow,
};
use watchkeeper::model::service::ServiceKey;
use watchkeeper::model::subscriber_fact::FactKind::{
    IncidentEntry, MaintenanceAnnounced, MaintenanceCancelled, MaintenanceCompleted, MaintenanceDayBefore,
    MaintenanceHourBefore, MaintenanceMoved, MaintenanceStarted,
};
use watchkeeper::model::subscriber_fact::{FactKind, RETENTION_MS, SubscriberFact};
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::store::components;
use watchkeeper::store::id_lookup::LinkedPage;
use watchkeeper::store::maintenances::reminders;
use watchkeeper::store::subscriber_facts::{after, forget};

use crate::incidents::made;
use crate::linked::stored_page;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::planned::maintenance;
use crate::support::rows::{at, service, stored_organisation, stored_service};

const HOUR_MS: i64 = 3_600_000;

async fn facts(store: &Store, owner: &Organisation) -> Vec<SubscriberFact> {
    after(store.main.reader(), owner.key, 0, 100).await.unwrap()
}

async fn kinds(store: &Store, owner: &Organisation) -> Vec<FactKind> {
    facts(store, owner).await.into_iter().map(|fact| fact.kind).collect()
}

fn entry(text: &str, notify_subscribers: bool) -> TimelineEntry<IncidentStatus> {
    let message = TranslatedText::single("en", text);
    TimelineEntry {
        id: Id::random(),
        status: IncidentStatus::Monitoring,
        message,
        notify_subscribers,
        created_at: at(200),
    }
}

async fn save(store: &Store, incident: &mut WholeIncident, change: impl FnOnce(&mut WholeIncident)) {
    let mut changed = incident.clone();
    change(&mut changed);
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::save(&transaction, incident, &changed, at(300)).await.unwrap();
    transaction.commit().await.unwrap();
    *incident = changed;
}

async fn inserted(store: &Store, mut incident: WholeIncident) -> WholeIncident {
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    incident
}

/// Stored facts, by the texts of the entries.
async fn texts_of(store: &Store, owner: &Organisation) -> Vec<String> {
    let facts = facts(store, owner).await;
    assert!(facts.iter().all(|fact| fact.kind == IncidentEntry));
    facts.iter().map(|fact| fact.message.text("en", "en").to_owned()).collect()
}

/// Contract 4.10.3: entries that are for subscribers, while the incident is published; when it is, the newest entry.
#[rstest]
#[tokio::test]
async fn entries_of_a_published_incident_are_notified(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let mut incident = made(&owner, &[]);
    incident.incident.is_published = false;
    incident.updates = vec![entry("first", true)];
    let mut incident = inserted(&store, incident).await;
    save(&store, &mut incident, |changed| changed.updates.push(entry("second", true))).await;
    assert!(facts(&store, &owner).await.is_empty(), "nobody hears of what is internal");
    save(&store, &mut incident, |changed| changed.incident.is_published = true).await;
    assert_eq!(texts_of(&store, &owner).await, ["second"]);
    save(&store, &mut incident, |changed| changed.updates.push(entry("quiet", false))).await;
    save(&store, &mut incident, |changed| changed.updates.push(entry("third", true))).await;
    save(&store, &mut incident, |changed| changed.incident.is_published = false).await;
    save(&store, &mut incident, |changed| changed.incident.is_published = true).await;
    assert_eq!(texts_of(&store, &owner).await, ["second", "third"], "no text is sent twice");
}

#[rstest]
#[tokio::test]
async fn a_publication_with_a_quiet_entry_notifies_nobody(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let mut incident = made(&owner, &[]);
    incident.incident.is_published = false;
    incident.updates = vec![entry("first", true), entry("quiet", false)];
    let mut incident = inserted(&store, incident).await;
    save(&store, &mut incident, |changed| changed.incident.is_published = true).await;
    assert!(facts(&store, &owner).await.is_empty());
}

/// A component for the service below a group; both visible or not.
async fn show(
    store: &Store,
    page: &LinkedPage,
    service: ServiceKey,
    (group_is_visible, is_visible): (bool, bool),
) {
    let new = || Component::new(page.key, TranslatedText::single("en", "Part"), at(1));
    let transaction = store.main.begin().await.unwrap();
    let group = Component { is_group: true, is_visible: group_is_visible, ..new() };
    let group = components::insert(&transaction, group).await.unwrap();
    let part = Component { parent: Some(group.key), service: Some(service), is_visible, ..new() };
    components::insert(&transaction, part).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Contract 4.10.2: the chosen pages, or else every page with a visible component of an affected service.
#[rstest]
#[tokio::test]
async fn a_fact_is_for_the_pages_that_show_it(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let affected = stored_service(&store, service(owner.key, "a")).await;
    let mut pages = Vec::new();
    for name in ["shows", "hides", "hides the group", "shows others"] {
        pages.push(stored_page(&store, owner.key, name).await);
    }
    let [shows, hides, hides_the_group, other] = &pages[..] else { unreachable!() };
    show(&store, shows, affected.key, (true, true)).await;
    show(&store, hides, affected.key, (true, false)).await;
    show(&store, hides_the_group, affected.key, (false, true)).await;
    let mut by_service = made(&owner, &[&affected]);
    by_service.updates = vec![entry("by service", true)];
    inserted(&store, by_service).await;
    let mut chosen = made(&owner, &[&affected]);
    chosen.updates = vec![entry("chosen", true)];
    let choice = |page: &LinkedPage| ChosenPage { key: page.key, id: page.id, name: page.name.clone() };
    chosen.statuspages = vec![choice(other), choice(hides)];
    inserted(&store, chosen).await;
    let shown: Vec<Vec<i64>> = facts(&store, &owner).await.into_iter().map(|fact| fact.pages).collect();
    assert_eq!(shown, [vec![shows.key], vec![hides.key, other.key]]);
}

async fn announced(store: &Store, planned: Maintenance, now: i64) -> Maintenance {
    let transaction = store.main.begin().await.unwrap();
    let planned = lifecycle::maintenances::insert(&transaction, planned, &[], &[]).await.unwrap();
    let step = MaintenanceTransition::announce(planned, None, OperationContext { at: at(now), locale: "en" });
    lifecycle::maintenances::carry_out(&transaction, &step, at(now)).await.unwrap();
    transaction.commit().await.unwrap();
    step.after
}

async fn act(store: &Store, step: MaintenanceTransition, now: i64) -> Maintenance {
    let transaction = store.main.begin().await.unwrap();
    lifecycle::maintenances::carry_out(&transaction, &step, at(now)).await.unwrap();
    transaction.commit().await.unwrap();
    step.after
}

/// All reminders due at this moment are sent, by a process that runs twice.
async fn remind(store: &Store, now: i64) {
    for _ in 0..2 {
        for due in reminders::due(store.main.reader(), at(now), 9).await.unwrap() {
            let transaction = store.main.begin().await.unwrap();
            lifecycle::maintenances::remind(&transaction, due, at(now)).await.unwrap();
            transaction.commit().await.unwrap();
        }
    }
}

fn planned(owner: &Organisation, start: i64) -> Maintenance {
    let all = MaintenanceNotices {
        announcement: true,
        day_before: true,
        hour_before: true,
        start: true,
        complete: true,
    };
    let schedule = MaintenanceWindow { start: at(start), end: Some(at(start + HOUR_MS)) };
    Maintenance { notices: all, schedule, ..maintenance(owner.key, MaintenanceStatus::Scheduled) }
}

fn stamp(now: i64) -> OperationContext<'static> {
    OperationContext { at: at(now), locale: "en" }
}

/// Contract 4.11: announced, a day and an hour before, started, completed; each once.
#[rstest]
#[tokio::test]
async fn a_maintenance_is_notified_at_its_milestones(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let start = 2 * DAY_MS;
    let planned = announced(&store, planned(&owner, start), 0).await;
    remind(&store, DAY_MS - 1).await;
    assert_eq!(kinds(&store, &owner).await, [MaintenanceAnnounced]);
    remind(&store, DAY_MS).await;
    remind(&store, start - HOUR_MS).await;
    let running = act(&store, MaintenanceTransition::start(&planned, stamp(start)).unwrap(), start).await;
    act(&store, MaintenanceTransition::complete(&running, stamp(start + 5)).unwrap(), start + 5).await;
    remind(&store, start + DAY_MS).await;
    let expected = [
        MaintenanceAnnounced,
        MaintenanceDayBefore,
        MaintenanceHourBefore,
        MaintenanceStarted,
        MaintenanceCompleted,
    ];
    assert_eq!(kinds(&store, &owner).await, expected);
    let facts = facts(&store, &owner).await;
    assert_eq!((facts[1].at, facts[2].at), (at(DAY_MS), at(start - HOUR_MS)));
    assert!(facts[1].message.text("en", "en").starts_with("Reminder: maintenance is planned from "));
}

/// Disabled notices are not sent, and cancelled maintenances have no reminders.
#[rstest]
#[tokio::test]
async fn notification_flags_are_respected(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let none = MaintenanceNotices {
        announcement: false,
        day_before: false,
        hour_before: false,
        start: false,
        complete: false,
    };
    let quiet = Maintenance { notices: none, ..planned(&owner, 2 * DAY_MS) };
    let quiet = announced(&store, quiet, 0).await;
    act(&store, MaintenanceTransition::cancel(&quiet, stamp(1)).unwrap(), 1).await;
    remind(&store, DAY_MS).await;
    assert!(facts(&store, &owner).await.is_empty());
    let loud = announced(&store, planned(&owner, 2 * DAY_MS), 0).await;
    act(&store, MaintenanceTransition::cancel(&loud, stamp(1)).unwrap(), 1).await;
    remind(&store, DAY_MS).await;
    assert_eq!(kinds(&store, &owner).await, [MaintenanceAnnounced, MaintenanceCancelled]);
}

/// A moved window gets new reminders; a moment that is past at the planning is left out.
#[rstest]
#[tokio::test]
async fn a_moved_window_gets_new_reminders(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let near = announced(&store, planned(&owner, 2 * HOUR_MS), 0).await;
    remind(&store, 1).await;
    assert_eq!(kinds(&store, &owner).await, [MaintenanceAnnounced], "its day before has passed");
    remind(&store, HOUR_MS).await;
    let schedule = MaintenanceWindow { start: at(2 * DAY_MS), end: None };
    let announcement = RescheduleOptions { is_posted: true, notifies: true };
    let far = Maintenance { schedule, auto_complete: false, ..near.clone() };
    let far =
        act(&store, MaintenanceTransition::revise(&near, far, announcement, stamp(HOUR_MS + 1)), HOUR_MS + 1)
            .await;
    remind(&store, DAY_MS).await;
    // Other changes plan no reminder.
    let renamed = Maintenance { title: TranslatedText::single("en", "Other"), ..far.clone() };
    act(&store, MaintenanceTransition::revise(&far, renamed, announcement, stamp(DAY_MS + 1)), DAY_MS + 1)
        .await;
    remind(&store, DAY_MS + 2).await;
    let expected = [MaintenanceAnnounced, MaintenanceHourBefore, MaintenanceMoved, MaintenanceDayBefore];
    assert_eq!(kinds(&store, &owner).await, expected);
}

/// A clock setback plans a reminder again that has been sent: it stays one fact.
#[rstest]
#[tokio::test]
async fn a_clock_setback_repeats_no_reminder(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let planned = announced(&store, planned(&owner, 2 * DAY_MS), 0).await;
    remind(&store, DAY_MS).await;
    let quiet = RescheduleOptions { is_posted: false, notifies: false };
    act(&store, MaintenanceTransition::revise(&planned, planned.clone(), quiet, stamp(5)), 5).await;
    remind(&store, DAY_MS).await;
    assert_eq!(kinds(&store, &owner).await, [MaintenanceAnnounced, MaintenanceDayBefore]);
}

#[rstest]
#[tokio::test]
async fn facts_are_stored_for_thirty_days(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    announced(&store, planned(&owner, 2 * DAY_MS), 0).await;
    let forgotten = async |now: Timestamp| {
        let transaction = store.main.begin().await.unwrap();
        let count = forget(&transaction, now).await.unwrap();
        transaction.commit().await.unwrap();
        count
    };
    assert_eq!(forgotten(at(RETENTION_MS)).await, 0);
    assert_eq!(forgotten(at(RETENTION_MS + 1)).await, 1);
}
