//! The schedule of a whole installation on virtual time: services at 60 s, from three locations in other places, which take
//! turns. The figures are in docs/capacity.md.
//!
//! Only the pure types run: for each service a watch at every location, as the engine gives it to them, and the watch of the
//! engine, which gets their results with their next batch. 20,000 services over two minutes; `WATCHKEEPER_ENDURE=1` runs
//! 1,000,000 over three.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::{CheckOutcome, CheckStatus};
use watchkeeper::model::history::MeasuredStatus;
use watchkeeper::model::partition::{PARTITIONS, Partition};
use watchkeeper::model::schedule::CheckSchedule;
use watchkeeper::model::service::ProbeRole;
use watchkeeper::model::status_rules::StatusRules;
use watchkeeper::model::verdict::LocationVote;
use watchkeeper::model::watch::{
    ArrivalOutcome, PlannedLocation, RoundKeeper, WatchEffect, WatchMemory, WatchPlan, WatchState,
};

use crate::facts::START;
use crate::memory::resident;
use crate::script::measurement;
use crate::world::id;

const LOCATIONS: usize = 3;
const INTERVAL_MS: i64 = 60_000;
/// Engine nodes that share the partitions evenly.
const NODES: usize = 16;
/// Locations send their results at these moments, and they arrive after this delay.
const BATCH_MS: i64 = 250;
const ON_ITS_WAY_MS: i64 = 50;
/// The short span of time in which starts are counted.
const MOMENT_MS: i64 = 10;
/// Maximum size of a watch, without the values it points to.
const MOST_BYTES: usize = 320;

/// A service: the watch of the engine, and that of each location.
struct Watched {
    engine: WatchState,
    locations: [WatchState; LOCATIONS],
    /// Starts at each location.
    starts: [u8; LOCATIONS],
}

/// The next event of one of the services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Look(usize),
    End(usize),
    Hear(usize),
    Judge,
}

/// The services, and their next events.
struct Installation {
    services: Vec<Watched>,
    coming: BinaryHeap<Reverse<(Timestamp, u32, Next)>>,
    seen: Seen,
}

/// Counts of events by span of time.
struct Seen {
    /// Starts by moment, and by second and partition.
    by_moment: Vec<u32>,
    by_partition: Vec<[u32; PARTITIONS as usize]>,
    /// Results that a node receives, by moment and node.
    by_node: Vec<[u32; NODES]>,
    /// Batches sent, and the partitions of each location in the one that is being filled.
    messages: u64,
    filling: [u64; LOCATIONS],
    filled_at: Timestamp,
    /// Times at which an engine's watch checked for silent locations.
    judgements: u64,
}

fn plan(hash: u64) -> WatchPlan {
    let remote = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Location };
    WatchPlan {
        hash,
        interval_ms: INTERVAL_MS,
        timeout_ms: 10_000,
        attempts: 2,
        backoff_ms: 200,
        backoff_max_ms: 1_000,
        uncertain_interval_ms: 1_000,
        rules: StatusRules::default(),
        locations: [remote; LOCATIONS].into(),
    }
}

/// Up, and checked by each of these locations at its last due time.
fn memory(hash: u64, slots: impl Iterator<Item = usize>, now: Timestamp) -> WatchMemory {
    let looked = |slot| CheckSchedule::new(hash, INTERVAL_MS, slot, LOCATIONS).latest(now);
    let votes = slots.enumerate().map(|(place, slot)| (place, vote(looked(slot)))).collect();
    WatchMemory {
        votes,
        status: MeasuredStatus::Up,
        status_since: Some(now.plus_ms(-86_400_000)),
        ..WatchMemory::default()
    }
}

fn vote(checked_at: Timestamp) -> LocationVote {
    LocationVote { status: CheckStatus::Up, checked_at }
}

impl Watched {
    fn begin(number: u32, now: Timestamp) -> Self {
        let plan = plan(id(number.into()).stable_hash());
        let location = |slot| {
            let own = plan.of_location(slot).expect("it is in the plan");
            WatchState::begin(own, memory(plan.hash, std::iter::once(slot), now), now).0
        };
        let locations = std::array::from_fn(location);
        let (engine, effects) = WatchState::begin(plan.clone(), memory(plan.hash, 0..LOCATIONS, now), now);
        assert_eq!(effects, [], "it goes on as before");
        Self { engine, locations, starts: [0; LOCATIONS] }
    }
}

