//! The outbox: messages of a subject wait for each other, finished ones make room, old ones are deleted, and dead ones are
//! retried.

use rstest::rstest;
use serde_json::Map;
use watchkeeper::clock::Timestamp;
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::incident::{IncidentStatus, IncidentTimelineEntry, Severity, WholeIncident};
use watchkeeper::model::notice::{NoticeCondition, NoticeSubject, NoticeText};
use watchkeeper::model::notification::delivery::{
    Delivery, DeliveryAttempt, DeliveryOutcome, DeliveryStatus,
};
use watchkeeper::model::notification::ordering_scope::OrderingScope;
use watchkeeper::model::notification::routing::ChannelRouting;
use watchkeeper::model::notification::{ChannelKind, NotificationChannel, NotificationEvent};
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::notification_channels;
use watchkeeper::store::notifications::courier::{
    DeliveryQueue, TryRecord, backlog, forget, store_tries, take_courier_lock,
};
use watchkeeper::store::notifications::due::{
    DueChannel, MessageSelection, WantedMessages, due_channels, due_messages, read_messages,
};
use watchkeeper::store::notifications::list::{OutboxFilter, RedeliverySelection, page, redeliver};
use watchkeeper::store::notifications::order::{out_of_order, queue_up, release_stranded};

use crate::incidents::made;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, stored_organisation};

pub(crate) async fn stored_channel(store: &Store, owner: &Organisation) -> NotificationChannel {
    routed_channel(store, owner, ChannelRouting::default()).await
}

/// A channel that gets every event, within these limits.
pub(crate) async fn routed_channel(
    store: &Store,
    owner: &Organisation,
    routing: ChannelRouting,
) -> NotificationChannel {
    channel_of_kind(store, owner, (ChannelKind::Webhook, routing)).await
}

/// The same, of another kind.
pub(crate) async fn channel_of_kind(
    store: &Store,
    owner: &Organisation,
    (kind, routing): (ChannelKind, ChannelRouting),
) -> NotificationChannel {
    let routing = ChannelRouting { events: NotificationEvent::CHOICE.to_vec(), ..routing };
    let channel = NotificationChannel {
        key: 0,
        id: Id::random(),
        organisation: owner.key,
        kind,
        name: "Hook".into(),
        is_enabled: true,
        settings: Map::new(),
        routing,
        created_at: at(1),
        updated_at: at(1),
    };
    let transaction = store.main.begin().await.unwrap();
    let channel = notification_channels::insert(&transaction, channel).await.unwrap();
    transaction.commit().await.unwrap();
    channel
}

/// An incident with this many messages for each channel, the first of which says that it has opened.
pub(crate) async fn told(store: &Store, owner: &Organisation, messages: i64) -> WholeIncident {
    let transaction = store.main.begin().await.unwrap();
    let mut before = made(owner, &[]);
    lifecycle::incidents::insert(&transaction, &mut before).await.unwrap();
    for number in 1..messages {
        let mut after = before.clone();
        let message = TranslatedText::single("en", "News");
        let (status, created_at) = (IncidentStatus::Monitoring, at(110 + number));
        let entry = IncidentTimelineEntry {
            id: Id::random(),
            status,
            message,
            notify_subscribers: false,
            created_at,
        };
        after.updates.push(entry);
        lifecycle::incidents::save(&transaction, &before, &after, created_at).await.unwrap();
        before = after;
    }
    transaction.commit().await.unwrap();
    before
}

const fn of_channel(channel: DueChannel) -> WantedMessages {
    WantedMessages { channel, selection: MessageSelection::All, except: Vec::new() }
}

/// Due messages, longest wait first.
pub(crate) async fn waiting(store: &Store, now: Timestamp) -> Vec<Delivery> {
    let reader = store.main.reader();
    let channels = due_channels(reader, now, 0, 100).await.unwrap();
    let wanted: Vec<WantedMessages> = channels.into_iter().map(of_channel).collect();
    let due = due_messages(reader, now, &wanted, 100).await.unwrap();
    let keys: Vec<i64> = due.iter().map(|message| message.key).collect();
    let (readable, unreadable) = read_messages(reader, &keys).await.unwrap();
    assert!(unreadable.is_empty(), "{unreadable:?}");
    let mut waiting: Vec<Delivery> = readable.into_values().collect();
    waiting.sort_by_key(|delivery| (delivery.due_at, delivery.key));
    waiting
}

