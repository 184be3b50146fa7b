//! One location on one shard: bounded concurrency, a limit per host, and the outer time limit of every check.
//!
//! Checks run as tasks on the shard's own thread, through a [`Prober`]. A full check queue answers
//! `queue_full`: no data, never down.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix::{Actor, ActorContext, Context, Handler, Message};
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::engine::check_queue::{CheckQueue, CheckQueueLimits, HostJob, OfferOutcome};
use crate::engine::counters::{AttemptTicket, EngineCounters};
use crate::engine::messages::{CheckFinished, CheckListener, SilentAttempt};
use crate::model::check::{CheckOutcome, CheckStatus, LocalFault};
use crate::model::watch::CheckAttempt;
pub use crate::probe::prober::Prober;
use crate::probe::spec::CheckSpec;
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};

/// A check ends by itself within its timeout; one that runs this many milliseconds longer is cancelled.
const OVERRUN_MS: u64 = 200;
/// A check that lasts this long may be of a dead target, so its service is notified before the time-out. A
/// response that does not end is treated in the same way.
const SILENCE: Duration = Duration::from_secs(3);

/// The actor of one location on one shard. The check queue outlives it: a restarted actor continues with the same one.
pub struct LocationActor {
    queue: Arc<LocationQueue>,
}

/// The state that the actor shares with its checks and with its successors.
pub struct LocationQueue {
    prober: Arc<dyn Prober>,
    queue: Mutex<CheckQueue<RunCheck>>,
}

impl std::fmt::Debug for LocationQueue {
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
    pub reply: CheckReply,
}

impl HostJob for RunCheck {
    fn host_key(&self) -> u64 {
        self.host_key
    }
}

/// The reply that a service waits for. If it is dropped unsent, because an actor or a task died, it reports
/// that nothing was measured: otherwise the service would wait forever.
#[derive(Debug)]
pub struct CheckReply {
    /// The attempt that is answered.
    attempt: CheckAttempt,
    /// Returned in the answer, so that the service can recognise an outdated one.
    sequence: u32,
    /// The requesting service. Shared by all its checks: cloning its address allocates, and lets one message exceed
    /// the limit of the mailbox.
    to: Arc<dyn CheckListener>,
    /// Counts the attempt; `None` once it is answered.
    ticket: Option<AttemptTicket>,
}

impl CheckReply {
    /// Creates the reply to this attempt, which counts as scheduled from now on.
    pub(super) fn expected(
        attempt: CheckAttempt,
        sequence: u32,
        to: Arc<dyn CheckListener>,
        counters: &Arc<EngineCounters>,
    ) -> Self {
        Self { attempt, sequence, to, ticket: Some(AttemptTicket::issue(counters)) }
    }

    /// Reports to the service that the check is still running.
    fn report_silence(&self, started: Instant) {
        let Self { attempt, sequence, .. } = *self;
        self.to.silent(SilentAttempt { attempt, sequence, started });
    }

    pub(super) fn send(mut self, started: Instant, outcome: CheckOutcome) {
        self.finish(started, outcome);
    }

    fn finish(&mut self, started: Instant, outcome: CheckOutcome) {
        let Some(ticket) = self.ticket.take() else { return };
        let Self { attempt, sequence, .. } = *self;
        self.to.finished(CheckFinished { attempt, sequence, started, outcome, ticket });
    }
}

impl Drop for CheckReply {
    fn drop(&mut self) {
        self.finish(Instant::now(), CheckOutcome::Unmeasured(LocalFault::Panicked));
    }
}

impl LocationQueue {
    /// Creates an empty queue for this location.
    #[must_use]
    pub fn new(prober: Arc<dyn Prober>, limits: CheckQueueLimits) -> Self {
        Self { prober, queue: Mutex::new(CheckQueue::new(limits)) }
    }

