//! A kind of actors or tasks: its name, the effect of a death, and the state of its members.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::supervise::exit::ActorExit;
use crate::supervise::fault::InjectedFault;
use crate::supervise::lock::lock;

/// The maximum length of a stored error, in characters.
const PROBLEM_CHARACTERS: usize = 500;

/// The effect of the death of an actor or a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDeath {
    /// The actor or task starts again, with the state to continue.
    Restart,
    /// The process ends: continuing would lose acknowledged data.
    EndProcess,
}

impl OnDeath {
    /// Returns the name in the API and the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::EndProcess => "end_process",
        }
    }
}

/// A kind of actors or tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActorKind {
    /// Name of the kind: lower case, with underscores.
    pub name: &'static str,
    /// The effect of the death of a member.
    pub on_death: OnDeath,
}

impl ActorKind {
    /// Creates a kind whose members start again.
    #[must_use]
    pub const fn restarting(name: &'static str) -> Self {
        Self { name, on_death: OnDeath::Restart }
    }

    /// Creates a kind without which the process cannot continue.
    #[must_use]
    pub const fn vital(name: &'static str) -> Self {
        Self { name, on_death: OnDeath::EndProcess }
    }
}

/// The state of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorKindState {
    /// Name of the kind.
    pub name: &'static str,
    /// The effect of the death of a member.
    pub on_death: OnDeath,
    /// The number of members that run now.
    pub alive: u64,
    /// The number of times that a member was started again.
    pub restarts: u64,
    /// The number of times that a member panicked.
    pub panics: u64,
    /// The number of times that a member was given up because it did not answer.
    pub frozen: u64,
    /// Total length of the queues of the members; `None` if no queue is watched.
    pub waiting: Option<u64>,
    /// The message of the last panic or other failure.
    pub last_error: Option<String>,
}

/// Returns the length of a member's queue.
type Queue = Box<dyn Fn() -> u64 + Send + Sync>;

/// The counts behind an [`ActorKindState`].
pub struct ActorKindCounters {
    kind: ActorKind,
    alive: AtomicU64,
    restarts: AtomicU64,
    panics: AtomicU64,
    frozen: AtomicU64,
    queues: Mutex<Vec<Queue>>,
    last_error: Mutex<Option<String>>,
    fault: AtomicU8,
    /// The present tick of the sweep that asks the members whether they are alive.
    tick: AtomicU32,
}

impl ActorKindCounters {
    pub(super) fn new(kind: ActorKind) -> Self {
        Self {
            kind,
            alive: AtomicU64::default(),
            restarts: AtomicU64::default(),
            panics: AtomicU64::default(),
            frozen: AtomicU64::default(),
            queues: Mutex::default(),
            last_error: Mutex::default(),
            fault: AtomicU8::default(),
            tick: AtomicU32::default(),
        }
    }

    /// Returns the current state of the kind.
    #[must_use]
    pub fn state(&self) -> ActorKindState {
        let queues = lock(&self.queues);
        let waiting = (!queues.is_empty()).then(|| queues.iter().map(|queue| queue()).sum());
        ActorKindState {
            name: self.kind.name,
            on_death: self.kind.on_death,
            alive: self.alive.load(Ordering::Relaxed),
            restarts: self.restarts.load(Ordering::Relaxed),
            panics: self.panics.load(Ordering::Relaxed),
            frozen: self.frozen.load(Ordering::Relaxed),
            waiting,
            last_error: lock(&self.last_error).clone(),
        }
    }

    /// Adds a queue to the sum in [`ActorKindState::waiting`].
    pub fn watch_queue(&self, queue: impl Fn() -> u64 + Send + Sync + 'static) {
        lock(&self.queues).push(Box::new(queue));
    }

    /// Requests a fault of the next member that is asked whether it is alive.
    pub(super) fn inject(&self, fault: InjectedFault) {
        self.fault.store(fault as u8, Ordering::Release);
    }

    pub(crate) fn take_fault(&self) -> Option<InjectedFault> {
        if self.fault.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let injected = self.fault.swap(0, Ordering::AcqRel);
        InjectedFault::from_code(injected)
    }

    /// The present tick of the sweep that asks the members whether they are alive.
    pub(super) fn tick(&self) -> u32 {
        self.tick.load(Ordering::Relaxed)
    }

    pub(crate) fn set_tick(&self, tick: u32) {
        self.tick.store(tick, Ordering::Relaxed);
    }

    pub(super) fn note_birth(&self) {
        self.alive.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_end(&self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn note_restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_death(&self, ending: &ActorExit, problem: &str) {
        let count = if *ending == ActorExit::Frozen { &self.frozen } else { &self.panics };
        count.fetch_add(1, Ordering::Relaxed);
        *lock(&self.last_error) = Some(problem.chars().take(PROBLEM_CHARACTERS).collect());
    }
}