fn ended(delivery: &Delivery, outcome: DeliveryOutcome, next_at: Option<Timestamp>) -> TryRecord {
    let attempt = DeliveryAttempt {
        number: delivery.tries + 1,
        at: at(200),
        took_ms: 5,
        outcome,
        status_code: Some(500),
        detail: "no".into(),
    };
    TryRecord {
        delivery: delivery.key,
        channel: delivery.channel,
        subject: delivery.message.subject_id().to_owned(),
        line: OrderingScope::Whole,
        is_digest: delivery.message.event == NotificationEvent::Digest,
        attempt,
        next_at,
        at: at(300),
    }
}

pub(crate) async fn end(
    store: &Store,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
    next_at: Option<Timestamp>,
) {
    let ended = ended(delivery, outcome, next_at);
    let transaction = store.main.begin().await.unwrap();
    store_tries(&transaction, &[ended]).await.unwrap();
    transaction.commit().await.unwrap();
}

fn subjects(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.message.subject_id()).collect()
}

#[rstest]
#[tokio::test]
async fn one_message_of_a_subject_is_due_at_a_time(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    for _ in 0..2 {
        stored_channel(&store, &owner).await;
    }
    let incident = told(&store, &owner, 3).await;
    let first = waiting(&store, at(1_000)).await;
    assert_eq!(first.len(), 2, "one for each channel");
    assert!(first.iter().all(|delivery| delivery.message.event == NotificationEvent::IncidentOpened));
    assert!(waiting(&store, at(109)).await.is_empty(), "not before the fact");
    end(&store, &first[0], DeliveryOutcome::Failed, Some(at(5_000))).await;
    assert_eq!(waiting(&store, at(1_000)).await.len(), 1, "the one behind waits on");
    let again = waiting(&store, at(5_000)).await;
    assert_eq!((again.len(), again[1].tries), (2, 1));
    end(&store, &again[1], DeliveryOutcome::Delivered, None).await;
    let next = waiting(&store, at(5_000)).await;
    let of_one: Vec<_> = next.iter().filter(|delivery| delivery.channel == again[1].channel).collect();
    assert_eq!(of_one.len(), 1);
    assert_eq!(of_one[0].message.event, NotificationEvent::IncidentUpdated);
    assert!(subjects(&next).iter().all(|subject| *subject == incident.incident.id.as_str()));
    assert_eq!(backlog(store.main.reader(), at(1_000)).await.unwrap().waiting, 5);
}

#[rstest]
#[tokio::test]
async fn stranded_messages_are_released(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    told(&store, &owner, 2).await;
    told(&store, &owner, 1).await;
    let first = waiting(&store, at(1_000)).await;
    assert_eq!(first.len(), 2, "what is behind another stays there");
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(release_stranded(&transaction, at(10)).await.unwrap(), 0, "nothing is stranded");
    queue_up(&transaction, &[first[1].key].into()).await.unwrap();
    assert_eq!(release_stranded(&transaction, at(10)).await.unwrap(), 1);
    transaction.commit().await.unwrap();
    assert_eq!(waiting(&store, at(1_000)).await.len(), 2);
}

#[rstest]
#[tokio::test]
async fn dead_messages_are_retried_in_their_order(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let channel = stored_channel(&store, &owner).await;
    told(&store, &owner, 2).await;
    for _ in 0..2 {
        let head = waiting(&store, at(1_000)).await;
        assert_eq!(head.len(), 1);
        end(&store, &head[0], DeliveryOutcome::Refused, None).await;
    }
    assert!(waiting(&store, at(9_000)).await.is_empty());
    let visibility = Visibility::whole(owner.key);
    let wanted = OutboxFilter { statuses: vec![DeliveryStatus::Dead], ..OutboxFilter::default() };
    assert_eq!(page(store.main.reader(), visibility, &wanted, 9).await.unwrap().len(), 2);
    let transaction = store.main.begin().await.unwrap();
    let other = Visibility::whole(owner.key + 1);
    assert_eq!(
        redeliver(&transaction, other, RedeliverySelection::All, at(500)).await.unwrap(),
        0,
        "another organisation"
    );
    assert_eq!(
        redeliver(&transaction, visibility, RedeliverySelection::OfChannel(channel.key), at(500))
            .await
            .unwrap(),
        2
    );
    transaction.commit().await.unwrap();
    let head = waiting(&store, at(1_000)).await;
    assert_eq!((head.len(), head[0].message.event), (1, NotificationEvent::IncidentOpened));
}

