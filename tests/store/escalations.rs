//! Steps of escalations: each is taken once, however often they are polled, and none after an acknowledgement.

use std::cell::Cell;

use futures_util::future::join;
use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::lifecycle::escalation_steps::take_step;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::announcement::AnnouncementAuthor;
use watchkeeper::model::contact::Contact;
use watchkeeper::model::escalation::{EscalationAssignment, EscalationPolicy, EscalationStep};
use watchkeeper::model::incident::{Acknowledgement, Severity};
use watchkeeper::model::notification::delivery::{Delivery, DeliveryAttempt, DeliveryOutcome};
use watchkeeper::model::notification::ordering_scope::OrderingScope;
use watchkeeper::model::notification::quiet_hours::QuietHours;
use watchkeeper::model::notification::routing::{ChannelRouting, ResourceReference};
use watchkeeper::model::notification::{ChannelKind, NotificationEvent};
use watchkeeper::model::recurrence::zone::IanaZone;
use watchkeeper::store::escalations::{DueStep, due, find};
use watchkeeper::store::notifications::courier::{self, TryRecord};
use watchkeeper::store::{contacts, escalation_policies, organisations};

use crate::incidents::made;
use crate::notifications::{channel_of_kind, stored_channel, waiting};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, stored_organisation};

/// A policy of two steps, a minute apart, that repeats after a minute.
async fn stored_policy(store: &Store, owner: &Organisation) -> EscalationPolicy {
    let channel = stored_channel(store, owner).await;
    let recipient = ResourceReference { key: channel.key, id: channel.id };
    let step = |after_seconds| EscalationStep {
        after_seconds,
        channels: vec![recipient],
        contacts: Vec::new(),
        schedules: Vec::new(),
    };
    stored_policy_of(store, owner, vec![step(0), step(60)]).await
}

