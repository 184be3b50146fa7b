//! One location on one shard: bounded concurrency, politeness towards one host, and the outer limit on every check.
//!
//! Checks run as tasks on the shard's own thread. What runs them is a [`Prober`]: this process's own toolbox, or later a
//! remote worker; the service actor cannot tell which. A full lane answers `queue_full`: no data, never down.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::engine::counters::Ticket;
use crate::engine::lane::{Lane, LaneLimits, Offer, ToHost};
use crate::engine::service::{CheckFinished, ServiceActor};
use crate::model::check::{Outcome, Trouble};
use crate::model::watch::Attempt;
use crate::probe::spec::CheckSpec;

pub use crate::probe::prober::Prober;

/// A check ends by itself within its timeout; if it has not by so much later, it is cut off.
const OVERRUN_MS: u64 = 200;

/// The lane of one location on one shard.
pub struct LocationActor {
    bench: Rc<Bench>,
}

/// What the actor shares with its tasks.
struct Bench {
    prober: Arc<dyn Prober>,
    lane: RefCell<Lane<RunCheck>>,
}

/// Runs one attempt; answered with `CheckFinished`.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RunCheck {
    /// What to do.
    pub spec: Arc<CheckSpec>,
    /// Which attempt it is.
    pub attempt: Attempt,
    /// Handed back, so that the service can tell an old answer.
    pub sequence: u32,
    /// Checks with equal keys go to the same host.
    pub host_key: u64,
    /// Who asks. Shared by all its checks: a clone of the address itself is an allocation, and ignores the limit of
    /// the mailbox once.
    pub reply_to: Arc<Addr<ServiceActor>>,
    /// Counts the attempt.
    pub ticket: Ticket,
}

impl ToHost for RunCheck {
    fn host_key(&self) -> u64 {
        self.host_key
    }
}

/// How full the lane is.
#[derive(Message)]
#[rtype(result = "LaneLoad")]
pub struct Load;

/// Jobs of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, actix::MessageResponse)]
pub struct LaneLoad {
    /// Checks under way.
    pub running: usize,
    /// Checks that wait.
    pub waiting: usize,
}

/// Ends the lane; checks that wait are dropped with it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Close;

impl LocationActor {
    pub(super) fn new(prober: Arc<dyn Prober>, limits: LaneLimits) -> Self {
        Self { bench: Rc::new(Bench { prober, lane: RefCell::new(Lane::new(limits)) }) }
    }
}

impl Actor for LocationActor {
    type Context = Context<Self>;
}

impl Handler<RunCheck> for LocationActor {
    type Result = ();

    fn handle(&mut self, check: RunCheck, _: &mut Context<Self>) {
        let offer = self.bench.lane.borrow_mut().offer(check);
        match offer {
            Offer::Start(check) => drop(actix::spawn(run(Rc::clone(&self.bench), check))),
            Offer::Wait => {}
            Offer::Refuse(check) => {
                answer(check, Instant::now(), Outcome::Unmeasured(Trouble::QueueFull));
            }
        }
    }
}

impl Handler<Load> for LocationActor {
    type Result = LaneLoad;

    fn handle(&mut self, _: Load, _: &mut Context<Self>) -> LaneLoad {
        let lane = self.bench.lane.borrow();
        LaneLoad { running: lane.running(), waiting: lane.waiting() }
    }
}

impl Handler<Close> for LocationActor {
    type Result = ();

    fn handle(&mut self, _: Close, ctx: &mut Context<Self>) {
        self.bench.lane.borrow_mut().clear();
        ctx.stop();
    }
}

/// Runs a check and then those that waited for its place.
async fn run(bench: Rc<Bench>, check: RunCheck) {
    let mut next = Some(check);
    while let Some(check) = next {
        let host_key = check.host_key;
        let started = Instant::now();
        let outcome = attempt(&*bench.prober, Arc::clone(&check.spec)).await;
        answer(check, started, outcome);
        next = bench.lane.borrow_mut().finish(host_key);
    }
}

/// Runs one attempt. One that ends later than it may was held up by us, whatever it says: the process was stopped, or
/// kept from its processor.
async fn attempt(prober: &dyn Prober, spec: Arc<CheckSpec>) -> Outcome {
    let started = Instant::now();
    let limit = spec.timeout + Duration::from_millis(OVERRUN_MS);
    let check = AssertUnwindSafe(async move { prober.probe(spec).await }).catch_unwind();
    match tokio::time::timeout(limit, check).await {
        Ok(Ok(Outcome::Measured(_))) if started.elapsed() > limit => Outcome::Unmeasured(Trouble::Overrun),
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Outcome::Unmeasured(Trouble::Panicked),
        Err(_) => Outcome::Unmeasured(Trouble::Overrun),
    }
}

fn answer(check: RunCheck, started: Instant, outcome: Outcome) {
    let RunCheck { attempt, sequence, reply_to, ticket, .. } = check;
    // A service that is gone has no use for the answer, and the ticket counts that; a living one's mailbox holds more than
    // its locations can send.
    drop(reply_to.try_send(CheckFinished { attempt, sequence, started, outcome, ticket }));
}
