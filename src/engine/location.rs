//! One location on one shard: bounded concurrency, a limit per host, and the outer time limit of every check.
//!
//! Checks run as tasks on the shard's own thread. They are run by a [`Prober`]: this process's own toolbox or a remote
//! worker; the service actor cannot distinguish them. A full lane answers `queue_full`: no data, never down.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::engine::counters::{Counters, Ticket};
use crate::engine::lane::{Lane, LaneLimits, Offer, ToHost};
use crate::engine::service::{CheckFinished, ServiceActor, StillSilent};
use crate::model::check::{CheckStatus, Outcome, Trouble};
use crate::model::watch::Attempt;
pub use crate::probe::prober::Prober;
use crate::probe::spec::CheckSpec;
use crate::supervise::{Beat, Kind, Stop, Supervised};

/// A check ends by itself within its timeout; one that runs this many milliseconds longer is cancelled.
const OVERRUN_MS: u64 = 200;
/// A target whose check lasts for so long may have gone away: its service is told, before the time-out says so. That its answer
/// only has no end is not known here.
const SILENCE: Duration = Duration::from_secs(3);

/// The actor of one location on one shard. The lane outlives it: a restarted actor continues with the same lane.
pub struct LocationActor {
    lane: Arc<LocationLane>,
}

/// The state that the actor shares with its checks and with its successors.
pub struct LocationLane {
    prober: Arc<dyn Prober>,
    lane: Mutex<Lane<RunCheck>>,
}

impl std::fmt::Debug for LocationLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocationLane").field("waiting", &self.waiting()).finish()
    }
}

/// Runs one attempt; answered with `CheckFinished`.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct RunCheck {
    /// The specification of the check.
    pub spec: Arc<CheckSpec>,
    /// Checks with equal keys go to the same host.
    pub host_key: u64,
    /// The answer that the service waits for.
    pub reply: Reply,
}

impl ToHost for RunCheck {
    fn host_key(&self) -> u64 {
        self.host_key
    }
}

/// The reply that a service waits for. If it is dropped unsent, because an actor or a task died, it reports that nothing
/// was measured: otherwise the service would wait for ever.
#[derive(Debug)]
pub struct Reply {
    /// The attempt that is answered.
    attempt: Attempt,
    /// Returned in the answer, so that the service can recognise an outdated one.
    sequence: u32,
    /// The requesting service. Shared by all its checks: cloning the address itself allocates, and lets one message exceed
    /// the limit of the mailbox.
    to: Arc<Addr<ServiceActor>>,
    /// Counts the attempt; `None` once it is answered.
    ticket: Option<Ticket>,
}

impl Reply {
    /// Creates the reply to this attempt, which counts as scheduled from now on.
    pub(super) fn expected(
        attempt: Attempt,
        sequence: u32,
        to: Arc<Addr<ServiceActor>>,
        counters: &Arc<Counters>,
    ) -> Self {
        Self { attempt, sequence, to, ticket: Some(Ticket::issue(counters)) }
    }

    /// Says beforehand that the check is not over yet.
    fn say_silent(&self, started: Instant) {
        let Self { attempt, sequence, .. } = *self;
        drop(self.to.try_send(StillSilent { attempt, sequence, started }));
    }

    pub(super) fn give(mut self, started: Instant, outcome: Outcome) {
        self.finish(started, outcome);
    }

    fn finish(&mut self, started: Instant, outcome: Outcome) {
        let Some(ticket) = self.ticket.take() else { return };
        let Self { attempt, sequence, .. } = *self;
        // A deleted service does not need the answer, and the ticket counts that; a living one's mailbox has room for everything
        // that its locations can send.
        drop(self.to.try_send(CheckFinished { attempt, sequence, started, outcome, ticket }));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.finish(Instant::now(), Outcome::Unmeasured(Trouble::Panicked));
    }
}

