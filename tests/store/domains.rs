//! Custom domains: rows survive, host names are unique, and only due domains are checked.

use std::sync::Arc;

use rstest::rstest;
use watchkeeper::clock::guard::{ClockGuard, JudgedTime};
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::model::domain::{CustomDomain, DomainProblem, DomainRecordsState, DomainStatus};
use watchkeeper::model::domain_names::DomainNames;
use watchkeeper::model::statuspage::Statuspage;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};
use watchkeeper::service_router::host_changes::HostChanges;
use watchkeeper::service_router::ownership::Ownership;
use watchkeeper::store::statuspages::{slugs, visitors};
use watchkeeper::store::{Databases, custom_domains};
use watchkeeper::timetable::domains::DomainWatch;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::name_server::NameServer;
use crate::support::rows::{at, stored_organisation};

pub(crate) const START: Timestamp = at(1_700_000_000_000);
pub(crate) const MINUTE_MS: i64 = 60_000;

/// Attaches a domain to a new page of a new organisation.
async fn attached(store: &Store, hostname: &str) -> CustomDomain {
    attached_by(store, &hostname.replace('.', "-"), hostname).await
}

/// The same for an organisation of this name, whose page has it for a slug.
pub(crate) async fn attached_by(store: &Store, owner: &str, hostname: &str) -> CustomDomain {
    let slug = owner.to_owned();
    let owner = stored_organisation(store, owner).await;
    let name = TranslatedText::single("en", "Shop");
    let page = Statuspage { slug, ..Statuspage::new(owner.key, name, START) };
    let transaction = store.main.begin().await.unwrap();
    let page = slugs::insert(&transaction, page, JudgedTime::trusted(START)).await.unwrap().unwrap();
    let domain = CustomDomain::attached(page.key, hostname.into(), START);
    let domain = custom_domains::insert(&transaction, domain).await.unwrap();
    transaction.commit().await.unwrap();
    domain
}

pub(crate) async fn read(store: &Store, domain: &CustomDomain) -> CustomDomain {
    custom_domains::find(store.main.reader(), domain.statuspage, domain.id).await.unwrap().unwrap()
}

/// Looks at domains, which must lead to `edge.example.net`, by this clock and this name server.
pub(crate) fn watch(store: &Store, clock: &Clock, servers: &NameServer) -> DomainWatch {
    DomainWatch {
        databases: Databases::clone(store),
        guard: Arc::new(ClockGuard::new(clock.clone(), None)),
        names: Arc::new(DomainNames {
            pages: "pages.example.net".into(),
            edge: "edge.example.net".into(),
            api: Vec::new(),
            txt_label: "_status-verify".into(),
        }),
        toolbox: Arc::new(
            Toolbox::new(ToolboxConfig { dns_servers: vec![servers.address], ..ToolboxConfig::default() })
                .unwrap(),
        ),
        ownership: Ownership::alone(),
        host_changes: HostChanges::default(),
    }
}

#[rstest]
#[tokio::test]
async fn every_field_survives(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let domain = attached(&store, "status.example.com").await;
    assert_eq!(read(&store, &domain).await, domain);
    let wrong = domain.after_check(
        DomainRecordsState::Wrong(DomainProblem::OwnershipMissing),
        JudgedTime::trusted(START.plus_ms(1)),
    );
    let active = domain.after_check(DomainRecordsState::Right, JudgedTime::trusted(START.plus_ms(2)));
    let stale = active.after_check(
        DomainRecordsState::Wrong(DomainProblem::WrongTarget),
        JudgedTime::trusted(START.plus_ms(3)),
    );
    for changed in [CustomDomain { asked_at: Some(START), ..wrong }, active, stale] {
        let transaction = store.main.begin().await.unwrap();
        custom_domains::update(&transaction, &changed).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(read(&store, &domain).await, changed);
    }
    let shown = visitors::by_domain(store.main.reader(), "status.example.com").await.unwrap();
    assert_eq!(shown.map(|page| page.key), Some(domain.statuspage));
}

