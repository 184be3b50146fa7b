//! Several claims of one host name: one of them becomes active, in whichever process it is proven, and the step that allows
//! them keeps all rows.

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use sea_orm_migration::MigratorTrait as _;
use tokio::sync::oneshot;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::lifecycle::custom_domains::record_check;
use watchkeeper::model::domain::claims::{DomainCheckReason, DomainRecordsCheck, may_attach};
use watchkeeper::model::domain::{CustomDomain, DomainProblem, DomainRecordsState, DomainStatus};
use watchkeeper::store::{Database, Databases, custom_domains};
use watchkeeper_migration::MainMigrator;

use crate::domains::{MINUTE_MS, START, attached_by, read, watch};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::name_server::NameServer;

const HOST: &str = "status.example.com";
const NOW: Timestamp = START.plus_ms(MINUTE_MS);
const LOST: (DomainStatus, Option<DomainProblem>) =
    (DomainStatus::Failed, Some(DomainProblem::ClaimedElsewhere));
const WON: (DomainStatus, Option<DomainProblem>) = (DomainStatus::Active, None);

const fn state(domain: &CustomDomain) -> (DomainStatus, Option<DomainProblem>) {
    (domain.status, domain.problem)
}

/// A verification by a client that saw both records.
const PROOF: DomainRecordsCheck = DomainRecordsCheck {
    reason: DomainCheckReason::Requested(NOW),
    records_state: DomainRecordsState::Right,
    at: JudgedTime::trusted(NOW),
};

/// All claims are proven and due at once.
#[rstest]
#[tokio::test]
async fn a_due_check_activates_one_of_several_proven_claims(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let servers = NameServer::start();
    servers.alias(HOST, "edge.example.net");
    servers.address_of("edge.example.net", [192, 0, 2, 1]);
    let mut claims = Vec::new();
    for owner in ["one", "two", "three"] {
        let claim = attached_by(&store, owner, HOST).await;
        servers.text("_status-verify.status.example.com", &claim.txt_value);
        claims.push(claim);
    }
    let clock = Clock::fixed(START);
    let watch = watch(&store, &clock, &servers);
    clock.set_ahead(MINUTE_MS);
    watch.round().await.unwrap();
    let mut found = Vec::new();
    for claim in &claims {
        found.push(read(&store, claim).await);
    }
    assert_eq!(found.iter().filter(|claim| state(claim) == WON).count(), 1, "{found:?}");
    let lost: Vec<_> = found.iter().filter(|claim| state(claim) == LOST).collect();
    assert!(lost.len() == 2 && lost.iter().all(|claim| claim.next_check_at.is_none()), "{found:?}");
    clock.set_ahead(2 * 1_440 * MINUTE_MS);
    watch.round().await.unwrap();
    for claim in found {
        assert_eq!(state(&read(&store, &claim).await), state(&claim), "it is final");
    }
}