    /// Number of checks that wait for a slot.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    fn lock(&self) -> MutexGuard<'_, CheckQueue<RunCheck>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocationActor {
    pub(super) const fn new(queue: Arc<LocationQueue>) -> Self {
        Self { queue }
    }
}

impl SupervisedActor for LocationActor {
    const KIND: ActorKind = ActorKind::restarting("location");
}

impl Actor for LocationActor {
    type Context = Context<Self>;
}

impl Handler<LivenessQuery> for LocationActor {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<RunCheck> for LocationActor {
    type Result = ();

    fn handle(&mut self, check: RunCheck, _: &mut Context<Self>) {
        let offer = self.queue.lock().offer(check);
        match offer {
            OfferOutcome::Start(check) => drop(actix::spawn(run(Arc::clone(&self.queue), check))),
            OfferOutcome::Wait => {}
            OfferOutcome::Refuse(check) => {
                check.reply.send(Instant::now(), CheckOutcome::Unmeasured(LocalFault::QueueFull));
            }
        }
    }
}

/// Drops waiting checks.
impl Handler<StopActor> for LocationActor {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) {
        let dropped = self.queue.lock().clear();
        // Outside of the lock: dropping a check notifies its service.
        drop(dropped);
        ctx.stop();
    }
}

/// Runs a check and then those that waited for its slot.
async fn run(queue: Arc<LocationQueue>, check: RunCheck) {
    let mut next = Some(check);
    while let Some(check) = next {
        let host_key = check.host_key;
        let started = Instant::now();
        let silent = || check.reply.report_silence(started);
        let outcome = attempt_reporting_silence(&*queue.prober, Arc::clone(&check.spec), silent).await;
        check.reply.send(started, outcome);
        next = queue.lock().finish(host_key);
    }
}

/// Runs one attempt. A result other than up is confirmed before it is returned.
pub async fn attempt(prober: &dyn Prober, spec: Arc<CheckSpec>) -> CheckOutcome {
    attempt_reporting_silence(prober, spec, || {}).await
}

/// Runs one attempt like [`attempt`], and calls `silent` if it lasts longer than [`SILENCE`].
async fn attempt_reporting_silence(
    prober: &dyn Prober,
    spec: Arc<CheckSpec>,
    silent: impl FnOnce(),
) -> CheckOutcome {
    let started = Instant::now();
    let outcome = run_probe(prober, Arc::clone(&spec), started, silent).await;
    if matches!(&outcome, CheckOutcome::Measured(measured) if measured.status == CheckStatus::Up) {
        return outcome;
    }
    let confirmation = AssertUnwindSafe(async move { prober.confirm(spec, started, outcome).await });
    confirmation.catch_unwind().await.unwrap_or(CheckOutcome::Unmeasured(LocalFault::Panicked))
}

/// Runs one check. One that ends later than its limit was delayed by this process, whatever its result: the process was
/// stopped, or got no processor time.
async fn run_probe(
    prober: &dyn Prober,
    spec: Arc<CheckSpec>,
    started: Instant,
    silent: impl FnOnce(),
) -> CheckOutcome {
    let limit = spec.timeout + Duration::from_millis(OVERRUN_MS);
    let check = AssertUnwindSafe(async move { prober.probe(spec).await }).catch_unwind();
    let mut check = std::pin::pin!(check);
    // Two timeouts in a row and not at once: a check that is answered in time needs one timer only.
    let answer = match tokio::time::timeout(SILENCE.min(limit), check.as_mut()).await {
        Err(_) if SILENCE < limit => {
            silent();
            tokio::time::timeout(limit - SILENCE, check).await
        }
        answer => answer,
    };
    match answer {
        Ok(Ok(CheckOutcome::Measured(_))) if started.elapsed() > limit => {
            CheckOutcome::Unmeasured(LocalFault::Overrun)
        }
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => CheckOutcome::Unmeasured(LocalFault::Panicked),
        Err(_) => CheckOutcome::Unmeasured(LocalFault::Overrun),
    }
}