/// A policy of these steps, that repeats after a minute.
async fn stored_policy_of(
    store: &Store,
    owner: &Organisation,
    steps: Vec<EscalationStep>,
) -> EscalationPolicy {
    let policy = EscalationPolicy {
        key: 0,
        id: Id::random(),
        organisation: owner.key,
        position: 1,
        name: "Shop".into(),
        assignment: EscalationAssignment { min_severity: Severity::Minor, selection: None },
        steps,
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
    let messages = take_step(&transaction, step, || at(now)).await.unwrap();
    transaction.commit().await.unwrap();
    messages
}

/// A step has the time of its turn, so its messages follow what was written while it waited.
#[tokio::test]
async fn the_time_of_a_step_is_read_in_its_turn() {
    let Some(store) = Backend::Postgres.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let earlier = store.main.begin().await.unwrap();
    organisations::lock(&earlier, owner.key).await.unwrap();
    let is_free = Cell::new(false);
    let transaction = store.main.begin().await.unwrap();
    let step = DueStep { organisation: owner.key, incident: 0 };
    let clock = || {
        assert!(is_free.get(), "the clock was read before the turn");
        at(0)
    };
    let release = async {
        is_free.set(true);
        earlier.commit().await.unwrap();
    };
    let (taken, ()) = join(take_step(&transaction, step, clock), release).await;
    assert_eq!(taken.unwrap(), 0);
}

#[rstest]
#[tokio::test]
async fn a_step_is_taken_once(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let policy = stored_policy(&store, &owner).await;
    let transaction = store.main.begin().await.unwrap();
    let mut incident = made(&owner, &[]);
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
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
    let repeated = waiting(&store, at(second(200))).await;
    let events: Vec<NotificationEvent> = repeated.iter().map(|delivery| delivery.message.event).collect();
    assert_eq!(events, [NotificationEvent::IncidentOpened], "the others wait behind it");
}

/// A mail to one contact does not wait for one to another, though both go through one channel.
#[rstest]
#[tokio::test]
async fn mails_to_contacts_do_not_wait_for_each_other(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let silent = ChannelRouting { min_severity: Severity::Critical, ..ChannelRouting::default() };
    let channel = channel_of_kind(&store, &owner, (ChannelKind::Email, silent)).await;
    let recipient = ResourceReference { key: channel.key, id: channel.id };
    let contacts =
        [stored_contact(&store, &owner, recipient).await, stored_contact(&store, &owner, recipient).await];
    let named =
        contacts.iter().map(|contact| ResourceReference { key: contact.key, id: contact.id }).collect();
    let step = EscalationStep {
        after_seconds: 0,
        channels: vec![recipient],
        contacts: named,
        schedules: Vec::new(),
    };
    stored_policy_of(&store, &owner, vec![step.clone(), step]).await;
    let transaction = store.main.begin().await.unwrap();
    let mut incident = made(&owner, &[]);
    incident.incident.severity = Severity::Minor;
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    let begun = incident.incident.updated_at;
    let main = store.main.reader();
    for _ in 0..2 {
        let step = due(main, begun, 9).await.unwrap()[0];
        let second = begun.ms() - at(0).ms();
        assert_eq!(take(&store, step, second).await, 3);
    }
    let first = waiting(&store, begun).await;
    let of: Vec<Option<i64>> = first.iter().map(|delivery| delivery.contact).collect();
    assert_eq!(of, [None, Some(contacts[0].key), Some(contacts[1].key)], "the second of each waits");
    end(&store, &first[1], (channel.line(first[1].contact), begun)).await;
    let next = waiting(&store, begun).await;
    let mut of: Vec<Option<i64>> = next.iter().map(|delivery| delivery.contact).collect();
    of.sort_unstable();
    assert_eq!(of, [None, Some(contacts[0].key), Some(contacts[1].key)]);
    assert!(next.iter().all(|delivery| delivery.key != first[1].key));
}

/// A step held by quiet hours is sent once in the morning, however often it was repeated, and not at all after an acknowledgement.
#[rstest]
#[case::not_acknowledged(false)]
#[case::acknowledged(true)]
#[tokio::test]
async fn steps_held_by_quiet_hours_do_not_pile_up(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] is_taken: bool,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let silent = ChannelRouting { min_severity: Severity::Critical, ..ChannelRouting::default() };
    let channel = channel_of_kind(&store, &owner, (ChannelKind::Email, silent)).await;
    let recipient = ResourceReference { key: channel.key, id: channel.id };
    let hours = "mon,tue,wed,thu,fri,sat,sun 00:00-24:00".parse().unwrap();
    let quiet = Some(QuietHours { hours, zone: IanaZone::UTC, except_from: Severity::Critical });
    let contact = stored_contact_with(&store, &owner, (recipient, quiet)).await;
    let named = vec![ResourceReference { key: contact.key, id: contact.id }];
    let step =
        EscalationStep { after_seconds: 0, channels: Vec::new(), contacts: named, schedules: Vec::new() };
    stored_policy_of(&store, &owner, vec![step]).await;
    let transaction = store.main.begin().await.unwrap();
    let mut incident = made(&owner, &[]);
    incident.incident.severity = Severity::Minor;
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    let second = incident.incident.updated_at.ms() - at(0).ms();
    for round in 0..3 {
        let now = second + round * 60_000;
        let step = due(store.main.reader(), at(now), 9).await.unwrap()[0];
        assert_eq!(take(&store, step, now).await, 0, "it reaches nobody yet");
    }
    let mut after = incident.clone();
    if is_taken {
        let by = AnnouncementAuthor { id: Id::random(), name: "Ben".into() };
        after.incident.acknowledgement = Some(Acknowledgement { by, at: at(second + 180_000) });
    }
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::save(&transaction, &incident, &after, at(second + 180_000)).await.unwrap();
    transaction.commit().await.unwrap();
    let morning = at(second + 9 * 24 * 3_600_000);
    let left = waiting(&store, morning).await;
    assert_eq!(left.len(), usize::from(!is_taken));
}