/// Resolves once a session waits for an advisory lock of this database.
async fn until_lock_wait(store: &Store) {
    let text = "SELECT count(*) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    loop {
        let statement = Statement::from_string(DbBackend::Postgres, text);
        let row = store.main.reader().query_one_raw(statement).await.unwrap().unwrap();
        if row.try_get::<i64>("", "waiting").unwrap() > 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The main database as a second process opens it. A SQLite database belongs to one process.
async fn second_process(store: &Store, backend: Backend) -> Database {
    if matches!(backend, Backend::Sqlite) {
        return store.main.clone();
    }
    let limits = StoreLimits { lock_timeout_seconds: 60, ..StoreLimits::default() };
    Databases::open(&store.place.main_url, &store.place.history_url, &limits).await.unwrap().main
}

/// Stores that the claim is proven, before anything can be known of the other one; commits once `until` says so.
async fn prove(main: &Database, claim: &CustomDomain, until: impl Future<Output = ()>) -> CustomDomain {
    let transaction = main.begin().await.unwrap();
    let outcome = record_check(&transaction, claim, PROOF).await.unwrap().unwrap();
    until.await;
    transaction.commit().await.unwrap();
    outcome.domain
}

/// The second one begins while the first one has not committed.
#[rstest]
#[tokio::test]
async fn one_of_two_simultaneous_proofs_of_a_name_wins(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (first, second) = (attached_by(&store, "one", HOST).await, attached_by(&store, "two", HOST).await);
    let other = second_process(&store, backend).await;
    let (recorded, is_recorded) = oneshot::channel();
    let overlap = async {
        recorded.send(()).unwrap();
        if matches!(backend, Backend::Postgres) {
            until_lock_wait(&store).await;
        }
    };
    let late = async {
        is_recorded.await.unwrap();
        prove(&other, &second, std::future::ready(())).await
    };
    let (won, lost) = tokio::join!(prove(&store.main, &first, overlap), late);
    assert_eq!([&won, &lost].map(state), [WON, LOST]);
    let stored = [read(&store, &first).await, read(&store, &second).await];
    assert_eq!(stored.each_ref().map(state), [WON, LOST]);
}

/// A claim that begins while another one is proven sees the proof, although the name had no other claim to wait for.
#[tokio::test]
async fn a_claim_waits_for_a_proof_under_way() {
    let Some(store) = Backend::Postgres.open().await else { return };
    let first = attached_by(&store, "one", HOST).await;
    let other = second_process(&store, Backend::Postgres).await;
    let (recorded, is_recorded) = oneshot::channel();
    let overlap = async {
        recorded.send(()).unwrap();
        until_lock_wait(&store).await;
    };
    let claim = async {
        is_recorded.await.unwrap();
        let transaction = other.begin().await.unwrap();
        let claims = custom_domains::claims_for_update(&transaction, HOST).await.unwrap();
        may_attach(-1, &claims)
    };
    let (won, is_allowed) = tokio::join!(prove(&store.main, &first, overlap), claim);
    assert_eq!((state(&won), is_allowed), (WON, false));
}

/// Rows and keys survive the step; the step back leaves one claim of each name.
#[rstest]
#[tokio::test]
async fn the_migration_to_several_claims_keeps_the_rows(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const STEP: &str = "m0045_domain_claims";
    let Some(store) = backend.open().await else { return };
    let waiting = attached_by(&store, "one", HOST).await;
    let active = attached_by(&store, "two", HOST).await;
    let other = attached_by(&store, "three", "other.example.com").await;
    let deleted = attached_by(&store, "four", "deleted.example.com").await;
    let transaction = store.main.begin().await.unwrap();
    let active = active.after_check(DomainRecordsState::Right, PROOF.at);
    custom_domains::update(&transaction, &active).await.unwrap();
    custom_domains::delete(&transaction, deleted.key).await.unwrap();
    transaction.commit().await.unwrap();

    let main: DatabaseConnection = sea_orm::Database::connect(&store.place.main_url).await.unwrap();
    let before = MainMigrator::migrations().iter().position(|step| step.name() == STEP).unwrap();
    let undone = MainMigrator::migrations().len() - before;
    MainMigrator::down(&main, Some(u32::try_from(undone).unwrap())).await.unwrap();
    let again = format!(
        "INSERT INTO custom_domain (public_id, statuspage_id, hostname, status, txt_value, created_at) \
        VALUES ('again', {}, '{HOST}', 'failed', '', 0)",
        waiting.statuspage
    );
    main.execute_unprepared(&again).await.unwrap_err();
    MainMigrator::up(&main, None).await.unwrap();

    let reader = store.main.reader();
    let found = |claim: &CustomDomain| custom_domains::find(reader, claim.statuspage, claim.id);
    assert_eq!(found(&waiting).await.unwrap(), None, "the other one is active");
    assert_eq!(found(&active).await.unwrap(), Some(active.clone()));
    assert_eq!(found(&other).await.unwrap(), Some(other.clone()));
    let transaction = store.main.begin().await.unwrap();
    let new = custom_domains::insert(&transaction, CustomDomain { key: 0, ..waiting }).await.unwrap();
    assert!(new.key > deleted.key, "keys are not given twice");
    let claims = custom_domains::claims_for_update(&transaction, HOST).await.unwrap();
    let claims: Vec<_> = claims.into_iter().map(|claim| claim.domain).collect();
    assert_eq!(claims, [active, new]);
    transaction.commit().await.unwrap();
}
