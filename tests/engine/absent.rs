//! A restart whose remote locations become known a moment later: their earlier votes count meanwhile.

use std::sync::Arc;
use std::time::Duration;

use actix::Actor as _;
use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::definition::WatchDefinition;
use watchkeeper::engine::remote::ServiceResults;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus;
use watchkeeper::model::location::LocationKey;
use watchkeeper::model::verdict::{LocationVote, Verdict};
use watchkeeper::model::watch::{AbsentVote, PlannedLocation, RoundKeeper, WatchMemory};

use crate::facts::START;
use crate::hearing::{Nobody, Seen};
use crate::script::Scripted;
use crate::world::{Watching, World, address, clock, definition, id, in_paused_time, location};

/// The service, which the engine checks from `here` local locations and from this number of remote ones.
fn watched(target: u64, here: usize, elsewhere: usize) -> WatchDefinition {
    let mut definition = definition(1, 1, Some(&Watching { target, ..Watching::default() }));
    let task = definition.task.as_mut().expect("it is checked");
    let planned = |round| PlannedLocation { round, ..task.plan.locations[0] };
    let mut locations = vec![planned(RoundKeeper::Watch); here];
    locations.extend(vec![planned(RoundKeeper::Location); elsewhere]);
    task.locations = (0..).map(LocationKey::new).take(locations.len()).collect();
    task.plan.locations = locations.into();
    definition
}

/// Half a minute ago these locations saw the service down.
fn seen_down_from(places: &[usize]) -> WatchMemory {
    let vote = LocationVote { status: CheckStatus::Down, checked_at: START.plus_ms(-30_000) };
    let absent = |place: &usize| AbsentVote { location: location(*place).code, vote };
    WatchMemory {
        absent: places.iter().map(absent).collect(),
        status: MeasuredStatus::Down,
        status_since: Some(START.plus_ms(-600_000)),
        ..WatchMemory::default()
    }
}

/// A process that has just started, with as many locations of its own as the script has.
struct Restart {
    world: World,
    origin: Instant,
}

impl Restart {
    async fn with(script: Option<&str>, watched: WatchDefinition, memory: WatchMemory) -> Self {
        let origin = Instant::now();
        let probers = script.map(|script| Scripted::cast(script, origin)).unwrap_or_default();
        let world = World::start(probers, &clock(), EngineLimits::default());
        world.engine.resume(Arc::new(watched), memory).await.expect("the engine runs");
        Self { world, origin }
    }

    async fn pass_until(&self, second: u64) {
        tokio::time::sleep_until(self.origin + Duration::from_secs(second)).await;
    }

    /// Locations at these places become known, and the service is watched from them too.
    async fn learn_of(&self, places: &[usize], watched: WatchDefinition) {
        for place in places {
            self.world.engine.roster().add_remote(location(*place), Nobody.start().recipient());
        }
        self.world.engine.apply(Arc::new(watched)).await.expect("the engine runs");
    }

    async fn receive(&self, place: usize, second: i64, status: CheckStatus) {
        let seen = Seen { status, ..Seen::up(second, 10) };
        let results = ServiceResults { id: id(1), records: [seen.record_from(place)].into() };
        self.world.engine.take_remote_results(vec![results]).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn verdict(&self) -> Verdict {
        self.world.engine.snapshots(&[address(1)]).await.expect("the engine runs")[0].verdict
    }

    /// Ends it; every status change in one line.
    async fn end(self) -> String {
        let facts = self.world.facts.clone();
        self.world.end().await;
        facts.lines().into_iter().filter(|line| line.contains('>')).collect::<Vec<_>>().join(" | ")
    }
}

/// Regression: the status ended as if the service had been paused.
#[test]
fn a_service_without_known_location_keeps_its_status() {
    in_paused_time(async || {
        let scene = Restart::with(None, watched(1, 0, 0), seen_down_from(&[0])).await;
        scene.pass_until(1).await;
        assert_eq!(scene.verdict().await, Verdict::Down);
        scene.learn_of(&[0], watched(1, 0, 1)).await;
        assert_eq!(scene.verdict().await, Verdict::Down);
        scene.pass_until(30).await;
        scene.receive(0, 30, CheckStatus::Down).await;
        scene.pass_until(90).await;
        scene.receive(0, 90, CheckStatus::Up).await;
        assert_eq!(scene.end().await, "90 down>up votes");
    });
}

/// Regression: the votes of the others were forgotten, and the first local check decided alone.
#[test]
fn a_local_location_does_not_decide_until_the_others_are_known() {
    in_paused_time(async || {
        let scene = Restart::with(Some("a: 0 up"), watched(1, 1, 0), seen_down_from(&[1, 2])).await;
        scene.pass_until(2).await;
        assert_eq!(scene.verdict().await, Verdict::Down, "two of three");
        scene.learn_of(&[1, 2], watched(1, 1, 2)).await;
        assert_eq!(scene.verdict().await, Verdict::Down);
        scene.pass_until(30).await;
        scene.receive(1, 30, CheckStatus::Up).await;
        // The first check that saw it up; none has seen it down since.
        assert_eq!(scene.end().await, "0 down>up votes");
    });
}

/// The vote of an absent location ages like any other.
#[rstest]
#[case::no_location_checks(None, 0, "30 down>no_data gap | 300 no_data>unknown stale")]
#[case::a_local_location_checks(Some("a: 0 up"), 1, "300 down>up votes")]
fn a_location_that_does_not_return_is_forgotten(
    #[case] script: Option<&str>,
    #[case] here: usize,
    #[case] changes: &str,
) {
    in_paused_time(async || {
        let scene = Restart::with(script, watched(1, here, 0), seen_down_from(&[1, 2])).await;
        scene.pass_until(1_000).await;
        assert_eq!(scene.end().await, changes);
    });
}

#[test]
fn a_changed_target_discards_the_vote_of_an_absent_location() {
    in_paused_time(async || {
        let scene = Restart::with(None, watched(1, 0, 0), seen_down_from(&[0])).await;
        scene.pass_until(1).await;
        scene.learn_of(&[0], watched(2, 0, 1)).await;
        assert_eq!(scene.end().await, "1 down>unknown reconfigured");
    });
}