/// An incident that was opened while the clock was a year ahead is escalated all the same, once the clock is right.
#[rstest]
#[tokio::test]
async fn a_clock_that_was_ahead_delays_no_step(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_policy(&store, &owner).await;
    let mut incident = made(&owner, &[]);
    let now = incident.incident.updated_at;
    incident.incident.updated_at = now.plus_ms(365 * 24 * 3_600_000);
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(due(store.main.reader(), now, 9).await.unwrap(), []);
    let transaction = store.main.begin().await.unwrap();
    lifecycle::clock_setback::bring_back(&transaction, now).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(due(store.main.reader(), now, 9).await.unwrap().len(), 1);
    let messages = waiting(&store, now).await;
    assert_eq!(messages.len(), 1, "nor a message");
}

/// A step that waits in quiet hours and one on duty at the same time are one page.
#[rstest]
#[tokio::test]
async fn a_held_step_and_one_on_duty_are_one_page(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let silent = ChannelRouting { min_severity: Severity::Critical, ..ChannelRouting::default() };
    let channel = channel_of_kind(&store, &owner, (ChannelKind::Email, silent)).await;
    let recipient = ResourceReference { key: channel.key, id: channel.id };
    let hours = "mon,tue,wed,thu,fri,sat,sun 00:00-24:00".parse().unwrap();
    let quiet = Some(QuietHours { hours, zone: IanaZone::UTC, except_from: Severity::Critical });
    let contact = stored_contact_with(&store, &owner, (recipient, quiet)).await;
    let named = vec![ResourceReference { key: contact.key, id: contact.id }];
    let step =
        EscalationStep { after_seconds: 0, channels: Vec::new(), contacts: named, schedules: Vec::new() };
    stored_policy_of(&store, &owner, vec![step]).await;
    let mut incident = made(&owner, &[]);
    incident.incident.severity = Severity::Minor;
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
    transaction.commit().await.unwrap();
    let second = incident.incident.updated_at.ms() - at(0).ms();
    let step = due(store.main.reader(), at(second), 9).await.unwrap()[0];
    assert_eq!(take(&store, step, second).await, 0, "it is held");
    // The quiet hours end before the next round.
    let transaction = store.main.begin().await.unwrap();
    contacts::update(&transaction, &Contact { quiet: None, ..contact }).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(take(&store, step, second + 60_000).await, 1);
    let all = waiting(&store, at(second + 60_000)).await;
    assert_eq!(all.len(), 1, "one page");
}

/// A contact with one channel.
async fn stored_contact(store: &Store, owner: &Organisation, channel: ResourceReference) -> Contact {
    stored_contact_with(store, owner, (channel, None)).await
}

async fn stored_contact_with(
    store: &Store,
    owner: &Organisation,
    (channel, quiet): (ResourceReference, Option<QuietHours>),
) -> Contact {
    let contact = Contact {
        key: 0,
        id: Id::random(),
        organisation: owner.key,
        name: "Anna".into(),
        email: "anna@example.com".into(),
        zone: IanaZone::UTC,
        language: "en".into(),
        channels: vec![channel],
        quiet,
        created_at: at(1),
        updated_at: at(1),
    };
    let transaction = store.main.begin().await.unwrap();
    let contact = contacts::insert(&transaction, contact).await.unwrap();
    transaction.commit().await.unwrap();
    contact
}

/// The message was delivered.
async fn end(store: &Store, delivery: &Delivery, (line, now): (OrderingScope, Timestamp)) {
    let attempt = DeliveryAttempt {
        number: 1,
        at: now,
        took_ms: 1,
        outcome: DeliveryOutcome::Delivered,
        status_code: Some(250),
        detail: String::new(),
    };
    let ended = TryRecord {
        delivery: delivery.key,
        channel: delivery.channel,
        subject: delivery.message.subject_id().to_owned(),
        line,
        is_digest: false,
        attempt,
        next_at: None,
        at: now,
    };
    let transaction = store.main.begin().await.unwrap();
    courier::store_tries(&transaction, &[ended]).await.unwrap();
    transaction.commit().await.unwrap();
}