/// The index, whatever the rules say; a claim that is not active shows nothing.
#[rstest]
#[tokio::test]
async fn a_host_name_is_active_once(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let first = attached(&store, "status.example.com").await;
    let transaction = store.main.begin().await.unwrap();
    let second = CustomDomain::attached(first.statuspage, first.hostname.clone(), START);
    let second = custom_domains::insert(&transaction, second).await.unwrap();
    transaction.commit().await.unwrap();
    let hidden = visitors::by_domain(store.main.reader(), "status.example.com").await.unwrap();
    assert_eq!(hidden, None);
    let [first_active, second_active] = [&first, &second]
        .map(|domain| domain.after_check(DomainRecordsState::Right, JudgedTime::trusted(START)));
    let transaction = store.main.begin().await.unwrap();
    custom_domains::update(&transaction, &first_active).await.unwrap();
    transaction.commit().await.unwrap();
    let transaction = store.main.begin().await.unwrap();
    custom_domains::update(&transaction, &second_active).await.unwrap_err();
    drop(transaction);
    assert_eq!(read(&store, &second).await, second);
    let transaction = store.main.begin().await.unwrap();
    custom_domains::delete(&transaction, first.key).await.unwrap();
    custom_domains::update(&transaction, &second_active).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(read(&store, &second).await, second_active);
}

/// Contract 4.15: the first check is after a minute; an active domain is checked daily.
#[rstest]
#[tokio::test]
async fn due_domains_are_checked(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let servers = NameServer::start();
    let (right, wrong) =
        (attached(&store, "right.example.com").await, attached(&store, "wrong.example.com").await);
    let signed = attached(&store, "signed.example.com").await;
    let quiet = attached(&store, "quiet.example.com").await;
    servers.address_of("edge.example.net", [192, 0, 2, 1]);
    servers.sign_badly("signed.example.com");
    servers.fall_silent_about("quiet.example.com");
    servers.alias("right.example.com", "edge.example.net");
    servers.text("_status-verify.right.example.com", &right.txt_value);
    let clock = Clock::fixed(START);
    let watch = watch(&store, &clock, &servers);
    clock.set_ahead(MINUTE_MS - 1);
    watch.round().await.unwrap();
    assert_eq!(read(&store, &right).await, right, "not due yet");
    clock.set_ahead(1);
    watch.round().await.unwrap();
    let looked = read(&store, &right).await;
    assert_eq!((looked.status, looked.verified_at), (DomainStatus::Active, Some(START.plus_ms(MINUTE_MS))));
    assert_eq!(looked.next_check_at, Some(START.plus_ms(1_441 * MINUTE_MS)));
    let looked = read(&store, &wrong).await;
    assert_eq!(looked.problem, Some(DomainProblem::NoRecords));
    assert_eq!(looked.next_check_at, Some(START.plus_ms(2 * MINUTE_MS)));
    assert_eq!(read(&store, &signed).await.problem, Some(DomainProblem::Dnssec));
    clock.set_ahead(7 * 1_440 * MINUTE_MS);
    watch.round().await.unwrap();
    let waiting = read(&store, &wrong).await.status;
    assert_eq!(waiting, DomainStatus::PendingVerification, "a clock that jumps fails no domain");
    clock.set_ahead(61 * MINUTE_MS);
    let watch = DomainWatch { guard: Arc::new(ClockGuard::new(clock, None)), ..watch };
    watch.round().await.unwrap();
    let failed = read(&store, &wrong).await;
    assert_eq!(
        (failed.status, failed.problem),
        (DomainStatus::Failed, Some(DomainProblem::VerificationTimeout))
    );
    assert_eq!(read(&store, &right).await.status, DomainStatus::Active);
    let unseen = read(&store, &quiet).await;
    assert_eq!(unseen.status, DomainStatus::PendingVerification, "our own trouble fails no domain");
}