impl Installation {
    /// All services as after a start of everything, when none is new.
    fn start(count: u32, now: Timestamp, minutes: usize) -> Self {
        let services: Vec<Watched> = (0..count).map(|number| Watched::begin(number, now)).collect();
        let seconds = minutes * 60;
        let moments = seconds * usize::try_from(1_000 / MOMENT_MS).expect("few");
        let seen = Seen {
            by_moment: vec![0; moments],
            by_partition: vec![[0; PARTITIONS as usize]; seconds],
            by_node: vec![[0; NODES]; moments],
            messages: 0,
            filling: [0; LOCATIONS],
            filled_at: now,
            judgements: 0,
        };
        Self { services, coming: BinaryHeap::new(), seen }
    }

    /// Lives until then.
    fn live(&mut self, until: Timestamp) {
        for (number, watched) in (0..).zip(&self.services) {
            let looks = watched.locations.iter().enumerate().filter_map(|(slot, watch)| {
                watch.next_wake().map(|at| Reverse((at, number, Next::Look(slot))))
            });
            self.coming.extend(looks);
            let judged_at = watched.engine.next_wake().expect("somebody has to notice a silence");
            self.coming.push(Reverse((judged_at, number, Next::Judge)));
        }
        while let Some(Reverse((now, number, next))) = self.coming.pop() {
            if now >= until {
                break;
            }
            let (at, next) = match next {
                Next::Look(slot) => self.run_check(number, slot, now),
                Next::End(slot) => {
                    let (heard_at, looks_at) = self.end(number, slot, now);
                    self.coming.push(Reverse((heard_at, number, Next::Hear(slot))));
                    (looks_at, Next::Look(slot))
                }
                Next::Hear(slot) => {
                    self.receive(number, slot, now);
                    continue;
                }
                Next::Judge => self.judge(number, now),
            };
            self.coming.push(Reverse((at, number, next)));
        }
        self.seen.send();
    }

    fn service(&mut self, number: u32) -> &mut Watched {
        &mut self.services[usize::try_from(number).expect("it has a place")]
    }

    /// A location checks; the time at which that ends.
    fn run_check(&mut self, number: u32, slot: usize, now: Timestamp) -> (Timestamp, Next) {
        let watched = self.service(number);
        let effects = watched.locations[slot].wake(now);
        let [WatchEffect::Run(attempt)] = effects[..] else { panic!("{number} at {slot}: {effects:?}") };
        assert_eq!((attempt.scheduled_at, attempt.attempt), (now, 1), "nothing is late");
        watched.starts[slot] += 1;
        self.seen.start(number, now);
        let takes_ms = 5 + i64::from(number) * 7_919 % 400;
        (now.plus_ms(takes_ms), Next::End(slot))
    }

    /// A check is over; the times at which the engine gets it and at which the location checks again.
    fn end(&mut self, number: u32, slot: usize, now: Timestamp) -> (Timestamp, Timestamp) {
        let watch = &mut self.service(number).locations[slot];
        let attempt = watch.under_way(0).expect("it looks");
        let up = CheckOutcome::Measured(measurement(CheckStatus::Up));
        let effects = watch.finish(attempt, attempt.scheduled_at, up, now);
        assert!(matches!(effects[..], [WatchEffect::Record(_)]), "{effects:?}");
        let looks_at = watch.next_wake().expect("it looks again");
        let sent_at = self.seen.fill(number, slot, now);
        (sent_at.plus_ms(ON_ITS_WAY_MS), looks_at)
    }

    fn receive(&mut self, number: u32, slot: usize, now: Timestamp) {
        self.seen.receive(number, now);
        let watched = self.service(number);
        let checked_at = watched.locations[slot].last_result_at().expect("it has looked");
        let heard = watched.engine.take_remote_result(slot, vote(checked_at), now);
        let ArrivalOutcome::Vote(effects) = heard else { panic!("{number} from {slot}: {heard:?}") };
        let is_news = |effect: &WatchEffect| !matches!(effect, WatchEffect::Opinion(_));
        assert!(!effects.iter().any(is_news), "all agree: {effects:?}");
    }

    fn judge(&mut self, number: u32, now: Timestamp) -> (Timestamp, Next) {
        self.seen.judgements += 1;
        let watch = &mut self.service(number).engine;
        assert_eq!(watch.wake(now), [], "nobody is silent");
        (watch.next_wake().expect("somebody has to notice a silence"), Next::Judge)
    }
}

impl Seen {
    fn start(&mut self, number: u32, now: Timestamp) {
        self.by_moment[span(now, MOMENT_MS)] += 1;
        self.by_partition[span(now, 1_000)][partition(number)] += 1;
    }

    /// A result waits for the next batch of its location; the time of that.
    fn fill(&mut self, number: u32, slot: usize, now: Timestamp) -> Timestamp {
        let sent_at = now.plus_ms(BATCH_MS - now.ms().rem_euclid(BATCH_MS));
        if sent_at != self.filled_at {
            self.send();
            self.filled_at = sent_at;
        }
        self.filling[slot] |= 1 << partition(number);
        sent_at
    }

