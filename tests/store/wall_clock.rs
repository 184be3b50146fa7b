//! Expiry by age under a wrong wall clock: nothing expires (reliability 15). One store with something of every
//! kind that is stored for a while, and everything that ends such things, under each way a clock goes wrong.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor as _, System};
use rstest::rstest;
use watchkeeper::clock::guard::{ClockGuard, JudgedTime};
use watchkeeper::clock::judgement::{ClockMark, DoubtedMark};
use watchkeeper::clock::{Clock, DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::id::Id;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::domain::{CustomDomain, DomainRecordsState, DomainStatus};
use watchkeeper::model::domain_names::DomainNames;
use watchkeeper::model::history::MeasuredStatus::{Down, Unknown, Up};
use watchkeeper::model::statuspage::Statuspage;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};
use watchkeeper::record::compaction::{CompactNow, Compaction, Compactor, RetentionPolicy};
use watchkeeper::record::upkeep;
use watchkeeper::service_router::host_changes::HostChanges;
use watchkeeper::service_router::ownership::Ownership;
use watchkeeper::store::history::segments::RetentionClass;
use watchkeeper::store::history::{changes, segments};
use watchkeeper::store::idempotency_keys::{
    self as keys, AnswerHead, CachedAnswer, ClaimOutcome, IdempotentRun, NewRun,
};
use watchkeeper::store::statuspages::slugs;
use watchkeeper::store::{Databases, clock_mark, custom_domains, tokens};
use watchkeeper::timetable::domains::DomainWatch;
use watchkeeper::timetable::wall_clock;

use crate::compaction::in_blocks;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::name_server::NameServer;
use crate::support::rows::{append_changes, append_checks, at, change, check, stored_organisation, token};

/// A noon.
const START: Timestamp = at(20_000 * DAY_MS + DAY_MS / 2);
const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * DAY_MS;
const LEASE_MS: i64 = 60_000;

/// A run on some node that claims its key.
fn new_run(run: &IdempotentRun, now: JudgedTime) -> NewRun<'_> {
    NewRun { run, fingerprint: &PRINT, node: Id::random(), now, lease_ms: LEASE_MS }
}
const PRINT: [u8; 32] = [7; 32];
const SLUG: &str = "freed";

/// A row of every kind that is stored for a while.
struct Kept {
    key: IdempotentRun,
    waiting: CustomDomain,
    stale: CustomDomain,
    stranger: i64,
}

/// Rows that are left.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    checks: usize,
    changes: usize,
    is_key_remembered: bool,
    domains: [DomainStatus; 2],
    is_slug_held: bool,
}

const ALL: Left = Left {
    checks: 2,
    changes: 3,
    is_key_remembered: true,
    domains: [DomainStatus::PendingVerification, DomainStatus::Active],
    is_slug_held: true,
};

const NOTHING: Left = Left {
    checks: 0,
    changes: 1,
    is_key_remembered: false,
    domains: [DomainStatus::Failed, DomainStatus::Failed],
    is_slug_held: false,
};

impl Kept {
    /// Of the time before `START`: nothing is old enough to end yet.
    async fn store(store: &Store) -> Self {
        let days = |days: i64| START.plus_ms(-days * DAY_MS);
        let of_days = [40, 1].map(|ago| check(1, "a", days(ago).ms(), CheckStatus::Up));
        append_checks(&store.history, &of_days).await;
        let moves = [(300, (Unknown, Up)), (200, (Up, Down)), (100, (Down, Up))];
        append_changes(&store.history, &moves.map(|(ago, states)| change(1, days(ago).ms(), states))).await;
        let owner = stored_organisation(store, "owner").await.key;
        let stranger = stored_organisation(store, "stranger").await.key;
        let transaction = store.main.begin().await.unwrap();
        let token = tokens::insert(&transaction, token(owner, "ci"), &[7; 32]).await.unwrap().key;
        let key = IdempotentRun { token, key: "order-17".into(), claim: Id::random() };
        let an_hour_ago = JudgedTime::trusted(START.plus_ms(-HOUR_MS));
        keys::claim(&transaction, new_run(&key, an_hour_ago)).await.unwrap();
        let head = AnswerHead { status: 201, location: None, language: None };
        let answer = CachedAnswer { head, body: Some("sealed".into()), resource: None };
        assert!(keys::settle(&transaction, &key, answer).await.unwrap());
        let page = Statuspage::new(owner, TranslatedText::single("en", "Shop"), START);
        let page = Statuspage { slug: "shop".into(), ..page };
        let page = slugs::insert(&transaction, page, an_hour_ago).await.unwrap().unwrap();
        let renamed = Statuspage { slug: SLUG.into(), ..page.clone() };
        slugs::hold(&transaction, &renamed, START.plus_ms(-HOUR_MS)).await.unwrap();
        let page = page.key;
        let attached = |name: &str| CustomDomain::attached(page, name.into(), days(1));
        let seen = attached("stale.example.com")
            .after_check(DomainRecordsState::Right, JudgedTime::trusted(days(1)));
        let waiting = custom_domains::insert(&transaction, attached("waiting.example.com")).await.unwrap();
        let stale = custom_domains::insert(&transaction, seen).await.unwrap();
        transaction.commit().await.unwrap();
        Self { key, waiting, stale, stranger }
    }

