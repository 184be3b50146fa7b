//! Results from remote locations, one by one: which vote, which only count for their day, and which do not count.
//!
//! There is no local location; the scene says what each has measured, and when the engine gets it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Context, Handler};
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::ServiceSnapshot;
use watchkeeper::engine::registry::LocationCheckRequest;
use watchkeeper::engine::remote::ServiceResults;
use watchkeeper::model::check::{CheckStatus, CheckType, Measurement};
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::service::ProbeRole;
use watchkeeper::model::verdict::Verdict;

use crate::elsewhere::watched_from;
use crate::facts::START;
use crate::script::measurement;
use crate::world::{World, address, clock, id, in_paused_time, location};

/// Takes requests to locations, and sends none.
pub(crate) struct Nobody;

impl Actor for Nobody {
    type Context = Context<Self>;
}

impl Handler<LocationCheckRequest> for Nobody {
    type Result = ();

    fn handle(&mut self, _: LocationCheckRequest, _: &mut Context<Self>) {}
}

/// A result of a service from a location.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) service: i64,
    pub(crate) second: i64,
    pub(crate) status: CheckStatus,
    pub(crate) response_ms: u32,
}

impl Seen {
    /// Service 1, up.
    pub(crate) const fn up(second: i64, response_ms: u32) -> Self {
        Self { service: 1, second, status: CheckStatus::Up, response_ms }
    }

    /// As `a` saw it.
    fn record(self) -> CheckRecord {
        self.record_from(0)
    }

    pub(crate) fn record_from(self, place: usize) -> CheckRecord {
        let at = START.plus_ms(self.second * 1_000);
        CheckRecord {
            service: self.service,
            location: location(place).code,
            role: ProbeRole::Full,
            scheduled_at: at,
            checked_at: at,
            attempt: 1,
            measurement: Measurement {
                response_time: NonZeroU32::new(self.response_ms * 1_000),
                ..measurement(self.status)
            },
        }
    }
}

/// An engine that watches services 1 and 2 from the remote location `a`.
struct Scene {
    world: World,
    origin: Instant,
}

impl Scene {
    async fn begin() -> Self {
        let origin = Instant::now();
        let world = World::start(Vec::new(), &clock(), EngineLimits::default());
        world.engine.roster().add_remote(location(0), Nobody.start().recipient());
        for number in [1, 2] {
            let watched = watched_from(number, 1);
            world.engine.apply(Arc::new(watched)).await.expect("the engine runs");
        }
        Self { world, origin }
    }

    /// At that second one message carries these results, under the id of service 1.
    async fn receive_at(&self, second: u64, seen: &[Seen]) {
        let records = seen.iter().map(|seen| seen.record()).collect();
        self.receive_all_at(second, vec![ServiceResults { id: id(1), records }]).await;
    }

    async fn receive_all_at(&self, second: u64, results: Vec<ServiceResults>) {
        tokio::time::sleep_until(self.origin + Duration::from_secs(second)).await;
        self.world.engine.take_remote_results(results).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn snapshot(&self, number: i64) -> ServiceSnapshot {
        self.world.engine.snapshots(&[address(number)]).await.expect("the engine runs")[0]
    }

    /// Results of `a` that were counted.
    fn counted(&self) -> u64 {
        let known = self.world.engine.roster().find("a").expect("it was added");
        CheckStatus::ALL.into_iter().map(|status| known.finished(CheckType::Tcp, status).get()).sum()
    }
}

/// Regression: a result that was delivered twice was counted twice.
#[test]
fn a_repeated_result_counts_once() {
    in_paused_time(async || {
        let scene = Scene::begin().await;
        scene.receive_at(1, &[Seen::up(1, 10)]).await;
        scene.receive_at(61, &[Seen::up(61, 30)]).await;
        let before = scene.snapshot(1).await;
        assert_eq!((before.avg_response_ms, scene.counted()), (Some(20.0), 2));
        scene.receive_at(62, &[Seen::up(61, 30)]).await;
        scene.receive_at(100, &[Seen::up(1, 10), Seen::up(61, 30), Seen::up(61, 30)]).await;
        let after = scene.snapshot(1).await;
        assert_eq!((after.avg_response_ms, scene.counted()), (before.avg_response_ms, 2));
        assert_eq!(after.last_check_at, before.last_check_at);
        scene.world.end().await;
    });
}

/// Regression: a result that a location had stored while it was cut off became its newest one.
#[test]
fn a_late_result_counts_for_its_day_but_not_as_the_last() {
    in_paused_time(async || {
        let scene = Scene::begin().await;
        scene.receive_at(1, &[Seen::up(1, 10)]).await;
        let late = |second| Seen { status: CheckStatus::Degraded, ..Seen::up(second, 40) };
        scene.receive_at(600, &[late(61), late(121)]).await;
        let cut_off = scene.snapshot(1).await;
        assert_eq!(cut_off.last_check_at, Some(START.plus_ms(1_000)));
        assert_eq!((cut_off.avg_response_ms, scene.counted()), (Some(30.0), 3));
        scene.receive_at(661, &[Seen::up(661, 10)]).await;
        scene.receive_at(662, &[late(121), late(181)]).await;
        let back = scene.snapshot(1).await;
        assert_eq!((back.verdict, back.last_check_at), (Verdict::Up, Some(START.plus_ms(661_000))));
        assert_eq!((back.avg_response_ms, scene.counted()), (Some(28.0), 5));
        scene.world.end().await;
    });
}

#[test]
fn a_result_of_another_service_or_of_the_future_is_ignored() {
    in_paused_time(async || {
        let scene = Scene::begin().await;
        scene.receive_at(1, &[Seen { service: 2, ..Seen::up(1, 10) }, Seen::up(9, 10)]).await;
        assert_eq!(scene.snapshot(1).await, ServiceSnapshot::default());
        assert_eq!(scene.snapshot(2).await, ServiceSnapshot::default());
        assert_eq!(scene.counted(), 0);
        scene.world.end().await;
    });
}

#[test]
fn one_message_carries_results_of_many_services() {
    in_paused_time(async || {
        let scene = Scene::begin().await;
        let of = |service, status| {
            let records = [Seen { service, status, ..Seen::up(1, 10) }.record()];
            ServiceResults { id: id(service), records: records.into() }
        };
        let gone = ServiceResults { id: id(3), records: [Seen::up(1, 10).record()].into() };
        let results = vec![gone, of(1, CheckStatus::Up), of(2, CheckStatus::Down)];
        scene.receive_all_at(1, results).await;
        assert_eq!(scene.snapshot(1).await.verdict, Verdict::Up);
        assert_eq!(scene.snapshot(2).await.verdict, Verdict::Down);
        scene.world.end().await;
    });
}
