//! The runner of checks for a location: this process's own toolbox, or later a worker in another place.
//!
//! The engine knows the trait alone. [`Local`] is the one that really looks, and that knows whether its own thread ran
//! and its own network worked while it looked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{FutureExt as _, LocalBoxFuture, ready};
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

use crate::model::check::{CheckStatus, Outcome, Trouble};
use crate::probe::here::is_here;
use crate::probe::references::References;
use crate::probe::spec::CheckSpec;
use crate::probe::stalls::Stalls;
use crate::probe::toolbox::Toolbox;

/// Stalls that add up to this part of a check's timeout explain its failure.
const STALLED_PART: u32 = 4;
/// Shorter stalls explain nothing.
const STALLED_MIN: Duration = Duration::from_millis(200);

/// The runner of single attempts. It is called on a thread that runs a `LocalSet`, such as that of an actor.
pub trait Prober: Send + Sync + 'static {
    /// Runs it once. Never fails: see [`Outcome`].
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, Outcome>;

    /// Returns what is to be believed of an attempt that started at `started` and was not up. May look at something else
    /// before it answers, for some seconds at most.
    fn confirm(
        &self,
        _spec: Arc<CheckSpec>,
        _started: Instant,
        outcome: Outcome,
    ) -> LocalBoxFuture<'static, Outcome> {
        ready(outcome).boxed_local()
    }

    /// Returns true if the location has lost its own network.
    fn is_impaired(&self) -> bool {
        false
    }

    /// Returns when it had its network back, if it has ever lost it.
    fn recovered(&self) -> Option<Instant> {
        None
    }
}

/// Runs checks in this process, on the thread that asks, which runs a `LocalSet`.
#[derive(Debug)]
pub struct Local(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    toolbox: Arc<Toolbox>,
    references: Option<Arc<References>>,
    stalls: Mutex<HashMap<Id, Arc<Stalls>>>,
}

impl Local {
    /// Checks with these tools. Every failure is believed.
    #[must_use]
    pub fn new(toolbox: Toolbox) -> Self {
        Self(Arc::new(Shared { toolbox: Arc::new(toolbox), references: None, stalls: Mutex::default() }))
    }

    /// Checks with these tools. What fails while none of the references answers is not measured.
    #[must_use]
    pub fn beside(references: Arc<References>, toolbox: Arc<Toolbox>) -> Self {
        Self(Arc::new(Shared { toolbox, references: Some(references), stalls: Mutex::default() }))
    }
}

impl Prober for Local {
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, Outcome> {
        let shared = Arc::clone(&self.0);
        async move { shared.probe(&spec).await }.boxed_local()
    }

    fn confirm(
        &self,
        spec: Arc<CheckSpec>,
        started: Instant,
        outcome: Outcome,
    ) -> LocalBoxFuture<'static, Outcome> {
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

impl Shared {
    async fn probe(&self, spec: &CheckSpec) -> Outcome {
        let stalls = self.stalls();
        let start = Instant::now();
        let outcome = crate::probe::run(spec, &self.toolbox).await;
        // What could not be measured says its own reason.
        let Outcome::Measured(measured) = &outcome else { return outcome };
        if measured.status == CheckStatus::Up {
            self.note_up(spec);
        } else if is_explained(spec.timeout, stalls.since(start)) {
            return Outcome::Unmeasured(Trouble::Overrun);
        }
        outcome
    }

    /// Of a location that is well this is one look at a flag.
    fn note_up(&self, spec: &CheckSpec) {
        let impaired = self.references.as_ref().filter(|references| references.is_impaired());
        if let Some(references) = impaired.filter(|_| !is_here(spec, self.toolbox.resolver())) {
            references.note_up();
        }
    }

    async fn confirm(&self, spec: &CheckSpec, started: Instant, outcome: Outcome) -> Outcome {
        match &self.references {
            Some(references) if !is_here(spec, self.toolbox.resolver()) => {
                references.confirm(started, outcome).await
            }
            _ => outcome,
        }
    }

    /// The stalls of this thread's local tasks, which are watched from the first check on. A runtime has one `LocalSet`.
    fn stalls(&self) -> Arc<Stalls> {
        let runtime = Handle::current().id();
        let mut watched = self.stalls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stalls) = watched.get(&runtime).filter(|stalls| !stalls.is_over()) {
            return Arc::clone(stalls);
        }
        // Runtimes that are gone have left theirs behind.
        watched.retain(|_, stalls| !stalls.is_over());
        let stalls = Arc::new(Stalls::watch());
        watched.insert(runtime, Arc::clone(&stalls));
        stalls
    }
}

/// Returns true if our own thread explains why a check failed: it stood still for a good part of the timeout.
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
