//! A restart: verdicts, statuses and figures go on where the history says they stopped.

mod absent;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler, System};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use rstest::rstest;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{Clock, DAY_MS};
use watchkeeper::config::limits::{CompactionLimits, EngineLimits};
use watchkeeper::engine::aggregator::{RecordBatch, ServiceSnapshot};
use watchkeeper::engine::definition::DefinitionCompiler;
use watchkeeper::engine::location::Prober;
use watchkeeper::engine::registry::LocationRegistry;
use watchkeeper::engine::shard::ShardThreads;
use watchkeeper::engine::{Engine, EngineParts};
use watchkeeper::model::check::{CheckOutcome, CheckStatus};
use watchkeeper::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use watchkeeper::model::location::Location;
use watchkeeper::model::secret::SecretSealer;
use watchkeeper::model::service::{OverrideStatus, PauseReason, Service, ServicePause, ServiceSettings};
use watchkeeper::model::service_window::{ServiceWindow, WindowKind};
use watchkeeper::model::verdict::Verdict;
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::record::restore;
use watchkeeper::service_router::ServiceRouter;
use watchkeeper::store::history::changes;
use watchkeeper::store::history::segments::RetentionClass;
use watchkeeper::store::windows;
use watchkeeper::supervise::Supervisor;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::chance::Chance;
use crate::support::rows::{
    append_changes, append_checks, at, change, check, code, service, stored_organisation, stored_service,
};

const MINUTE_MS: i64 = 60_000;
/// The process starts here: 40 days and a bit after the first day of the history.
const NOW_MS: i64 = 20_040 * DAY_MS + 300 * MINUTE_MS;

/// Looks for ever: what is known is what was known before.
struct Unseeing;

impl Prober for Unseeing {
    fn probe(&self, _: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome> {
        std::future::pending().boxed_local()
    }
}

#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<StatusChange>>>);

impl Actor for Collector {
    type Context = Context<Self>;
}

impl Handler<RecordBatch> for Collector {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, _: &mut Context<Self>) {
        self.0.lock().unwrap().extend(batch.changes);
    }
}

/// State of a process that starts now: what it knows of each service, and the changes it reports.
async fn restart(store: &Store, known: &[&Service]) -> (Vec<ServiceSnapshot>, Vec<StatusChange>) {
    restart_with(store, known, true).await
}

/// The same; the history may also become available only after the services are monitored.
async fn restart_with(
    store: &Store,
    known: &[&Service],
    is_past_there: bool,
) -> (Vec<ServiceSnapshot>, Vec<StatusChange>) {
    let location = |text: &str| Location {
        code: code(text),
        name: text.into(),
        place: String::new(),
        country_code: "ZZ".into(),
    };
    let roster = Arc::new(LocationRegistry::new(["a", "b", "c"].map(location).into()));
    let collector = Collector::default();
    let engine = Engine::start(&EngineParts {
        roster: Arc::clone(&roster),
        probers: vec![Arc::new(Unseeing), Arc::new(Unseeing), Arc::new(Unseeing)],
        clock: Clock::fixed(at(NOW_MS)),
        limits: EngineLimits::default(),
        threads: ShardThreads::Current,
        sink: collector.clone().start().recipient(),
        supervisor: Supervisor::default(),
    });
    let compiler =
        DefinitionCompiler { sealer: SecretSealer::new(&[0; 32]), roster, limits: EngineLimits::default() };
    let router = ServiceRouter::alone((*store).clone(), engine.clone(), compiler);
    let restored = if is_past_there {
        restore::restore_all(&router).await.unwrap()
    } else {
        restore::restore_without_past(&router).await.unwrap()
    };
    restore::figures::restore_figures(store, &engine, &restored).await.unwrap();
    let addresses: Vec<_> = known.iter().map(|service| service.address()).collect();
    let snapshots = engine.snapshots(&addresses).await.unwrap();
    engine.stop().await;
    let changes = collector.0.lock().unwrap().clone();
    (snapshots, changes)
}

async fn watched(store: &Store, interval_seconds: u32) -> Service {
    let owner = stored_organisation(store, "owner").await;
    let plain = service(owner.key, "watched");
    let settings = plain.settings.clone().map(|settings| ServiceSettings { interval_seconds, ..settings });
    stored_service(store, Service { settings, ..plain }).await
}

/// A service's past in votes: location, seconds before now, what it saw.
type Votes = &'static [(&'static str, i64, CheckStatus)];

