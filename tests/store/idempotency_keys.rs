//! Idempotency keys on both databases (contract 1.10): one run at a time, one answer, leases that lapse.

use rstest::rstest;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::id::Id;
use watchkeeper::store::idempotency_keys::{
    self as keys, AnswerHead, CachedAnswer, ClaimOutcome, IdempotentRun, NewRun, StoredAnswer,
};
use watchkeeper::store::{Database, tokens};

use crate::support::Backend;
use crate::support::rows::{at, stored_organisation, token};

const PRINT: [u8; 32] = [7; 32];
const LEASE_MS: i64 = 60_000;
/// The node of all runs.
const NODE: &str = "NodeThatRunsThemAll00";

async fn a_token(database: &Database, organisation: i64) -> i64 {
    let transaction = database.begin().await.unwrap();
    let stored = tokens::insert(&transaction, token(organisation, "ci"), &[7; 32]).await.unwrap();
    transaction.commit().await.unwrap();
    stored.key
}

fn run(token: i64) -> IdempotentRun {
    IdempotentRun { token, key: "order-17".into(), claim: Id::random() }
}

async fn claim(database: &Database, run: &IdempotentRun, now: Timestamp) -> ClaimOutcome {
    let transaction = database.begin().await.unwrap();
    let now = JudgedTime::trusted(now);
    let new = NewRun { run, fingerprint: &PRINT, node: NODE.parse().unwrap(), now, lease_ms: LEASE_MS };
    let claimed = keys::claim(&transaction, new).await.unwrap();
    transaction.commit().await.unwrap();
    claimed
}

async fn settle(database: &Database, run: &IdempotentRun) -> bool {
    let transaction = database.begin().await.unwrap();
    let settled = keys::settle(&transaction, run, stored_answer()).await.unwrap();
    transaction.commit().await.unwrap();
    settled
}

fn head() -> AnswerHead {
    AnswerHead {
        status: 201,
        location: Some("https://api.example.com/v1/tags/1".into()),
        language: Some("de-AT".into()),
    }
}

fn stored_answer() -> CachedAnswer {
    CachedAnswer { head: head(), body: Some("sealed".into()), resource: Some("/v1/tags/1".into()) }
}

fn answer() -> ClaimOutcome {
    ClaimOutcome::Answered(StoredAnswer { fingerprint: PRINT, answer: stored_answer() })
}

#[rstest]
#[tokio::test]
async fn a_key_has_one_run_and_one_answer_for_a_day(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let token = a_token(&store.main, owner).await;
    let (first, second) = (run(token), run(token));
    let start = at(1_000);
    assert_eq!(claim(&store.main, &first, start).await, ClaimOutcome::Mine);
    assert_eq!(claim(&store.main, &second, start).await, ClaimOutcome::Running);
    assert!(!settle(&store.main, &second).await, "only the run that has the key may settle it");
    assert!(settle(&store.main, &first).await);
    assert!(!settle(&store.main, &first).await, "there is one answer");
    let last = start.plus_ms(DAY_MS - 1);
    assert_eq!(claim(&store.main, &second, last).await, answer());
    assert_eq!(claim(&store.main, &second, last.plus_ms(1)).await, ClaimOutcome::Mine);
}

