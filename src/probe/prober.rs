//! Runs the checks of a location.
//!
//! The engine uses the trait `Prober` only. [`LocalProber`] runs checks in this process, and detects whether
//! its own thread ran and its own network worked during a check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{FutureExt as _, LocalBoxFuture, ready};
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

use crate::model::check::{CheckOutcome, CheckStatus, LocalFault};
use crate::probe::local_target::is_here;
use crate::probe::references::ImpairmentMonitor;
use crate::probe::spec::CheckSpec;
use crate::probe::stalls::StallMonitor;
use crate::probe::toolbox::Toolbox;

/// Stalls explain a failed check if together they last at least this part (1/4) of its timeout.
const STALLED_PART: u32 = 4;
/// Stalls that are shorter in total never explain a failed check.
const STALLED_MIN: Duration = Duration::from_millis(200);

/// The runner of single attempts. It is called on a thread that runs a `LocalSet`, such as that of an actor.
pub trait Prober: Send + Sync + 'static {
    /// Runs a check once. Never fails: see [`CheckOutcome`].
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome>;

    /// Returns the confirmed outcome of an attempt that started at `started` and was not up. May check other targets before
    /// it answers, for some seconds at most.
    fn confirm(
        &self,
        _spec: Arc<CheckSpec>,
        _started: Instant,
        outcome: CheckOutcome,
    ) -> LocalBoxFuture<'static, CheckOutcome> {
        ready(outcome).boxed_local()
    }

    /// Returns true if the location has lost its own network.
    fn is_impaired(&self) -> bool {
        false
    }

    /// Returns the time at which the location's network returned, if it was ever lost.
    fn recovered(&self) -> Option<Instant> {
        None
    }
}

/// Runs checks in this process, on the calling thread, which runs a `LocalSet`.
#[derive(Debug)]
pub struct LocalProber(Arc<ProberState>);

#[derive(Debug)]
struct ProberState {
    toolbox: Arc<Toolbox>,
    references: Option<Arc<ImpairmentMonitor>>,
    stalls: Mutex<HashMap<Id, Arc<StallMonitor>>>,
}

impl LocalProber {
    /// Creates a prober with these tools but without reference targets, which accepts every failure.
    #[must_use]
    pub fn new(toolbox: Toolbox) -> Self {
        Self(Arc::new(ProberState { toolbox: Arc::new(toolbox), references: None, stalls: Mutex::default() }))
    }

    /// Creates a prober with these tools. Failures count as not measured while no reference target answers.
    #[must_use]
    pub fn with_monitor(references: Arc<ImpairmentMonitor>, toolbox: Arc<Toolbox>) -> Self {
        Self(Arc::new(ProberState { toolbox, references: Some(references), stalls: Mutex::default() }))
    }
}

impl Prober for LocalProber {
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome> {
        let shared = Arc::clone(&self.0);
        async move { shared.probe(&spec).await }.boxed_local()
    }

    fn confirm(
        &self,
        spec: Arc<CheckSpec>,
        started: Instant,
        outcome: CheckOutcome,
    ) -> LocalBoxFuture<'static, CheckOutcome> {
        let shared = Arc::clone(&self.0);
        async move { shared.confirm(&spec, started, outcome).await }.boxed_local()
    }

    fn is_impaired(&self) -> bool {
        self.0.references.as_ref().is_some_and(|references| references.is_impaired())
    }

    fn recovered(&self) -> Option<Instant> {
        self.0.references.as_ref()?.recovered()
    }
}

impl ProberState {
    async fn probe(&self, spec: &CheckSpec) -> CheckOutcome {
        let stalls = self.stalls();
        let start = Instant::now();
        let outcome = crate::probe::run(spec, &self.toolbox).await;
        // An attempt without a measurement carries its own reason.
        let CheckOutcome::Measured(measured) = &outcome else { return outcome };
        if measured.status == CheckStatus::Up {
            self.note_up(spec);
        } else if is_explained(spec.timeout, stalls.since(start)) {
            return CheckOutcome::Unmeasured(LocalFault::Overrun);
        }
        outcome
    }

    /// Reports a successful check to the impairment monitor. While the location is not impaired, this only
    /// reads a flag.
    fn note_up(&self, spec: &CheckSpec) {
        let impaired = self.references.as_ref().filter(|references| references.is_impaired());
        if let Some(references) = impaired.filter(|_| !is_here(spec, self.toolbox.resolver())) {
            references.note_up();
        }
    }

    async fn confirm(&self, spec: &CheckSpec, started: Instant, outcome: CheckOutcome) -> CheckOutcome {
        match &self.references {
            Some(references) if !is_here(spec, self.toolbox.resolver()) => {
                references.confirm(started, outcome).await
            }
            _ => outcome,
        }
    }

    /// Returns the stall monitor of this thread's local tasks, created at the thread's first check. A runtime
    /// has one `LocalSet`.
    fn stalls(&self) -> Arc<StallMonitor> {
        let runtime = Handle::current().id();
        let mut watched = self.stalls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stalls) = watched.get(&runtime).filter(|stalls| !stalls.is_over()) {
            return Arc::clone(stalls);
        }
        // Remove the stalls of runtimes that have ended.
        watched.retain(|_, stalls| !stalls.is_over());
        let stalls = Arc::new(StallMonitor::watch());
        watched.insert(runtime, Arc::clone(&stalls));
        stalls
    }
}

/// Returns true if stalls of this thread, `stalled` in total, explain a failed check.
fn is_explained(timeout: Duration, stalled: Duration) -> bool {
    stalled >= STALLED_MIN.max(timeout / STALLED_PART)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::never(2_000, 0, false)]
    #[case::for_a_quarter(2_000, 500, true)]
    #[case::for_less(2_000, 499, false)]
    #[case::shortly_in_a_short_check(400, 199, false)]
    #[case::in_a_short_check(400, 200, true)]
    fn a_stall_explains_a_failure(#[case] timeout_ms: u64, #[case] stalled_ms: u64, #[case] expected: bool) {
        let [timeout, stalled] = [timeout_ms, stalled_ms].map(Duration::from_millis);
        assert_eq!(is_explained(timeout, stalled), expected);
    }
}