impl LocationLane {
    /// An empty lane.
    #[must_use]
    pub fn new(prober: Arc<dyn Prober>, limits: LaneLimits) -> Self {
        Self { prober, lane: Mutex::new(Lane::new(limits)) }
    }

    /// Number of checks that wait for a slot.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    fn lock(&self) -> MutexGuard<'_, Lane<RunCheck>> {
        self.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocationActor {
    pub(super) const fn new(lane: Arc<LocationLane>) -> Self {
        Self { lane }
    }
}

impl Supervised for LocationActor {
    const KIND: Kind = Kind::restarting("location");
}

impl Actor for LocationActor {
    type Context = Context<Self>;
}

impl Handler<Beat> for LocationActor {
    type Result = ();

    fn handle(&mut self, beat: Beat, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<RunCheck> for LocationActor {
    type Result = ();

    fn handle(&mut self, check: RunCheck, _: &mut Context<Self>) {
        let offer = self.lane.lock().offer(check);
        match offer {
            Offer::Start(check) => drop(actix::spawn(run(Arc::clone(&self.lane), check))),
            Offer::Wait => {}
            Offer::Refuse(check) => {
                check.reply.give(Instant::now(), Outcome::Unmeasured(Trouble::QueueFull));
            }
        }
    }
}

/// Drops waiting checks.
impl Handler<Stop> for LocationActor {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Context<Self>) {
        let dropped = self.lane.lock().clear();
        // Outside of the lock: dropping a check notifies its service.
        drop(dropped);
        ctx.stop();
    }
}

/// Runs a check and then those that waited for its slot.
async fn run(lane: Arc<LocationLane>, check: RunCheck) {
    let mut next = Some(check);
    while let Some(check) = next {
        let host_key = check.host_key;
        let started = Instant::now();
        let silent = || check.reply.say_silent(started);
        let outcome = attempt_or_say(&*lane.prober, Arc::clone(&check.spec), silent).await;
        check.reply.give(started, outcome);
        next = lane.lock().finish(host_key);
    }
}

/// Runs one attempt. A result other than up is confirmed before it is returned.
pub async fn attempt(prober: &dyn Prober, spec: Arc<CheckSpec>) -> Outcome {
    attempt_or_say(prober, spec, || {}).await
}

/// The same; says meanwhile that it is not over yet, if it lasts long.
async fn attempt_or_say(prober: &dyn Prober, spec: Arc<CheckSpec>, silent: impl FnOnce()) -> Outcome {
    let started = Instant::now();
    let outcome = look(prober, Arc::clone(&spec), started, silent).await;
    if matches!(&outcome, Outcome::Measured(measured) if measured.status == CheckStatus::Up) {
        return outcome;
    }
    let confirmation = AssertUnwindSafe(async move { prober.confirm(spec, started, outcome).await });
    confirmation.catch_unwind().await.unwrap_or(Outcome::Unmeasured(Trouble::Panicked))
}

/// Runs one check. One that ends later than its limit was delayed by this process, whatever its result: the process was
/// stopped, or got no processor time.
async fn look(prober: &dyn Prober, spec: Arc<CheckSpec>, started: Instant, silent: impl FnOnce()) -> Outcome {
    let limit = spec.timeout + Duration::from_millis(OVERRUN_MS);
    let check = AssertUnwindSafe(async move { prober.probe(spec).await }).catch_unwind();
    let mut check = std::pin::pin!(check);
    // Two timeouts in a row and not at once: a check that is answered needs one timer only.
    let answer = match tokio::time::timeout(SILENCE.min(limit), check.as_mut()).await {
        Err(_) if SILENCE < limit => {
            silent();
            tokio::time::timeout(limit - SILENCE, check).await
        }
        answer => answer,
    };
    match answer {
        Ok(Ok(Outcome::Measured(_))) if started.elapsed() > limit => Outcome::Unmeasured(Trouble::Overrun),
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Outcome::Unmeasured(Trouble::Panicked),
        Err(_) => Outcome::Unmeasured(Trouble::Overrun),
    }
}