#[rstest]
#[case::the_majority_of_the_newest_votes(
    60,
    &[("a", 50, CheckStatus::Down), ("b", 30, CheckStatus::Down), ("c", 10, CheckStatus::Up)],
    Verdict::Down
)]
#[case::a_newer_vote_replaces_an_older_one(
    60,
    &[("a", 90, CheckStatus::Down), ("a", 30, CheckStatus::Up)],
    Verdict::Up
)]
#[case::old_votes_do_not_count(60, &[("a", 301, CheckStatus::Down)], Verdict::Unknown)]
#[case::nothing_is_known(60, &[], Verdict::Unknown)]
#[case::a_location_that_is_gone_has_no_vote(
    60,
    &[("gone", 20, CheckStatus::Down), ("a", 40, CheckStatus::Up)],
    Verdict::Up
)]
// Regression: one recent location silenced the others of a slow service.
#[case::votes_of_a_slow_service_are_found_however_old(
    3_600,
    &[("a", 60, CheckStatus::Down), ("b", 1_260, CheckStatus::Up), ("c", 2_460, CheckStatus::Up)],
    Verdict::Up
)]
#[case::records_of_a_clock_that_was_ahead_hide_nothing(
    60,
    &[("a", -3_600, CheckStatus::Down), ("a", 30, CheckStatus::Up), ("b", -7_200, CheckStatus::Down)],
    Verdict::Up
)]
fn verdicts_are_restored(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] interval_seconds: u32,
    #[case] votes: Votes,
    #[case] verdict: Verdict,
    #[values(false, true)] sealed: bool,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched(&store, interval_seconds).await;
        let row = |(location, ago, status): &(&str, i64, CheckStatus)| {
            check(service.key, location, NOW_MS - ago * 1_000, *status)
        };
        append_checks(&store.history, &votes.iter().map(row).collect::<Vec<_>>()).await;
        if sealed {
            let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
            let limits = CompactionLimits::default();
            let mut compaction = Compaction::new(store.history.clone(), retention, limits, Arc::default());
            compaction.pass(JudgedTime::trusted(at(NOW_MS + DAY_MS))).await.unwrap();
        }
        let (snapshots, _) = restart(&store, &[&service]).await;
        assert_eq!(snapshots[0].verdict, verdict);
    });
}

/// Contract 4.3.1: the newest stored result, however old, also of a service that is not checked any more.
#[rstest]
fn a_paused_service_keeps_the_time_of_its_last_check(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(30, 86_400 * 20)] seconds_ago: i64,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let pause = Some(ServicePause { at: at(NOW_MS - 10_000), reason: PauseReason::Manual });
        let paused = stored_service(&store, Service { pause, ..service(owner.key, "paused") }).await;
        let last = NOW_MS - seconds_ago * 1_000;
        append_checks(&store.history, &[check(paused.key, "a", last, CheckStatus::Up)]).await;
        let (snapshots, _) = restart(&store, &[&paused]).await;
        assert_eq!(snapshots[0].last_check_at, Some(at(last)));
    });
}

#[rstest]
#[case::a_stop_without_due_checks_leaves_no_trace(59, &[])]
#[case::a_check_that_is_a_little_late_is_no_gap(64, &[])]
#[case::a_short_stop_is_a_gap_as_well(
    70,
    &[(-70 + 60, MeasuredStatus::Down, MeasuredStatus::NoData, ChangeCause::Gap)]
)]
#[case::a_long_one_is_a_gap_from_the_first_missing_result(
    100,
    &[(-100 + 60, MeasuredStatus::Down, MeasuredStatus::NoData, ChangeCause::Gap)]
)]
fn a_restart_reports_its_own_gap(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] stopped_seconds: i64,
    #[case] expected: &[(i64, MeasuredStatus, MeasuredStatus, ChangeCause)],
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched(&store, 60).await;
        let last = NOW_MS - stopped_seconds * 1_000;
        append_checks(&store.history, &[check(service.key, "a", last, CheckStatus::Down)]).await;
        let down = (MeasuredStatus::Unknown, MeasuredStatus::Down);
        append_changes(&store.history, &[change(service.key, last - 600_000, down)]).await;
        let (_, changes) = restart(&store, &[&service]).await;
        let found: Vec<_> = changes
            .iter()
            .map(|change| (change.at.ms_since(at(NOW_MS)) / 1_000, change.from, change.to, change.cause))
            .collect();
        assert_eq!(found, expected);
    });
}