#[rstest]
#[tokio::test]
async fn a_deleted_token_claims_nothing(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let transaction = store.main.begin().await.unwrap();
    let token = tokens::insert(&transaction, token(owner, "ci"), &[7; 32]).await.unwrap();
    transaction.commit().await.unwrap();
    let transaction = store.main.begin().await.unwrap();
    tokens::delete(&transaction, token.id).await.unwrap();
    transaction.commit().await.unwrap();
    let transaction = store.main.begin().await.unwrap();
    let now = JudgedTime::trusted(at(1_000));
    let run = run(token.key);
    let new = NewRun { run: &run, fingerprint: &PRINT, node: NODE.parse().unwrap(), now, lease_ms: LEASE_MS };
    assert_eq!(keys::claim(&transaction, new).await.unwrap(), ClaimOutcome::TokenDeleted);
    transaction.undo().await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_lease_expires_unless_it_is_renewed(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let token = a_token(&store.main, owner).await;
    let (first, second) = (run(token), run(token));
    let start = at(1_000);
    assert_eq!(claim(&store.main, &first, start).await, ClaimOutcome::Mine);
    let transaction = store.main.begin().await.unwrap();
    keys::renew(&transaction, &first, start.plus_ms(2 * LEASE_MS)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(claim(&store.main, &second, start.plus_ms(2 * LEASE_MS - 1)).await, ClaimOutcome::Running);
    assert_eq!(claim(&store.main, &second, start.plus_ms(2 * LEASE_MS)).await, ClaimOutcome::Mine);
    assert!(!settle(&store.main, &first).await, "the run that was too slow has lost the key");
}

/// The oldest bodies go first; answers that cannot be made again keep theirs.
#[rstest]
#[tokio::test]
async fn the_oldest_bodies_are_cut(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let token = a_token(&store.main, owner).await;
    for (n, resource) in [Some("/v1/tags/1"), None, Some("/v1/tags/3"), Some("")].into_iter().enumerate() {
        let run = IdempotentRun { key: format!("order-{n}"), ..run(token) };
        assert_eq!(claim(&store.main, &run, at(1_000 - i64::try_from(n).unwrap())).await, ClaimOutcome::Mine);
        let transaction = store.main.begin().await.unwrap();
        let answer = CachedAnswer {
            body: Some("x".repeat(100)),
            resource: resource.map(str::to_owned),
            ..stored_answer()
        };
        assert!(keys::settle(&transaction, &run, answer).await.unwrap());
        transaction.commit().await.unwrap();
    }
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(keys::cached_bytes(&transaction, token).await.unwrap(), 400);
    assert_eq!(keys::cut_oldest(&transaction, token, 101).await.unwrap(), 200);
    assert_eq!(keys::cached_bytes(&transaction, token).await.unwrap(), 200);
    transaction.commit().await.unwrap();
    let mut has_body = Vec::new();
    for n in 0..4 {
        let run = IdempotentRun { key: format!("order-{n}"), ..run(token) };
        match claim(&store.main, &run, at(1_000)).await {
            ClaimOutcome::Answered(StoredAnswer { answer, .. }) => has_body.push(answer.body.is_some()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(has_body, [true, true, false, false]);
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(keys::cut_oldest(&transaction, token, 1_000).await.unwrap(), 100, "one cannot be made again");
    transaction.commit().await.unwrap();
}

/// A node that starts again frees what its earlier process ran, and nothing that others run.
#[rstest]
#[tokio::test]
async fn a_node_frees_its_own_runs(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let token = a_token(&store.main, owner).await;
    let (first, second) = (run(token), run(token));
    assert_eq!(claim(&store.main, &first, at(0)).await, ClaimOutcome::Mine);
    for (node, expected) in
        [(Id::random(), ClaimOutcome::Running), (NODE.parse().unwrap(), ClaimOutcome::Mine)]
    {
        let transaction = store.main.begin().await.unwrap();
        keys::free_running_on(&transaction, node).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(claim(&store.main, &second, at(0)).await, expected);
    }
    assert!(settle(&store.main, &second).await);
    let transaction = store.main.begin().await.unwrap();
    keys::free_running_on(&transaction, NODE.parse().unwrap()).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(claim(&store.main, &first, at(0)).await, answer(), "answers stay");
}

#[rstest]
#[tokio::test]
async fn a_failed_run_and_a_deleted_token_leave_nothing(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let token = a_token(&store.main, owner).await;
    let (first, second) = (run(token), run(token));
    assert_eq!(claim(&store.main, &first, at(0)).await, ClaimOutcome::Mine);
    let transaction = store.main.begin().await.unwrap();
    keys::free(&transaction, &second).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(
        claim(&store.main, &second, at(0)).await,
        ClaimOutcome::Running,
        "it is not the second's to free"
    );
    let transaction = store.main.begin().await.unwrap();
    keys::free(&transaction, &first).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(claim(&store.main, &second, at(0)).await, ClaimOutcome::Mine);
    let transaction = store.main.begin().await.unwrap();
    keys::free_all_running(&transaction).await.unwrap();
    keys::forget_old(&transaction, at(2 * DAY_MS)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(claim(&store.main, &first, at(0)).await, ClaimOutcome::Mine);
}
