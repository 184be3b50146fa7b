//! Plays one scene with one service: moves in, facts out.
//!
//! Moves are `SECONDS WORD ARGUMENTS`, separated by `;`. The seconds are those of the scene's steady time, which no
//! setting of the wall clock moves.
//!
//! | move | does |
//! |---|---|
//! | `watch every=60 retries=1 recovery=1 at=ab target=2` | watches so from now on; what is left out stays |
//! | `pause`, `resume` | as a client would |
//! | `clock +3600` | sets the wall clock ahead |
//! | `stall 3600` | so many seconds pass at once, without anybody running |
//! | `stop`, `start` | ends the engine; begins a new one with what the facts remember |
//! | `end` | the last move |

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::ServiceSnapshot;
use watchkeeper::model::verdict::LocationVote;
use watchkeeper::model::watch::{MemorySource, WatchMemory};

use crate::facts::Facts;
use crate::script::{Scripted, code_of, seconds};
use crate::world::{Watching, World, address, clock, definition, in_paused_time};

/// Outcome of a scene.
pub(crate) struct Played {
    pub(crate) facts: Facts,
    /// Runs that were skipped.
    pub(crate) missed: u64,
    /// Attempts whose outcome was dropped.
    pub(crate) dropped: u64,
    /// Snapshot of the engine at the end.
    pub(crate) snapshot: ServiceSnapshot,
    /// The wall time at the end.
    pub(crate) ended_at: Timestamp,
}

impl Played {
    /// All facts in one line.
    pub(crate) fn text(&self) -> String {
        self.facts.lines().join(" | ")
    }

    /// The status changes in one line.
    pub(crate) fn changes(&self) -> String {
        let changes = self.facts.lines().into_iter().filter(|line| line.contains('>'));
        changes.collect::<Vec<_>>().join(" | ")
    }
}

/// The scene while it is played.
struct Stage {
    origin: Instant,
    clock: Clock,
    script: String,
    world: Option<World>,
    facts: Facts,
    watching: Watching,
    revision: i64,
    missed: u64,
    dropped: u64,
    snapshot: ServiceSnapshot,
}

/// Plays `moves` on service 1 against targets that behave as `script` says.
pub(crate) fn play(script: &str, moves: &str) -> Played {
    in_paused_time(async || {
        let mut stage = Stage {
            origin: Instant::now(),
            clock: clock(),
            script: script.into(),
            world: None,
            facts: Facts::default(),
            watching: Watching::default(),
            revision: 0,
            missed: 0,
            dropped: 0,
            snapshot: ServiceSnapshot::default(),
        };
        stage.open();
        for line in moves.split(';') {
            let (at, action) = line.trim().split_once(' ').expect("a time and a move");
            tokio::time::sleep_until(stage.origin + seconds(at)).await;
            stage.make(action).await;
        }
        let Stage { facts, missed, dropped, snapshot, world, clock, .. } = stage;
        assert!(world.is_none(), "the last move is `end`");
        Played { facts, missed, dropped, snapshot, ended_at: clock.now() }
    })
}

impl Stage {
    fn open(&mut self) {
        let probers = Scripted::cast(&self.script, self.origin);
        let world = World::start(probers, &self.clock, EngineLimits::default());
        self.world = Some(world);
    }

    async fn make(&mut self, action: &str) {
        let (word, arguments) = action.split_once(' ').unwrap_or((action, ""));
        match word {
            "watch" => {
                arguments.split(' ').filter(|pair| !pair.is_empty()).for_each(|pair| self.set(pair));
                self.apply(true).await;
            }
            "resume" => self.apply(true).await,
            "pause" => self.apply(false).await,
            "clock" => self.clock.set_ahead(arguments.parse::<i64>().expect("seconds") * 1_000),
            "stall" => tokio::time::advance(seconds(arguments)).await,
            "stop" | "end" => self.close().await,
            "start" => {
                self.open();
                let memory = remember(&self.facts, self.world().engine.started_at());
                let known = Arc::new(definition(1, self.revision, Some(&self.watching)));
                self.world().engine.resume(known, memory).await.expect("the engine runs");
            }
            other => panic!("no such move: {other}"),
        }
    }

    fn set(&mut self, pair: &str) {
        let (key, value) = pair.split_once('=').expect("key and value");
        match key {
            "every" => self.watching.every_ms = value.parse::<i64>().expect("seconds") * 1_000,
            "retries" => self.watching.retries = value.parse().expect("a number"),
            "recovery" => self.watching.rules.recovery_checks = value.parse().expect("a number"),
            "at" => self.watching.at = value.into(),
            "target" => self.watching.target = value.parse().expect("a number"),
            other => panic!("nothing to set: {other}"),
        }
    }

    async fn apply(&mut self, is_watched: bool) {
        self.revision += 1;
        let watching = is_watched.then_some(&self.watching);
        let definition = Arc::new(definition(1, self.revision, watching));
        self.world().engine.apply(definition).await.expect("the engine runs");
    }

    async fn close(&mut self) {
        let world = self.world.take().expect("the engine runs");
        self.snapshot = world.engine.snapshots(&[address(1)]).await.expect("the engine runs")[0];
        let facts = world.facts.clone();
        let (missed, dropped) = world.end().await;
        self.facts.add(&facts);
        self.missed += missed;
        self.dropped += dropped;
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("the engine is not stopped")
    }
}

/// The state of the facts of service 1, as a later process would read them back.
fn remember(facts: &Facts, started_at: Timestamp) -> WatchMemory {
    let mut votes = BTreeMap::new();
    for check in facts.checks() {
        let slot = (0..).find(|slot| code_of(*slot) == check.location.as_str());
        let vote = LocationVote { status: check.measurement.status, checked_at: check.checked_at };
        votes.insert(slot.expect("a known location"), vote);
    }
    let last = facts.changes().last().copied();
    WatchMemory {
        votes: votes.into_iter().collect(),
        status: last.map(|change| change.to).unwrap_or_default(),
        status_since: last.map(|change| change.at),
        source: MemorySource::EndedProcess { started_at },
        ..WatchMemory::default()
    }
}