    async fn left(&self, store: &Store, guard: &ClockGuard) -> Left {
        let main = store.main.reader();
        let stored = async |domain: &CustomDomain| {
            custom_domains::find(main, domain.statuspage, domain.id).await.unwrap().unwrap().status
        };
        let transaction = store.main.begin().await.unwrap();
        let again = IdempotentRun { claim: Id::random(), ..self.key.clone() };
        let now = guard.judged_now();
        let claimed = keys::claim(&transaction, new_run(&again, now)).await.unwrap();
        let left = Left {
            checks: in_blocks(store).await.len(),
            changes: changes::since(store.history.reader(), 1, at(0)).await.unwrap().len(),
            is_key_remembered: matches!(claimed, ClaimOutcome::Answered(_)),
            domains: [stored(&self.waiting).await, stored(&self.stale).await],
            is_slug_held: slugs::is_taken(main, self.stranger, SLUG, now).await.unwrap(),
        };
        drop(transaction);
        left
    }
}

/// Everything that ends something by its age, with one clock.
struct Process {
    guard: Arc<ClockGuard>,
    compactor: actix::Addr<Compactor>,
    domains: DomainWatch,
    _servers: NameServer,
}

impl Process {
    fn start(store: &Store, clock: &Clock, mark: Option<ClockMark>) -> Self {
        let guard = Arc::new(ClockGuard::new(clock.clone(), mark.as_ref()));
        let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
        let compaction =
            Compaction::new(store.history.clone(), retention, CompactionLimits::default(), Arc::default());
        let compactor = Compactor::new(compaction, Arc::clone(&guard)).start();
        let servers = NameServer::start();
        let toolbox = ToolboxConfig { dns_servers: vec![servers.address], ..ToolboxConfig::default() };
        let domains = DomainWatch {
            databases: Databases::clone(store),
            guard: Arc::clone(&guard),
            names: Arc::new(DomainNames {
                pages: "pages.example.net".into(),
                edge: "edge.example.net".into(),
                api: Vec::new(),
                txt_label: "_status-verify".into(),
            }),
            toolbox: Arc::new(Toolbox::new(toolbox).unwrap()),
            ownership: Ownership::alone(),
            host_changes: HostChanges::default(),
        };
        Self { guard, compactor, domains, _servers: servers }
    }

    /// Lets everything that is due be done.
    async fn work(&self) {
        assert!(self.compactor.send(CompactNow).await.unwrap(), "the pass fails");
        self.domains.round().await.unwrap();
        let databases = self.domains.databases.clone();
        let upkeep =
            upkeep::run(databases, Arc::clone(&self.guard), Ownership::alone(), Duration::from_secs(60));
        // Its first tick is at once.
        tokio::time::timeout(Duration::from_millis(300), upkeep).await.unwrap_err();
    }
}