/// Time without checks is a gap, also when the process that starts cannot know it yet.
#[rstest]
fn a_history_available_late_gets_its_gap(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched(&store, 60).await;
        let last_ms = NOW_MS - 60 * MINUTE_MS;
        let up = change(service.key, last_ms - MINUTE_MS, (MeasuredStatus::Unknown, MeasuredStatus::Up));
        append_changes(&store.history, &[up]).await;
        append_checks(&store.history, &[check(service.key, "a", last_ms, CheckStatus::Up)]).await;
        for _ in 0..2 {
            restart_with(&store, &[&service], false).await;
            let stored = changes::since(store.history.reader(), service.key, at(0)).await.unwrap();
            let gap = StatusChange {
                service: service.key,
                at: at(last_ms + MINUTE_MS),
                from: MeasuredStatus::Up,
                to: MeasuredStatus::NoData,
                cause: ChangeCause::Gap,
            };
            assert_eq!(stored, [up, gap], "once, however often it is told");
        }
    });
}

/// A past of minutes: changes, decisions, results; the last result may be old.
struct Past {
    changes: Vec<StatusChange>,
    windows: Vec<ServiceWindow>,
    checks: Vec<CheckRecord>,
}

fn past(key: i64, seed: u64) -> Past {
    let mut chance = Chance(seed);
    let start = NOW_MS - 40 * DAY_MS;
    let span = 40 * DAY_MS / MINUTE_MS;
    let mut moments: Vec<i64> = (0..60).map(|_| start + chance.below(span) * MINUTE_MS).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut status = MeasuredStatus::Unknown;
    let mut changes = Vec::new();
    for moment in moments {
        let next = chance.pick(&MeasuredStatus::ALL);
        changes.extend((next != status).then(|| change(key, moment, (status, next))));
        status = next;
    }
    let mut windows = Vec::new();
    for kind in [WindowKind::Pause, WindowKind::Override(chance.pick(&OverrideStatus::ALL))] {
        let mut from = start;
        for _ in 0..4 {
            from += (1 + chance.below(6_000)) * MINUTE_MS;
            let to = from + (1 + chance.below(3_000)) * MINUTE_MS;
            windows.push(ServiceWindow { service: key, kind, from: at(from), to: Some(at(to)) });
            from = to;
        }
        if chance.below(2) == 0 {
            windows.push(ServiceWindow { service: key, kind, from: at(NOW_MS - 700 * MINUTE_MS), to: None });
        }
    }
    let newest = chance.pick(&[0, 1, 2, 90]) * MINUTE_MS;
    let mut checks: Vec<CheckRecord> = (0..500)
        .map(|turn| check(key, "a", start + turn * 6_000_000 + chance.below(6_000_000), CheckStatus::Up))
        .filter(|row| row.checked_at.ms() < NOW_MS - newest)
        .collect();
    checks.push(check(key, "a", NOW_MS - newest, CheckStatus::Up));
    for row in &mut checks {
        row.measurement.response_time = u32::try_from(chance.below(900_000)).ok().and_then(NonZeroU32::new);
    }
    Past { changes, windows, checks }
}

/// Contract 4.7, a minute at a time: what it counts for, up (`true`), down (`false`) or not at all.
fn counts(past: &Past, moment: i64, backed_until: i64) -> Option<bool> {
    let covers = |kind: fn(WindowKind) -> bool| {
        let holds = move |window: &&ServiceWindow| {
            kind(window.kind) && window.from.ms() <= moment && window.to.is_none_or(|to| moment < to.ms())
        };
        past.windows.iter().find(holds)
    };
    if let Some(ServiceWindow { kind: WindowKind::Override(status), .. }) =
        covers(|kind| matches!(kind, WindowKind::Override(_)))
    {
        return match status {
            OverrideStatus::Up | OverrideStatus::Degraded => Some(true),
            OverrideStatus::Down => Some(false),
            OverrideStatus::Maintenance => None,
        };
    }
    if covers(|kind| kind == WindowKind::Pause).is_some() || moment >= backed_until {
        return None;
    }
    match past.changes.iter().rev().find(|change| change.at.ms() <= moment)?.to {
        MeasuredStatus::Up | MeasuredStatus::Degraded => Some(true),
        MeasuredStatus::Down => Some(false),
        MeasuredStatus::Unknown | MeasuredStatus::NoData => None,
    }
}

