//! Messages held until the end of quiet hours or for a digest: in their order, and no longer than necessary.

use rstest::rstest;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::lifecycle::digests::gather;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::incident::{IncidentTimelineEntry, Severity, WholeIncident};
use watchkeeper::model::notification::delivery::{Delivery, DeliveryOutcome, DeliveryStatus};
use watchkeeper::model::notification::digest::{HoldReason, WINDOW_MS};
use watchkeeper::model::notification::message::MessageSubject;
use watchkeeper::model::notification::quiet_hours::QuietHours;
use watchkeeper::model::notification::routing::ChannelRouting;
use watchkeeper::model::notification::{NotificationChannel, NotificationEvent};
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::notifications::courier::{backlog, bring_forward};
use watchkeeper::store::notifications::list::{OutboxFilter, page};

use crate::incidents::made;
use crate::notifications::{end, routed_channel, waiting};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::stored_organisation;

/// A Friday, 22:30 UTC; the quiet hours of these tests begin at 22:00 and end at 24:00.
const EVENING: i64 = 1_763_764_200_000;
const MIDNIGHT: i64 = EVENING + 90 * 60 * 1_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(EVENING + ms)
}

fn quiet() -> ChannelRouting {
    let hours = "mon,tue,wed,thu,fri,sat,sun 22:00-24:00".parse().unwrap();
    let quiet = QuietHours { hours, zone: "UTC".parse().unwrap(), except_from: Severity::Critical };
    ChannelRouting { quiet: Some(quiet), ..ChannelRouting::default() }
}

async fn opened(store: &Store, owner: &Organisation, now: Timestamp) -> WholeIncident {
    let transaction = store.main.begin().await.unwrap();
    let mut whole = made(owner, &[]);
    whole.incident.severity = Severity::Minor;
    whole.incident.updated_at = now;
    lifecycle::incidents::insert(&transaction, &mut whole).await.unwrap();
    transaction.commit().await.unwrap();
    whole
}

async fn changed(
    store: &Store,
    before: &WholeIncident,
    now: Timestamp,
    change: impl FnOnce(&mut WholeIncident),
) -> WholeIncident {
    let mut after = before.clone();
    change(&mut after);
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::save(&transaction, before, &after, now).await.unwrap();
    transaction.commit().await.unwrap();
    after
}

fn resolve(whole: &mut WholeIncident, now: Timestamp) {
    let entry = IncidentTimelineEntry { id: Id::random(), ..whole.updates[0].clone() };
    whole.resolve(entry, now);
}

async fn make_digest(store: &Store, channel: &NotificationChannel, busy: &[String], now: Timestamp) -> bool {
    let transaction = store.main.begin().await.unwrap();
    let has_gathered = gather(&transaction, channel, busy, now).await.unwrap();
    transaction.commit().await.unwrap();
    has_gathered
}

fn events(deliveries: &[Delivery]) -> Vec<NotificationEvent> {
    deliveries.iter().map(|delivery| delivery.message.event).collect()
}

#[rstest]
#[tokio::test]
async fn a_message_below_the_severity_waits_for_the_end_of_quiet_hours(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let channel = routed_channel(&store, &owner, quiet()).await;
    let incident = opened(&store, &owner, at(0)).await;
    changed(&store, &incident, at(60_000), |whole| resolve(whole, at(60_000))).await;
    assert!(waiting(&store, Timestamp::from_ms(MIDNIGHT - 1)).await.is_empty());
    let nothing = backlog(store.main.reader(), at(60_000)).await.unwrap();
    assert_eq!((nothing.waiting, nothing.oldest), (0, None), "nothing is late");
    // Neither a circuit that closes nor another message lets it go.
    let transaction = store.main.begin().await.unwrap();
    bring_forward(&transaction, channel.key, at(70_000)).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(waiting(&store, Timestamp::from_ms(MIDNIGHT - 1)).await.is_empty());
    let first = waiting(&store, Timestamp::from_ms(MIDNIGHT)).await;
    assert_eq!(events(&first), [NotificationEvent::IncidentOpened]);
    assert_eq!(first[0].hold.map(|hold| hold.by), Some(HoldReason::QuietHours));
    assert_eq!(first[0].expires_at, Timestamp::from_ms(MIDNIGHT + DAY_MS), "it has its day from then on");
    assert!(!make_digest(&store, &channel, &[], Timestamp::from_ms(MIDNIGHT)).await);
    end(&store, &first[0], DeliveryOutcome::Delivered, None).await;
    let second = waiting(&store, Timestamp::from_ms(MIDNIGHT)).await;
    assert_eq!(events(&second), [NotificationEvent::IncidentResolved]);
}

#[rstest]
#[tokio::test]
async fn a_raised_severity_releases_earlier_held_messages(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    routed_channel(&store, &owner, quiet()).await;
    let incident = opened(&store, &owner, at(0)).await;
    opened(&store, &owner, at(0)).await;
    assert!(waiting(&store, at(1_000)).await.is_empty());
    changed(&store, &incident, at(2_000), |whole| whole.incident.severity = Severity::Critical).await;
    let due = waiting(&store, at(2_000)).await;
    assert_eq!(events(&due), [NotificationEvent::IncidentOpened], "of this incident alone");
    end(&store, &due[0], DeliveryOutcome::Delivered, None).await;
    assert_eq!(events(&waiting(&store, at(2_000)).await), [NotificationEvent::IncidentWorsened]);
}

