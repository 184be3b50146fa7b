//! Remote locations: they keep their schedules, send results, and follow recheck requests.
//!
//! The way between them is two actors of the scene, which can be cut; nothing of it is simulated inside the engines.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Context, Handler};
use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::Engine;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::engine::definition::WatchDefinition;
use watchkeeper::engine::registry::LocationCheckRequest;
use watchkeeper::engine::remote::{IncomingCheckRequest, ServiceResults};
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::location::{Location, LocationCode, LocationKey};
use watchkeeper::model::watch::{PlannedLocation, RoundKeeper};

use crate::facts::Facts;
use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, id, in_paused_time, location};

/// One direction between two engines.
#[derive(Default)]
struct Wire {
    /// The engine at its end; `None` once the scene is over.
    to: RefCell<Option<Engine>>,
    is_cut: Cell<bool>,
}

impl Wire {
    fn to(engine: &Engine) -> Rc<Self> {
        Rc::new(Self { to: RefCell::new(Some(engine.clone())), is_cut: Cell::new(false) })
    }

    /// The engine, unless it cannot be reached.
    fn engine(&self) -> Option<Engine> {
        self.to.borrow().clone().filter(|_| !self.is_cut.get())
    }
}

/// Sends the results of a location to the engine, first those stored while it was cut off.
struct Uplink {
    wire: Rc<Wire>,
    location: LocationCode,
    kept: Vec<CheckRecord>,
}

impl Actor for Uplink {
    type Context = Context<Self>;
}

impl Handler<RecordBatch> for Uplink {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, _: &mut Context<Self>) {
        let location = &self.location;
        let ours = |record| CheckRecord { location: location.clone(), ..record };
        self.kept.extend(batch.checks.into_iter().map(ours));
        if let Some(engine) = self.wire.engine() {
            let records: Arc<[CheckRecord]> = std::mem::take(&mut self.kept).into();
            let results = vec![ServiceResults { id: id(1), records }];
            actix::spawn(async move { engine.take_remote_results(results).await.expect("the engine runs") });
        }
    }
}

/// Takes the requests of the engine to a location.
struct Downlink(Rc<Wire>);

impl Actor for Downlink {
    type Context = Context<Self>;
}

impl Handler<LocationCheckRequest> for Downlink {
    type Result = ();

    fn handle(
        &mut self,
        LocationCheckRequest { service, check_now, fast_rechecks_ms, .. }: LocationCheckRequest,
        _: &mut Context<Self>,
    ) {
        let Some(location) = self.0.engine() else { return };
        actix::spawn(async move {
            location
                .handle_check_request(IncomingCheckRequest { id: service, check_now, fast_rechecks_ms })
                .await
                .expect("the location runs");
        });
    }
}

/// An engine without locations of its own, and its locations.
struct Scene {
    home: World,
    locations: Vec<World>,
    up: Vec<Rc<Wire>>,
    down: Vec<Rc<Wire>>,
    origin: Instant,
}

impl Scene {
    /// One service that locations `a`, `b`, … see as `script` says, each every minute.
    async fn begin(script: &str) -> Self {
        let (clock, origin) = (clock(), Instant::now());
        let home = World::start(Vec::new(), &clock, EngineLimits::default());
        let mut scene = Self { home, locations: Vec::new(), up: Vec::new(), down: Vec::new(), origin };
        let probers = Scripted::cast(script, origin);
        let watched = watched_from(1, probers.len());
        for (slot, prober) in probers.into_iter().enumerate() {
            let Location { code, .. } = location(slot);
            let up = Wire::to(&scene.home.engine);
            let uplink = Uplink { wire: Rc::clone(&up), location: code, kept: Vec::new() };
            let facts = (Facts::default(), uplink.start().recipient());
            let here = World::with_sink(vec![prober], &clock, EngineLimits::default(), facts);
            let down = Wire::to(&here.engine);
            let downlink = Downlink(Rc::clone(&down)).start();
            scene.home.engine.roster().add_remote(location(slot), downlink.recipient());
            here.engine.apply(Arc::new(as_seen_from(&watched, slot))).await.expect("the location runs");
            scene.locations.push(here);
            scene.up.push(up);
            scene.down.push(down);
        }
        scene.home.engine.apply(Arc::new(watched)).await.expect("the engine runs");
        scene
    }

    async fn pass_until(&self, second: u64) {
        tokio::time::sleep_until(self.origin + Duration::from_secs(second)).await;
    }

    /// Cuts the connection to these locations, both directions, or restores it.
    fn cut(&self, locations: &[usize], is_cut: bool) {
        for slot in locations {
            self.up[*slot].is_cut.set(is_cut);
            self.down[*slot].is_cut.set(is_cut);
        }
    }

