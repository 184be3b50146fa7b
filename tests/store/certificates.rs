//! Certificates of custom domains: which order is due, what is served, and who may order.

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::model::certificate::{CertificateFacts, CertificateValidity, OrderWait};
use watchkeeper::model::domain::{CustomDomain, DomainProblem, DomainRecordsState};
use watchkeeper::store::acme_challenges::{self, ChallengeAnswer};
use watchkeeper::store::certificates::{self, DueCertificate, ServedCertificate, take_order_lock};
use watchkeeper::store::custom_domains;

use crate::domains::{START, attached_by};
use crate::support::Backend;
use crate::support::backend::Store;

const DIRECTORY: &str = "https://ca.example/dir";
const HOUR_MS: i64 = 3_600_000;

/// A domain of an organisation of its own that is active.
async fn active(store: &Store, owner: &str) -> CustomDomain {
    let domain = attached_by(store, owner, &format!("{owner}.example.com")).await;
    let domain = domain.after_check(DomainRecordsState::Right, JudgedTime::trusted(START));
    update(store, &domain).await;
    domain
}

async fn update(store: &Store, domain: &CustomDomain) {
    let transaction = store.main.begin().await.unwrap();
    custom_domains::update(&transaction, domain).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn due(store: &Store, directory: &str, now: Timestamp) -> Option<DueCertificate> {
    certificates::next_due(store.main.reader(), directory, now).await.unwrap()
}

async fn put(store: &Store, domain: &CustomDomain, facts: &CertificateFacts) -> bool {
    let transaction = store.main.begin().await.unwrap();
    let is_stored = certificates::put_facts(&transaction, domain.key, DIRECTORY, facts).await.unwrap();
    transaction.commit().await.unwrap();
    is_stored
}

async fn issue(store: &Store, domain: &CustomDomain, sealed: &str) -> CertificateFacts {
    let validity = CertificateValidity { not_before: START, not_after: START.plus_ms(3 * HOUR_MS) };
    let facts = CertificateFacts::issued(validity);
    let transaction = store.main.begin().await.unwrap();
    certificates::put_issued(&transaction, domain.key, DIRECTORY, &facts, sealed.into()).await.unwrap();
    transaction.commit().await.unwrap();
    facts
}

async fn served(store: &Store) -> Vec<(String, i64)> {
    let served = certificates::served(store.main.reader()).await.unwrap();
    let mut served: Vec<_> =
        served.into_iter().map(|ServedCertificate { hostname, revision, .. }| (hostname, revision)).collect();
    served.sort_unstable();
    served
}

/// Active domains without a certificate come first, then those that have waited longest; waiting domains never.
#[rstest]
#[tokio::test]
async fn the_most_urgent_order_is_due_first(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    attached_by(&store, "waiting", "waiting.example.com").await;
    assert_eq!(due(&store, DIRECTORY, START).await, None);
    let (one, two) = (active(&store, "one").await, active(&store, "two").await);
    let first = due(&store, DIRECTORY, START).await.unwrap();
    assert_eq!((first.domain, first.hostname.as_str(), first.facts), (one.key, "one.example.com", None));

    let begun = CertificateFacts::begin_order(None, START);
    assert!(put(&store, &one, &begun).await);
    assert_eq!(due(&store, DIRECTORY, START).await.unwrap().domain, two.key);
    assert!(put(&store, &two, &begun.clone().failed("no", OrderWait::Asked(1_000), START)).await);
    assert_eq!(due(&store, DIRECTORY, START).await, None);
    assert_eq!(due(&store, DIRECTORY, START.plus_ms(1_000)).await.unwrap().domain, two.key);
    let late = START.plus_ms(HOUR_MS);
    let both = due(&store, DIRECTORY, late).await.unwrap();
    assert_eq!((both.domain, both.facts.unwrap().last_error.as_deref()), (two.key, Some("no")));

    let facts = issue(&store, &two, "sealed").await;
    assert_eq!(facts.due_at, START.plus_ms(2 * HOUR_MS));
    assert_eq!(due(&store, DIRECTORY, late).await.unwrap().facts, Some(begun));
    // Another authority has issued nothing yet.
    assert_eq!(due(&store, "https://other.example/dir", START).await.unwrap().domain, one.key);
}

/// A new certificate has a new revision; certificates go with their domains.
#[rstest]
#[tokio::test]
async fn certificates_of_active_domains_are_served(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = (active(&store, "one").await, active(&store, "two").await);
    assert_eq!(served(&store).await, []);
    issue(&store, &one, "first").await;
    issue(&store, &two, "second").await;
    let before = served(&store).await;
    assert_eq!(before, [("one.example.com".into(), 1), ("two.example.com".into(), 2)]);
    issue(&store, &one, "third").await;
    assert_eq!(served(&store).await[0], ("one.example.com".into(), 3));
    let sealed = certificates::sealed(store.main.reader(), one.key).await.unwrap();
    assert_eq!(sealed.as_deref(), Some("third"));

    let failed = CertificateFacts::begin_order(None, START).failed("no", OrderWait::Growing, START);
    put(&store, &one, &failed).await;
    assert_eq!(served(&store).await.len(), 2, "a failed order takes no certificate away");
    let wrong = DomainRecordsState::Wrong(DomainProblem::WrongTarget);
    let stale = one.after_check(wrong, JudgedTime::trusted(START));
    let stale = stale.after_check(wrong, JudgedTime::trusted(START.plus_ms(8 * 24 * HOUR_MS)));
    update(&store, &stale).await;
    assert_eq!(served(&store).await, [("two.example.com".into(), 2)]);

    let transaction = store.main.begin().await.unwrap();
    custom_domains::delete(&transaction, two.key).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(served(&store).await, []);
    assert!(!put(&store, &two, &failed).await, "the domain was deleted during the order");
}

#[rstest]
#[tokio::test]
async fn one_process_orders(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let lock = take_order_lock(&store.main).await.unwrap().unwrap();
    assert!(lock.is_held().await);
    if matches!(backend, Backend::Postgres) {
        assert!(take_order_lock(&store.main).await.unwrap().is_none());
    }
    drop(lock);
    while take_order_lock(&store.main).await.unwrap().is_none() {
        tokio::task::yield_now().await;
    }
}

/// A name has one answer; one whose order never ended is removed by a later order.
#[rstest]
#[tokio::test]
async fn answers_to_challenges_are_replaced(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let answer = |token: &str, hostname: &str| ChallengeAnswer {
        token: token.into(),
        hostname: hostname.into(),
        key_authorization: format!("{token}.thumbprint"),
    };
    let (old, new, other) =
        (answer("a", "one.example"), answer("b", "one.example"), answer("c", "two.example"));
    let steps = [(&old, 0, vec![&old]), (&new, 1, vec![&new]), (&other, 2, vec![&new, &other])];
    for (put, hours, expected) in steps {
        let transaction = store.main.begin().await.unwrap();
        // The second answer is old, but not yet forgotten, when the third one comes.
        let now = START.plus_ms(hours * (HOUR_MS - 1));
        acme_challenges::replace(&transaction, put, now).await.unwrap();
        transaction.commit().await.unwrap();
        let mut stored = acme_challenges::list(store.main.reader()).await.unwrap();
        stored.sort_unstable_by(|a, b| a.token.cmp(&b.token));
        assert_eq!(stored.iter().collect::<Vec<_>>(), expected);
    }
    let transaction = store.main.begin().await.unwrap();
    acme_challenges::replace(&transaction, &other, START.plus_ms(5 * HOUR_MS)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(acme_challenges::list(store.main.reader()).await.unwrap(), [other]);
}