#[rstest]
#[tokio::test]
async fn old_messages_are_deleted_except_those_of_open_incidents(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    let open = told(&store, &owner, 1).await;
    let over = told(&store, &owner, 1).await;
    let transaction = store.main.begin().await.unwrap();
    let mut resolved = over.clone();
    let entry = IncidentTimelineEntry { id: Id::random(), ..over.updates[0].clone() };
    resolved.resolve(entry, at(400));
    lifecycle::incidents::save(&transaction, &over, &resolved, at(400)).await.unwrap();
    transaction.commit().await.unwrap();
    while let Some(head) = waiting(&store, at(1_000)).await.first() {
        end(&store, head, DeliveryOutcome::Delivered, None).await;
    }
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(forget(&transaction, at(300)).await.unwrap(), 0, "ended at 300");
    assert_eq!(forget(&transaction, at(301)).await.unwrap(), 2);
    transaction.commit().await.unwrap();
    let left =
        page(store.main.reader(), Visibility::whole(owner.key), &OutboxFilter::default(), 9).await.unwrap();
    assert_eq!(subjects(&left), [open.incident.id.as_str()]);
}

/// The outcome of a try is stored for the others also when a channel was deleted while its message was under way.
#[rstest]
#[tokio::test]
async fn a_deleted_channel_keeps_the_attempts_of_others(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let [gone, stays] = [stored_channel(&store, &owner).await, stored_channel(&store, &owner).await];
    told(&store, &owner, 1).await;
    let under_way = waiting(&store, at(1_000)).await;
    let transaction = store.main.begin().await.unwrap();
    notification_channels::delete(&transaction, gone.key).await.unwrap();
    transaction.commit().await.unwrap();
    let ended: Vec<TryRecord> =
        under_way.iter().map(|delivery| ended(delivery, DeliveryOutcome::Delivered, None)).collect();
    assert_eq!(ended.len(), 2);
    let transaction = store.main.begin().await.unwrap();
    store_tries(&transaction, &ended).await.unwrap();
    transaction.commit().await.unwrap();
    let left =
        page(store.main.reader(), Visibility::whole(owner.key), &OutboxFilter::default(), 9).await.unwrap();
    assert_eq!((left.len(), left[0].channel, left[0].status), (1, stays.key, DeliveryStatus::Delivered));
}

/// Recipients of a notice are known as long as it lasts.
#[rstest]
#[tokio::test]
async fn messages_about_a_notice_stay_as_long_as_it_lasts(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    let subject = NoticeSubject {
        organisation: owner.key,
        event: NotificationEvent::MonitorTrouble,
        name: "history".to_owned(),
    };
    let words = NoticeText { title: "It is bad".into(), text: "Very.".into() };
    let trouble = NoticeCondition {
        subject: subject.clone(),
        severity: Severity::Major,
        words: words.clone(),
        service: None,
    };
    let transaction = store.main.begin().await.unwrap();
    assert!(lifecycle::notices::raise(&transaction, &trouble, at(100)).await.unwrap());
    assert!(!lifecycle::notices::raise(&transaction, &trouble, at(200)).await.unwrap(), "it is known");
    let worse = NoticeCondition { severity: Severity::Critical, ..trouble };
    assert!(lifecycle::notices::raise(&transaction, &worse, at(300)).await.unwrap(), "it is worse");
    transaction.commit().await.unwrap();
    for _ in 0..2 {
        let head = waiting(&store, at(1_000)).await;
        end(&store, &head[0], DeliveryOutcome::Delivered, None).await;
    }
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(forget(&transaction, at(99_000)).await.unwrap(), 0);
    assert!(lifecycle::notices::settle(&transaction, &subject, words, at(400)).await.unwrap());
    assert_eq!(forget(&transaction, at(99_000)).await.unwrap(), 2);
    transaction.commit().await.unwrap();
    let left = waiting(&store, at(1_000)).await;
    assert!(left[0].message.is_good_news(), "its end is told");
}

/// Changes by the engine do not alter the time of the last write by a client; a message about them is no older for that.
#[rstest]
#[tokio::test]
async fn a_message_has_the_time_of_its_change(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const DAYS: i64 = 3 * 24 * 60 * 60 * 1_000;
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    let before = told(&store, &owner, 1).await;
    let mut after = before.clone();
    after.resolve(IncidentTimelineEntry { id: Id::random(), ..before.updates[0].clone() }, at(DAYS));
    let transaction = store.main.begin().await.unwrap();
    lifecycle::incidents::save(&transaction, &before, &after, at(DAYS)).await.unwrap();
    transaction.commit().await.unwrap();
    let newest =
        page(store.main.reader(), Visibility::whole(owner.key), &OutboxFilter::default(), 1).await.unwrap();
    assert_eq!((newest[0].created_at, newest[0].message.at), (at(DAYS), at(DAYS).ms()));
    assert!(newest[0].expires_at > at(DAYS));
}