    /// Each partition with results is a message.
    fn send(&mut self) {
        let filled = std::mem::take(&mut self.filling);
        self.messages += filled.into_iter().map(|partitions| u64::from(partitions.count_ones())).sum::<u64>();
    }

    fn receive(&mut self, number: u32, now: Timestamp) {
        self.by_node[span(now, MOMENT_MS)][partition(number) % NODES] += 1;
    }
}

fn span(now: Timestamp, ms: i64) -> usize {
    usize::try_from(now.ms_since(START) / ms).expect("after the start")
}

fn partition(number: u32) -> usize {
    Partition::of(number.into()).number().into()
}

/// Counts of spans of time.
struct Counts {
    mean: f64,
    p99: u32,
    most: u32,
    spans: usize,
}

impl Counts {
    fn of(counts: impl Iterator<Item = u32>) -> Self {
        let mut sorted: Vec<u32> = counts.collect();
        sorted.sort_unstable();
        let sum: u64 = sorted.iter().copied().map(u64::from).sum();
        let spans = sorted.len();
        Self {
            mean: sum as f64 / spans as f64,
            p99: sorted[spans * 99 / 100],
            most: sorted[spans - 1],
            spans,
        }
    }

    /// The highest count that chance explains. Each phase falls anywhere in the interval, with the same probability and whatever
    /// the others do, so a count is binomial, with a variance below its mean. By Bernstein's inequality, and one summand for each
    /// span, the highest of them exceeds this with a probability below one in a billion.
    fn explained(&self) -> f64 {
        let log = (self.spans as f64 * 1e9).ln();
        self.mean + log / 3.0 + (log * log / 9.0 + 2.0 * self.mean * log).sqrt()
    }

    #[track_caller]
    fn assert_even(&self, what: &str) {
        println!("{what}: {self}");
        assert!(f64::from(self.most) <= self.explained(), "{what}: {self}");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mean, p99, most, spans } = self;
        let above = (f64::from(*most) / mean - 1.0) * 100.0;
        let explained = self.explained();
        write!(
            f,
            "mean {mean:.1}, p99 {p99}, most {most} ({above:.1} % above), of {spans}; chance explains {explained:.0}"
        )
    }
}

fn by_second<const N: usize>(moments: &[[u32; N]]) -> impl Iterator<Item = u32> {
    let second = |moments: &[[u32; N]]| -> [u32; N] {
        std::array::from_fn(|place| moments.iter().map(|counts| counts[place]).sum())
    };
    moments.chunks(100).flat_map(second)
}

#[test]
fn a_million_services_start_evenly() {
    let is_full = std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1");
    let (count, minutes) = if is_full { (1_000_000, 3) } else { (20_000, 2) };
    let before = resident();
    let mut all = Installation::start(count, START.plus_ms(-1), minutes);
    // Other tests run beside the short form, so only the long one says what a service takes.
    let bytes = resident().saturating_sub(before) / u64::from(count);
    let end = START.plus_ms(INTERVAL_MS * i64::try_from(minutes).expect("few"));
    all.live(end);

    let once = [u8::try_from(minutes).expect("few"); LOCATIONS];
    let uneven = all.services.iter().filter(|watched| watched.starts != once).count();
    assert_eq!(uneven, 0, "services that were not looked at once an interval by each location");
    let seen = &all.seen;
    println!("{count} services, {minutes} minutes; {NODES} nodes");
    Counts::of(by_second(&seen.by_moment.iter().map(|count| [*count]).collect::<Vec<_>>()))
        .assert_even("starts a second");
    Counts::of(seen.by_moment.iter().copied()).assert_even("starts in 10 ms");
    Counts::of(seen.by_partition.iter().flatten().copied()).assert_even("starts a second and partition");
    // Results come in batches: none arrive in the moments between. The first second has no results of before.
    let received = &seen.by_node[100..];
    Counts::of(by_second(received)).assert_even("results heard a second and node");
    let batches = Counts::of(received.iter().flatten().copied().filter(|count| *count > 0));
    batches.assert_even("results heard at once by a node");
    let seconds = (minutes * 60) as f64;
    println!("batches a second: {:.1}", seen.messages as f64 / seconds);
    println!("judgements a second: {:.1}", seen.judgements as f64 / seconds);
    println!("a watch: {} bytes; four watches in memory: {bytes} bytes", size_of::<WatchState>());
    assert!(size_of::<WatchState>() <= MOST_BYTES, "a watch: {} bytes", size_of::<WatchState>());
}