/// Moves of the clock while the process runs, in hours, and after each of them everything that is due.
#[rstest]
#[case::an_hour_back(&[-1])]
#[case::an_hour_ahead_and_back(&[1, -1])]
#[case::a_year_ahead(&[365 * 24])]
#[case::a_year_ahead_and_back(&[365 * 24, -365 * 24])]
#[case::a_year_back_and_ahead(&[-365 * 24, 365 * 24])]
#[case::by_and_by(&[2, 2, 2, 24, 24 * 365])]
fn nothing_expires_because_of_a_clock_change(
    #[case] hours: &[i64],
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let sample = Kept::store(&store).await;
        let clock = Clock::fixed(START);
        let process = Process::start(&store, &clock, None);
        process.work().await;
        for hours in hours {
            clock.set_ahead(hours * HOUR_MS);
            process.work().await;
            // Retired segments are dropped by a later pass.
            clock.set_ahead(70_000);
            process.work().await;
        }
        assert_eq!(sample.left(&store, &process.guard).await, ALL);
    });
}

/// A start whose clock is ahead of, or behind, the newest time that is known, in days.
#[rstest]
#[case::four_hundred_days_ahead(400)]
#[case::four_hundred_days_behind(-400)]
fn nothing_expires_because_of_a_wrong_clock_at_the_start(
    #[case] days: i64,
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let sample = Kept::store(&store).await;
        let clock = Clock::fixed(START);
        let before = Process::start(&store, &clock, None);
        before.work().await;
        clock.set_ahead(days * DAY_MS);
        let mark = ClockMark { newest: START, doubted: None };
        let process = Process::start(&store, &clock, Some(mark));
        process.work().await;
        clock.set_ahead(120_000);
        process.work().await;
        assert_eq!(sample.left(&store, &process.guard).await, ALL);
        // The operator says that it is right.
        let trusting = Process::start(&store, &clock, None);
        for _ in 0..9 {
            trusting.work().await;
            clock.set_ahead(70_000);
        }
        let is_over = days > 0;
        let changes = if is_over { NOTHING.changes } else { ALL.changes };
        assert_eq!(sample.left(&store, &trusting.guard).await.changes, changes);
    });
}

/// The same store, when the time has really passed.
#[rstest]
fn everything_expires_at_its_time(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let sample = Kept::store(&store).await;
        let clock = Clock::fixed(START);
        Process::start(&store, &clock, None).work().await;
        assert_eq!(sample.left(&store, &ClockGuard::new(clock.clone(), None)).await, ALL);
        for days in [30, 30, 30, 320] {
            clock.set_ahead(days * DAY_MS);
            Process::start(&store, &clock, None).work().await;
        }
        assert_eq!(sample.left(&store, &ClockGuard::new(clock, None)).await, NOTHING);
    });
}

#[rstest]
fn the_newest_time_is_stored_for_the_next_start(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let clock = Clock::fixed(START);
        let guard = wall_clock::guard(&store, &clock, false).await.unwrap();
        assert_eq!(guard.trusted_now(), Some(START), "nothing is known yet");
        for mark in [
            ClockMark { newest: START, doubted: None },
            ClockMark {
                newest: START.plus_ms(-YEAR_MS),
                doubted: Some(DoubtedMark { at: START, steady: Duration::from_secs(7_200) }),
            },
        ] {
            wall_clock::keep(&store, mark).await.unwrap();
            assert_eq!(clock_mark::find(store.main.reader()).await.unwrap(), Some(mark));
        }
        let guard = wall_clock::guard(&store, &clock, false).await.unwrap();
        let doubt = guard.state().doubt.unwrap();
        assert_eq!((doubt.ahead_ms, doubt.trusted_in.as_secs()), (YEAR_MS, 86_400 - 7_200));
        let guard = wall_clock::guard(&store, &clock, true).await.unwrap();
        assert_eq!(guard.trusted_now(), Some(START), "the operator trusts it");
    });
}

/// An installation of an earlier version has stored no time, but it has a history.
#[rstest]
fn without_a_stored_time_the_newest_time_comes_from_the_history(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(false, true)] is_sealed: bool,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        append_checks(&store.history, &[check(1, "a", START.ms(), CheckStatus::Up)]).await;
        let clock = Clock::fixed(START.plus_ms(DAY_MS / 4));
        if is_sealed {
            Process::start(&store, &clock, None).work().await;
            assert_eq!(segments::visible(store.history.reader()).await.unwrap().len(), 1);
        }
        let guard = wall_clock::guard(&store, &clock, false).await.unwrap();
        assert!(guard.trusted_now().is_some());
        clock.set_ahead(2 * DAY_MS);
        let guard = wall_clock::guard(&store, &clock, false).await.unwrap();
        assert_eq!(guard.trusted_now(), None);
    });
}