/// Percent of the measured minutes of the last 30 days, cut to three decimals.
fn expected_uptime(past: &Past) -> Option<f64> {
    let newest = past.checks.last().map_or(0, |row| row.checked_at.ms());
    // A result backs the next minute; after a silence of 76 s the rest is a gap.
    let backed_until = if NOW_MS - newest > 76_000 { newest + MINUTE_MS } else { NOW_MS };
    let start = (NOW_MS / DAY_MS - 29) * DAY_MS;
    let minutes = (0..).map(|minute| start + minute * MINUTE_MS).take_while(|moment| *moment < NOW_MS);
    let counted: Vec<bool> = minutes.filter_map(|moment| counts(past, moment, backed_until)).collect();
    let up = counted.iter().filter(|is_up| **is_up).count();
    let thousandths = (up * 100_000).checked_div(counted.len())?;
    Some(f64::from(u32::try_from(thousandths).unwrap()) / 1_000.0)
}

/// Mean of the answers of the last 30 days, in milliseconds with one decimal.
fn expected_mean(past: &Past) -> f64 {
    let start = at((NOW_MS / DAY_MS - 29) * DAY_MS);
    let counted = past.checks.iter().filter(|row| (start..at(NOW_MS)).contains(&row.checked_at));
    let answers: Vec<u32> =
        counted.filter_map(|row| row.measurement.response_time.map(NonZeroU32::get)).collect();
    let sum: f64 = answers.iter().copied().map(f64::from).sum();
    (sum / f64::from(u32::try_from(answers.len()).unwrap()) / 100.0).round() / 10.0
}

#[rstest]
fn figures_equal_counting_minute_by_minute(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 2, 3, 4)] seed: u64,
    #[values(false, true)] is_sealed: bool,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched(&store, 60).await;
        let past = past(service.key, seed);
        append_checks(&store.history, &past.checks).await;
        append_changes(&store.history, &past.changes).await;
        if is_sealed {
            let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
            let limits = CompactionLimits::default();
            let mut compaction = Compaction::new(store.history.clone(), retention, limits, Arc::default());
            compaction.pass(JudgedTime::trusted(at(NOW_MS - 3 * 60 * MINUTE_MS))).await.unwrap();
        }
        let transaction = store.main.begin().await.unwrap();
        for window in &past.windows {
            windows::open(&transaction, service.key, window.kind, window.from).await.unwrap();
            match (window.kind, window.to) {
                (WindowKind::Pause, Some(to)) => windows::close_pause(&transaction, service.key, to).await,
                (_, Some(to)) => windows::close_override(&transaction, service.key, to).await,
                (_, None) => Ok(()),
            }
            .unwrap();
        }
        transaction.commit().await.unwrap();
        let (snapshots, _) = restart(&store, &[&service]).await;
        assert_eq!(snapshots[0].uptime_30d, expected_uptime(&past), "seed {seed}");
        let (late, _) = restart_with(&store, &[&service], false).await;
        assert_eq!(late[0].uptime_30d, expected_uptime(&past), "seed {seed}, and the history came late");
        assert_eq!(snapshots[0].avg_response_ms, Some(expected_mean(&past)), "seed {seed}");
        assert_eq!(snapshots[0].last_check_at, past.checks.last().map(|row| row.checked_at));
    });
}

/// Checking does not depend on the past.
#[rstest]
fn an_unreadable_history_does_not_stop_monitoring(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    use sea_orm::ConnectionTrait as _;
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched(&store, 60).await;
        store.history.reader().execute_unprepared("DROP TABLE status_change").await.unwrap();
        let collector = Collector::default();
        let roster = Arc::new(LocationRegistry::new(vec![Location {
            code: code("a"),
            name: "a".into(),
            place: String::new(),
            country_code: "ZZ".into(),
        }]));
        let engine = Engine::start(&EngineParts {
            roster: Arc::clone(&roster),
            probers: vec![Arc::new(Unseeing)],
            clock: Clock::fixed(at(NOW_MS)),
            limits: EngineLimits::default(),
            threads: ShardThreads::Current,
            sink: collector.start().recipient(),
            supervisor: Supervisor::default(),
        });
        let compiler = DefinitionCompiler {
            sealer: SecretSealer::new(&[0; 32]),
            roster,
            limits: EngineLimits::default(),
        };
        let router = ServiceRouter::alone((*store).clone(), engine.clone(), compiler);
        let restored = restore::restore_all(&router).await.unwrap();
        assert_eq!(restored.iter().map(|one| one.id).collect::<Vec<_>>(), [service.id]);
        assert!(engine.watched().await.unwrap().contains_key(&service.id));
        assert!(restore::figures::restore_figures(&store, &engine, &restored).await.is_err());
        engine.stop().await;
    });
}
