//! Messages to subscribers in the database: each fact is queued once for each subscriber, and messages keep their order.

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::id::Id;
use watchkeeper::model::notification::delivery::DeliveryStatus;
use watchkeeper::model::statuspage::word::SubscriberChannel;
use watchkeeper::model::subscriber::delivery::SubscriberDelivery;
use watchkeeper::model::subscriber::{PageSubscriber, SubscriberAddress, SubscriberOrigin, SubscriberStatus};
use watchkeeper::model::subscriber_fact::{FactKind, FactSubject, SubscriberFact};
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::store::subscriber_deliveries::{
    AttemptRecord, DueRequest, UnqueuedFact, advance, due, give_up, lock_position, pages_with_due,
    queue_fact, store_attempts, unqueued,
};
use watchkeeper::store::{Transaction, subscriber_facts, subscribers};

use crate::incidents::made;
use crate::linked::stored_page;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, stored_organisation};

fn subscriber(page: i64, number: u8, status: SubscriberStatus) -> PageSubscriber {
    PageSubscriber {
        key: 0,
        id: Id::random(),
        page,
        channel: SubscriberChannel::Email,
        address: SubscriberAddress {
            shown: format!("reader{number}@example.com"),
            sealed: None,
            hash: [number; 32],
        },
        components: None,
        language: "en".into(),
        status,
        disabled_reason: None,
        refusals: 0,
        secret: None,
        origin: SubscriberOrigin::Client,
        asked_at: None,
        confirmed_at: None,
        created_at: at(1),
    }
}

/// A page with facts about two entries of an incident, and its subscribers, the last of which is not active.
struct World {
    store: Store,
    page: i64,
    facts: Vec<i64>,
}

impl World {
    async fn open(backend: Backend) -> Option<Self> {
        let store = backend.open().await?;
        let owner = stored_organisation(&store, "owner").await;
        let page = stored_page(&store, owner.key, "Shop").await.key;
        let mut incident = made(&owner, &[]);
        let transaction = store.main.begin().await.unwrap();
        watchkeeper::lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
        for number in 1..=3 {
            let status = if number < 3 { SubscriberStatus::Active } else { SubscriberStatus::Pending };
            subscribers::insert(&transaction, subscriber(page, number, status)).await.unwrap();
        }
        for _ in 0..2 {
            let fact = SubscriberFact {
                key: 0,
                id: Id::random(),
                organisation: owner.key,
                kind: FactKind::IncidentEntry,
                subject: FactSubject::Incident { incident: incident.incident.key, entry: Id::random() },
                title: TranslatedText::single("en", "Slow"),
                message: TranslatedText::single("en", "We look."),
                at: at(100),
                pages: vec![page],
            };
            subscriber_facts::write(&transaction, &fact).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let facts = subscriber_facts::after(store.main.reader(), owner.key, 0, 10).await.unwrap();
        let facts = facts.iter().filter(|fact| fact.pages == [page]).map(|fact| fact.key).collect();
        Some(Self { store, page, facts })
    }

    async fn unqueued(&self) -> Vec<UnqueuedFact> {
        let all = unqueued(self.store.main.reader(), 10).await.unwrap();
        all.into_iter().filter(|one| one.page == self.page).collect()
    }

    /// Queues a step of `most` subscribers, as the courier does; the transaction is not committed.
    async fn step(&self, of: UnqueuedFact, most: u64) -> Transaction {
        let transaction = self.store.main.begin().await.unwrap();
        let Some(position) = lock_position(&transaction, of).await.unwrap() else { return transaction };
        let some = subscribers::active_after(&transaction, of.page, position, most).await.unwrap();
        queue_fact(&transaction, of.fact, &some.iter().collect::<Vec<_>>(), at(200)).await.unwrap();
        let next = some.last().map(|last| last.key).filter(|_| u64::try_from(some.len()) == Ok(most));
        advance(&transaction, of, next).await.unwrap();
        transaction
    }

    async fn due(&self, busy: &[i64]) -> Vec<SubscriberDelivery> {
        let request = DueRequest { page: self.page, is_mail: true, busy, most: 10 };
        due(self.store.main.reader(), request, at(200)).await.unwrap()
    }

    async fn ended(&self, delivery: &SubscriberDelivery, next_at: Option<Timestamp>) {
        let status = if next_at.is_some() { DeliveryStatus::Waiting } else { DeliveryStatus::Delivered };
        let record = AttemptRecord { key: delivery.key, status, tries: 1, next_at, detail: "250".into() };
        let transaction = self.store.main.begin().await.unwrap();
        store_attempts(&transaction, &[record], at(200)).await.unwrap();
        transaction.commit().await.unwrap();
    }
}

fn facts_of(due: &[SubscriberDelivery]) -> Vec<(&str, Option<i64>)> {
    due.iter().map(|one| (one.subscriber.address.shown.as_str(), one.fact)).collect()
}

/// A kill between two steps repeats none of them, and a step that was not committed leaves nothing.
#[rstest]
#[tokio::test]
async fn a_fact_is_queued_once_for_each_active_subscriber(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(world) = World::open(backend).await else { return };
    let [first, second] = world.facts[..] else { unreachable!("two facts") };
    let of = UnqueuedFact { fact: first, page: world.page };
    assert_eq!(world.unqueued().await, [of], "the later fact waits");
    drop(world.step(of, 1).await);
    assert!(world.due(&[]).await.is_empty(), "it was not committed");
    for _ in 0..4 {
        world.step(of, 1).await.commit().await.unwrap();
    }
    let expected = [("reader1@example.com", Some(first)), ("reader2@example.com", Some(first))];
    assert_eq!(facts_of(&world.due(&[]).await), expected);
    assert_eq!(world.unqueued().await, [UnqueuedFact { fact: second, page: world.page }]);
}

#[rstest]
#[tokio::test]
async fn the_messages_to_a_subscriber_are_due_in_their_order(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(world) = World::open(backend).await else { return };
    let [first, second] = world.facts[..] else { unreachable!("two facts") };
    for fact in [first, second] {
        world.step(UnqueuedFact { fact, page: world.page }, 10).await.commit().await.unwrap();
    }
    let waiting = world.due(&[]).await;
    let reader =
        |number, fact| (if number == 1 { "reader1@example.com" } else { "reader2@example.com" }, Some(fact));
    assert_eq!(facts_of(&waiting), [reader(1, first), reader(2, first)]);
    assert_eq!(facts_of(&world.due(&[waiting[0].key]).await), [reader(2, first)], "one is being sent");
    // A message that is tried again later holds up the next one to the same subscriber, and to no other.
    world.ended(&waiting[0], Some(at(900))).await;
    world.ended(&waiting[1], None).await;
    assert_eq!(facts_of(&world.due(&[]).await), [reader(2, second)]);
    let transaction = world.store.main.begin().await.unwrap();
    give_up(&transaction, waiting[1].subscriber.key, at(200)).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(world.due(&[]).await.is_empty(), "a disabled subscriber gets nothing");
    let pages = pages_with_due(world.store.main.reader(), true, at(1_000)).await.unwrap();
    assert!(pages.contains(&world.page));
}