    /// Replaces the actors that take requests to the locations, as after their death.
    fn replace_downlinks(&mut self) {
        for (slot, here) in self.locations.iter().enumerate() {
            let before = std::mem::replace(&mut self.down[slot], Wire::to(&here.engine));
            drop(before.to.take());
            let downlink = Downlink(Rc::clone(&self.down[slot])).start();
            self.home.engine.roster().add_remote(location(slot), downlink.recipient());
        }
    }

    /// Ends every engine. The status changes of the service in one line; what a part of a second matters is left out.
    async fn end(self) -> String {
        let Self { home, locations, up, down, .. } = self;
        up.iter().chain(&down).for_each(|wire| drop(wire.to.take()));
        let facts = home.facts.clone();
        home.end().await;
        for here in locations {
            here.end().await;
        }
        let changes = facts.lines().into_iter().filter(|line| line.contains('>'));
        let whole_second = |line: String| {
            let (at, change) = line.split_once(' ').expect("a line begins with its time");
            format!("{} {change}", at.split('.').next().unwrap_or(at))
        };
        changes.map(whole_second).collect::<Vec<_>>().join(" | ")
    }
}

/// A service that the engine watches from this number of remote locations, and no local one.
pub(crate) fn watched_from(number: i64, locations: usize) -> WatchDefinition {
    let mut definition = definition(number, 1, Some(&Watching::default()));
    let task = definition.task.as_mut().expect("it is checked");
    let planned = PlannedLocation { round: RoundKeeper::Location, ..task.plan.locations[0] };
    task.locations = (0..).map(LocationKey::new).take(locations).collect();
    task.plan.locations = vec![planned; locations].into();
    definition
}

/// The same as one of the locations watches it.
fn as_seen_from(watched: &WatchDefinition, slot: usize) -> WatchDefinition {
    let plan = watched.task.as_ref().and_then(|task| task.plan.of_location(slot));
    let mut definition = definition(1, 1, Some(&Watching::default()));
    definition.task.as_mut().expect("it is checked").plan = plan.expect("it is one of the locations");
    definition
}

/// The same verdicts at the same seconds as with locations in the engine's process.
#[rstest]
#[case::two_of_three_are_the_truth(
    "a: 0 up, 50 down; b: 0 up, 50 down; c: 0 up",
    "0 unknown>up votes | 60 up>down votes"
)]
#[case::one_of_three_is_not("a: 0 up, 50 down; b: 0 up; c: 0 up", "0 unknown>up votes")]
#[case::an_edge_is_found_by_looking_more_often(
    "a: 0 up, 15 down, 31 up; b: 0 up, 15 down, 31 up; c: 0 up",
    "0 unknown>up votes | 20 up>down votes | 31 down>up votes"
)]
fn remote_locations_decide_together(#[case] script: &str, #[case] changes: &str) {
    in_paused_time(async || {
        let scene = Scene::begin(script).await;
        scene.pass_until(140).await;
        assert_eq!(scene.end().await, changes);
    });
}

/// Regression: a location stayed with the recipient that it was added with, also when that had died.
#[test]
fn recheck_requests_reach_the_replacement_of_a_dead_downlink() {
    in_paused_time(async || {
        let mut scene = Scene::begin("a: 0 up, 15 down, 31 up; b: 0 up, 15 down, 31 up; c: 0 up").await;
        scene.pass_until(1).await;
        scene.replace_downlinks();
        scene.pass_until(140).await;
        assert_eq!(scene.end().await, "0 unknown>up votes | 20 up>down votes | 31 down>up votes");
    });
}

#[test]
fn a_local_location_stays_local() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        let roster = world.engine.roster();
        let nowhere = Downlink(Rc::default()).start();
        roster.add_remote(location(0), nowhere.recipient());
        assert_eq!(roster.all().len(), 1);
        assert_eq!(roster.find("a").map(|known| known.round()), Some(RoundKeeper::Watch));
        drop(roster);
        world.end().await;
    });
}

/// Results of two cut-off locations arrive late: they are history, and raise no alarm.
#[test]
fn late_results_of_a_cut_off_location_raise_no_alarm() {
    in_paused_time(async || {
        let scene = Scene::begin("a: 0 up; b: 0 up, 70 down, 600 up; c: 0 up, 70 down, 600 up").await;
        scene.pass_until(65).await;
        scene.cut(&[1, 2], true);
        scene.pass_until(690).await;
        scene.cut(&[1, 2], false);
        scene.pass_until(900).await;
        assert_eq!(scene.end().await, "0 unknown>up votes");
    });
}

/// A silence of all is a gap, and ends with the first result of the present.
#[test]
fn silence_of_all_locations_is_a_gap() {
    in_paused_time(async || {
        let scene = Scene::begin("a: 0 up; b: 0 up").await;
        scene.pass_until(65).await;
        scene.cut(&[0, 1], true);
        scene.pass_until(490).await;
        scene.cut(&[0, 1], false);
        scene.pass_until(600).await;
        assert_eq!(
            scene.end().await,
            "0 unknown>up votes | 120 up>no_data gap | 420 no_data>unknown stale | 510 unknown>up votes"
        );
    });
}