#[rstest]
#[tokio::test]
async fn messages_beyond_the_limit_are_sent_in_one_digest(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let routing = ChannelRouting { digest_above: Some(2), ..ChannelRouting::default() };
    let channel = routed_channel(&store, &owner, routing).await;
    let mut incidents = Vec::new();
    for number in 0..5 {
        incidents.push(opened(&store, &owner, at(number)).await);
    }
    changed(&store, &incidents[4], at(500), |whole| resolve(whole, at(500))).await;
    let alone = waiting(&store, at(2 + WINDOW_MS - 1)).await;
    assert_eq!(alone.len(), 2, "so many are told one by one");
    for delivery in &alone {
        end(&store, delivery, DeliveryOutcome::Delivered, None).await;
    }
    let due = at(2 + WINDOW_MS);
    assert_eq!(
        waiting(&store, due).await.len(),
        3,
        "all of them at the same time, the last one behind another"
    );
    // One is on its way already: it stays alone, and so does what is behind it.
    let busy = [incidents[2].incident.id.to_string()];
    assert!(make_digest(&store, &channel, &busy, due).await);
    let digest = waiting(&store, due).await;
    assert_eq!(events(&digest), [NotificationEvent::IncidentOpened, NotificationEvent::Digest]);
    let MessageSubject::Digest(facts) = &digest[1].message.subject else { unreachable!("a digest") };
    assert_eq!((facts.count, facts.entries.len(), facts.is_over), (3, 3, false));
    assert_eq!(digest[1].message.headline(), "3 messages in one: 2 begun, 1 resolved");
    // Messages written now wait for the digest, whatever their subject.
    let later =
        changed(&store, &incidents[3], at(WINDOW_MS * 2), |whole| resolve(whole, at(WINDOW_MS * 2))).await;
    assert_eq!(waiting(&store, at(WINDOW_MS * 9)).await.len(), 2);
    end(&store, &digest[1], DeliveryOutcome::Delivered, None).await;
    let mut last = waiting(&store, at(WINDOW_MS * 9)).await;
    last.sort_by_key(|delivery| delivery.key);
    assert_eq!(events(&last), [NotificationEvent::IncidentOpened, NotificationEvent::IncidentResolved]);
    assert_eq!(last[1].message.subject_id(), later.incident.id.as_str());
    let wanted = OutboxFilter { statuses: vec![DeliveryStatus::Gathered], ..OutboxFilter::default() };
    let messages = page(store.main.reader(), Visibility::whole(owner.key), &wanted, 9).await.unwrap();
    assert_eq!(messages.len(), 3);
    assert!(messages.iter().all(|message| message.digest == Some(digest[1].id)));
}

/// A second digest does not overtake the first one.
#[rstest]
#[tokio::test]
async fn digests_are_sent_one_after_the_other(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let routing = ChannelRouting { digest_above: Some(1), ..ChannelRouting::default() };
    let channel = routed_channel(&store, &owner, routing).await;
    let mut last = None;
    for number in 0..3 {
        last = Some(opened(&store, &owner, at(number)).await);
    }
    let alone = waiting(&store, at(10)).await;
    end(&store, &alone[0], DeliveryOutcome::Delivered, None).await;
    assert!(make_digest(&store, &channel, &[], at(2 + WINDOW_MS)).await);
    let last = last.unwrap();
    let later = at(3 + WINDOW_MS);
    changed(&store, &last, later, |whole| resolve(whole, later)).await;
    opened(&store, &owner, later).await;
    opened(&store, &owner, later).await;
    let due = at(4 + 2 * WINDOW_MS);
    assert!(make_digest(&store, &channel, &[], due).await);
    let first = waiting(&store, due).await;
    assert_eq!(events(&first), [NotificationEvent::Digest], "the second one waits");
    end(&store, &first[0], DeliveryOutcome::Delivered, None).await;
    let second = waiting(&store, due).await;
    assert_eq!(events(&second), [NotificationEvent::IncidentResolved, NotificationEvent::Digest]);
    assert_ne!(second[1].id, first[0].id);
}

/// A digest that cannot be delivered holds back what follows about its incidents, and nothing else.
#[rstest]
#[tokio::test]
async fn a_digest_precedes_only_later_messages_of_its_incidents(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let routing = ChannelRouting { digest_above: Some(1), ..ChannelRouting::default() };
    let channel = routed_channel(&store, &owner, routing).await;
    let mut incidents = Vec::new();
    for number in 0..3 {
        incidents.push(opened(&store, &owner, at(number)).await);
    }
    let alone = waiting(&store, at(10)).await;
    end(&store, &alone[0], DeliveryOutcome::Delivered, None).await;
    assert!(make_digest(&store, &channel, &[], at(2 + WINDOW_MS)).await);
    let later = at(3 * WINDOW_MS);
    let other = opened(&store, &owner, later).await;
    changed(&store, &incidents[2], at(5 * WINDOW_MS), |whole| resolve(whole, at(5 * WINDOW_MS))).await;
    let due = waiting(&store, at(6 * WINDOW_MS)).await;
    assert_eq!(events(&due), [NotificationEvent::Digest, NotificationEvent::IncidentOpened]);
    assert_eq!(due[1].message.subject_id(), other.incident.id.as_str());
    end(&store, &due[0], DeliveryOutcome::Delivered, None).await;
    let mut next = waiting(&store, at(6 * WINDOW_MS)).await;
    next.sort_by_key(|delivery| delivery.key);
    assert_eq!(events(&next), [NotificationEvent::IncidentOpened, NotificationEvent::IncidentResolved]);
}
