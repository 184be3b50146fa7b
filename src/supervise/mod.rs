//! Supervision: the one way to start an actor or a background task, of any kind.
//!
//! - A kind defines what happens when a member dies ([`SupervisedActor::KIND`]): the member starts again after
//!   a jittered back-off ([`backoff`]), or the whole process ends with exit code [`EXIT_CODE`] and one log line
//!   ([`fatal`]), so that the service manager starts it again.
//! - An actor dies by a panic, or by freezing: one that has had its turn and has not answered for [`FROZEN_AFTER`] seconds
//!   is replaced (`sweep`). A thread that has run nothing for as long ends the process ([`watchdog`]). Only seconds in which
//!   this process ran are counted: after a stop of the whole process no actor counts as frozen. An actor or a thread that has
//!   too much to do is not frozen.
//! - At most ten services start again in a second, and ten other actors and tasks (`restart_pace`); a process whose restarts
//!   have to wait says so.
//! - Other code holds an [`ActorHandle`] to an actor, which always reaches the current life. Messages sent
//!   while the actor waits for its restart wait with it.
//! - [`ActorKindState`] is the state of each kind.
//!
//! `actix::Supervisor` does not restart after a panic, so this is our own. Nothing is global: a [`Supervisor`] belongs to
//! one app.

pub mod backoff;
mod exit;
pub mod fatal;
mod fault;
mod handle;
mod injection;
mod kind;
mod life;
mod lock;
mod restart_pace;
pub mod running_tasks;
mod supervised_actor;
mod sweep;
mod task;
mod thread_progress;
pub mod watchdog;
mod watched_thread;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use actix::dev::channel::AddressReceiver;
use actix::{Addr, ArbiterHandle};
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use crate::supervise::exit::{ActorExit, FROZEN_AFTER};
pub use crate::supervise::fatal::EXIT_CODE;
pub use crate::supervise::fault::InjectedFault;
pub use crate::supervise::handle::ActorHandle;
pub use crate::supervise::kind::{ActorKind, ActorKindCounters, ActorKindState, OnDeath};
pub use crate::supervise::life::{ActorLife, LivenessQuery, StopActor};
pub use crate::supervise::supervised_actor::SupervisedActor;

use crate::supervise::backoff::Backoff;
use crate::supervise::fatal::FatalSignal;
use crate::supervise::handle::{ActorSlot, mailbox};
use crate::supervise::life::LifeFuture;
use crate::supervise::lock::lock;
use crate::supervise::restart_pace::RestartPace;
use crate::supervise::sweep::MonitoredActor;
use crate::supervise::watched_thread::WatchedThread;
use crate::telemetry::{Exposition, MetricCollector, MetricFamily};

/// Starts actors and tasks, keeps them alive, and knows their state. Cheap to clone.
#[derive(Clone, Default)]
pub struct Supervisor(Arc<SupervisorInner>);

#[derive(Default)]
struct SupervisorInner {
    kinds: Mutex<BTreeMap<&'static str, Arc<ActorKindCounters>>>,
    members: Mutex<Vec<Weak<dyn MonitoredActor>>>,
    threads: Mutex<Vec<WatchedThread>>,
    fatal: FatalSignal,
    /// The pace of actors that their owners start again, such as services.
    launch_pace: Mutex<RestartPace>,
    /// The pace of all other actors and of tasks, which must not wait for services.
    pace: Mutex<RestartPace>,
    /// Seconds in which this process ran.
    tick: AtomicU32,
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").field("states", &self.states()).finish()
    }
}

/// The placement of an actor: its thread, and the size of its mailbox.
#[derive(Clone, Debug)]
pub struct ActorPlacement {
    /// The thread that runs the actor.
    pub thread: ArbiterHandle,
    /// Number of messages in the actor's mailbox before `try_send` is refused.
    pub mailbox: usize,
}

impl Supervisor {
    /// Starts an actor and keeps it alive: `make` creates the actor for each life, with the state to continue.
    pub fn start<A: SupervisedActor>(
        &self,
        placement: &ActorPlacement,
        mut make: impl FnMut() -> A + Send + 'static,
    ) -> ActorHandle<A> {
        self.start_with(placement, move || Some(make()))
    }