/// One process delivers; when it is gone, the next one does.
#[rstest]
#[tokio::test]
async fn one_process_delivers(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let lock = take_courier_lock(&store.main, DeliveryQueue::Alerts).await.unwrap().unwrap();
    assert!(lock.is_held().await);
    if matches!(backend, Backend::Postgres) {
        assert!(take_courier_lock(&store.main, DeliveryQueue::Alerts).await.unwrap().is_none());
    }
    drop(lock);
    let mut taken = None;
    while taken.is_none() {
        taken = take_courier_lock(&store.main, DeliveryQueue::Alerts).await.unwrap();
        tokio::task::yield_now().await;
    }
}

/// The receiver has the end: the start would arrive as the newest, and open an alert that nobody closes.
#[rstest]
#[tokio::test]
async fn an_overtaken_message_is_not_retried(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    told(&store, &owner, 3).await;
    told(&store, &owner, 1).await;
    let heads = waiting(&store, at(1_000)).await;
    let [dead, other] = [&heads[0], &heads[1]];
    for head in [dead, other] {
        end(&store, head, DeliveryOutcome::Refused, None).await;
    }
    let second = waiting(&store, at(1_000)).await;
    end(&store, &second[0], DeliveryOutcome::Failed, Some(at(2_000))).await;
    let visibility = Visibility::whole(owner.key);
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(
        redeliver(&transaction, visibility, RedeliverySelection::One(dead.key), at(500)).await.unwrap(),
        1
    );
    let order = out_of_order(&transaction, &[dead.key, second[0].key]).await.unwrap();
    assert_eq!(order.too_early, [second[0].key].into(), "the one that was in front is in front again");
    assert!(order.too_late.is_empty());
    transaction.commit().await.unwrap();
    let [dead] = <[Delivery; 1]>::try_from(
        waiting(&store, at(1_000)).await.into_iter().filter(|head| head.key == dead.key).collect::<Vec<_>>(),
    )
    .unwrap();
    end(&store, &dead, DeliveryOutcome::Refused, None).await;
    end(&store, &Delivery { tries: 1, ..second[0].clone() }, DeliveryOutcome::Delivered, None).await;
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(out_of_order(&transaction, &[dead.key]).await.unwrap().too_late, [dead.key].into());
    assert_eq!(
        redeliver(&transaction, visibility, RedeliverySelection::One(dead.key), at(500)).await.unwrap(),
        0
    );
    assert_eq!(
        redeliver(&transaction, visibility, RedeliverySelection::All, at(500)).await.unwrap(),
        1,
        "the other subject"
    );
    transaction.commit().await.unwrap();
}

/// Waiting messages of one channel do not displace those of another, and failed ones do not displace untried ones.
#[rstest]
#[tokio::test]
async fn a_backlog_hides_nothing(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let [flood, calm] = [stored_organisation(&store, "a").await, stored_organisation(&store, "b").await];
    for owner in [&flood, &calm] {
        stored_channel(&store, owner).await;
    }
    for _ in 0..5 {
        told(&store, &flood, 1).await;
    }
    for head in waiting(&store, at(1_000)).await {
        end(&store, &head, DeliveryOutcome::Failed, Some(at(50))).await;
    }
    told(&store, &flood, 1).await;
    told(&store, &calm, 1).await;
    let reader = store.main.reader();
    let channels = due_channels(reader, at(1_000), 0, 1).await.unwrap();
    assert_eq!(channels.len(), 1);
    let rest = due_channels(reader, at(1_000), channels[0].key, 9).await.unwrap();
    assert_eq!(rest.len(), 1, "the next look goes on behind it");
    let wanted: Vec<WantedMessages> = [channels, rest].concat().into_iter().map(of_channel).collect();
    let due = due_messages(reader, at(1_000), &wanted, 2).await.unwrap();
    let count = |organisation: &Organisation| {
        due.iter().filter(|message| message.organisation == organisation.key).count()
    };
    assert_eq!((count(&flood), count(&calm)), (3, 1));
    assert!(due.iter().any(|message| message.organisation == flood.key && message.tries == 0));
    let first_tries = WantedMessages { selection: MessageSelection::FirstTries, ..wanted[0].clone() };
    let due = due_messages(reader, at(1_000), &[first_tries], 9).await.unwrap();
    assert_eq!((due.len(), due[0].tries), (1, 0));
}