    /// Starts an actor whose death ends the process.
    pub fn start_once<A: SupervisedActor + Send>(
        &self,
        placement: &ActorPlacement,
        actor: A,
    ) -> ActorHandle<A> {
        debug_assert_eq!(A::KIND.on_death, OnDeath::EndProcess, "there is only one of it");
        let mut once = Some(actor);
        self.start_with(placement, move || once.take())
    }

    fn start_with<A: SupervisedActor>(
        &self,
        placement: &ActorPlacement,
        make: impl FnMut() -> Option<A> + Send + 'static,
    ) -> ActorHandle<A> {
        let state = self.kind(A::KIND);
        let (address, receiver) = mailbox(placement.mailbox);
        let slot = Arc::new(ActorSlot::new(address, placement.mailbox, state));
        let member: Arc<dyn MonitoredActor> = Arc::clone(&slot) as Arc<dyn MonitoredActor>;
        lock(&self.0.members).push(Arc::downgrade(&member));
        let (supervisor, shared) = (self.clone(), Arc::clone(&slot));
        let is_sent = placement.thread.spawn_fn(move || {
            drop(actix::spawn(supervisor.run_lives(shared, receiver, make)));
        });
        if !is_sent {
            tracing::error!(actor = A::KIND.name, "cannot start the actor: its thread has ended");
        }
        ActorHandle::new(slot)
    }

    /// Runs one life after the other, until one ends by itself or the process has to end.
    async fn run_lives<A: SupervisedActor>(
        self,
        slot: Arc<ActorSlot<A>>,
        mut receiver: AddressReceiver<A>,
        mut make: impl FnMut() -> Option<A> + 'static,
    ) {
        let mut backoff = Backoff::default();
        loop {
            let (ended, ending) = oneshot::channel();
            let report_end = move |ending| drop(ended.send(ending));
            match life::catch_panic(&mut make) {
                Ok(None) => return,
                Ok(Some(actor)) => {
                    let lifetime = LifeFuture::new(actor, receiver, slot.life(), slot.state(), report_end);
                    drop(actix::spawn(lifetime));
                }
                Err(problem) => report_end(ActorExit::Panicked(problem)),
            }
            // The thread ends, and its actors with it.
            let Ok(ending) = ending.await else { return };
            if !self.note_death(A::KIND, &ending) {
                return;
            }
            // From now on messages wait for the next life.
            receiver = slot.renew();
            tokio::time::sleep(backoff.next_wait()).await;
            tokio::time::sleep(self.restart_wait()).await;
            slot.state().note_restart();
        }
    }

    /// Starts one life of an actor that is restarted by its owner, such as a service by the fleet. `ended` is
    /// called when the life is over. `make` gets the address to share, as a clone of its own would cost two allocations, and the
    /// state of the life.
    pub fn launch<A: SupervisedActor + Send>(
        &self,
        placement: &ActorPlacement,
        make: impl FnOnce(&Arc<Addr<A>>, &Arc<ActorLife>) -> A,
        ended: impl FnOnce(ActorExit) + Unpin + Send + 'static,
    ) -> (Arc<Addr<A>>, Arc<ActorLife>) {
        let state = self.kind(A::KIND);
        let (address, receiver) = mailbox(placement.mailbox);
        let address = Arc::new(address);
        let life = Arc::new(ActorLife::default());
        let actor = make(&address, &life);
        let lived = Arc::clone(&life);
        let is_sent = placement.thread.spawn_fn(move || {
            drop(actix::spawn(LifeFuture::new(actor, receiver, lived, state, ended)));
        });
        if !is_sent {
            tracing::error!(actor = A::KIND.name, "cannot start the actor: its thread has ended");
        }
        (address, life)
    }

    /// Returns the wait before a restart by [`Supervisor::launch`] that is due now, and counts the restart: at most ten a
    /// second start again.
    pub fn launch_wait(&self) -> Duration {
        lock(&self.0.launch_pace).next_wait(Instant::now())
    }

    /// The same for other actors and for tasks.
    fn restart_wait(&self) -> Duration {
        lock(&self.0.pace).next_wait(Instant::now())
    }

    /// Returns how long a restart that is due now has to wait, if more actors and tasks die than may start again.
    #[must_use]
    pub fn restart_overload(&self) -> Option<Duration> {
        let now = Instant::now();
        let overload = |pace: &Mutex<RestartPace>| lock(pace).overload(now);
        overload(&self.0.launch_pace).max(overload(&self.0.pace))
    }

    /// Counts the end of a life that did not stop by itself; returns the error.
    pub fn count_death(&self, kind: ActorKind, ending: &ActorExit) -> String {
        let problem = ending.to_string();
        self.kind(kind).note_death(ending, &problem);
        problem
    }

    /// Counts and logs the end of a life; returns true if another one has to follow.
    fn note_death(&self, kind: ActorKind, ending: &ActorExit) -> bool {
        if *ending == ActorExit::Stopped {
            return false;
        }
        let problem = self.count_death(kind, ending);
        match kind.on_death {
            OnDeath::Restart => {
                tracing::error!(actor = kind.name, error = problem, "actor died; restarting it");
                true
            }
            OnDeath::EndProcess => {
                self.fail(&format!("{} died: {problem}", kind.name));
                false
            }
        }
    }

    /// Returns the state of a kind; created at the first call.
    #[must_use]
    pub fn kind(&self, kind: ActorKind) -> Arc<ActorKindCounters> {
        let mut kinds = lock(&self.0.kinds);
        Arc::clone(kinds.entry(kind.name).or_insert_with(|| Arc::new(ActorKindCounters::new(kind))))
    }

    /// Returns the state of every kind, by name.
    #[must_use]
    pub fn states(&self) -> Vec<ActorKindState> {
        lock(&self.0.kinds).values().map(|kind| kind.state()).collect()
    }

    /// Reports that the process cannot continue: it ends with [`EXIT_CODE`]. Only the first reason is reported.
    pub fn fail(&self, reason: &str) {
        self.0.fatal.set(reason);
    }

    /// Returns the reason why the process has to end, if it has to.
    #[must_use]
    pub fn failure(&self) -> Option<Arc<str>> {
        self.0.fatal.get()
    }

    /// Waits until the process has to end; returns the reason.
    pub async fn failed(&self) -> Arc<str> {
        self.0.fatal.wait().await
    }

    /// Counts a second in which this process ran: asks members that are due, abandons frozen ones.
    pub fn tick(&self) {
        let tick = self.0.tick.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut members = lock(&self.0.members);
        members.retain(|member| Weak::strong_count(member) > 0);
        let present: Vec<_> = members.iter().filter_map(Weak::upgrade).collect();
        drop(members);
        for member in present {
            member.check_liveness(tick);
        }
    }

    /// Seconds in which this process ran.
    pub(crate) fn now(&self) -> u32 {
        self.0.tick.load(Ordering::Relaxed)
    }
}

impl MetricCollector for Supervisor {
    fn collect(&self, out: &mut Exposition) {
        let states = self.states();
        let count = |family: &mut MetricFamily<'_>, value: fn(&ActorKindState) -> u64| {
            for state in &states {
                family.labelled(&[("kind", state.name)], value(state));
            }
        };
        count(&mut out.gauge("actors", "Actors and background tasks that run."), |state| state.alive);
        count(&mut out.counter("actor_restarts_total", "Actors and tasks started again."), |state| {
            state.restarts
        });
        count(&mut out.counter("actor_panics_total", "Actors and tasks that panicked."), |state| {
            state.panics
        });
        count(
            &mut out.counter("actors_frozen_total", "Actors replaced because they did not answer."),
            |state| state.frozen,
        );
        let mut waiting =
            out.gauge("actor_queue", "What waits for the actors of a kind, where that is known.");
        for state in &states {
            if let Some(count) = state.waiting {
                waiting.labelled(&[("kind", state.name)], count);
            }
        }
    }
}
