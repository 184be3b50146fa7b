//! The runner of checks for a location: this process's own toolbox, or later a worker in another place.
//!
//! The engine knows the trait alone. [`Local`] is the one that really looks, and that knows whether its own thread ran
//! while it looked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

use crate::model::check::{CheckStatus, Outcome, Trouble};
use crate::probe::spec::CheckSpec;
use crate::probe::stalls::Stalls;
use crate::probe::toolbox::Toolbox;

/// Stalls that add up to this part of a check's timeout explain its failure.
const STALLED_PART: u32 = 4;
/// Shorter stalls explain nothing.
const STALLED_MIN: Duration = Duration::from_millis(200);

/// The runner of single attempts.
pub trait Prober: Send + Sync + 'static {
    /// Runs it once. Never fails: see [`Outcome`].
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, Outcome>;
}

/// Runs checks in this process, on the thread that asks.
#[derive(Debug)]
pub struct Local(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    toolbox: Toolbox,
    stalls: Mutex<HashMap<Id, Arc<Stalls>>>,
}

impl Local {
    /// Checks with these tools.
    #[must_use]
    pub fn new(toolbox: Toolbox) -> Self {
        Self(Arc::new(Shared { toolbox, stalls: Mutex::default() }))
    }
}

impl Prober for Local {
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, Outcome> {
        let shared = Arc::clone(&self.0);
        async move { shared.probe(&spec).await }.boxed_local()
    }
}

impl Shared {
    async fn probe(&self, spec: &CheckSpec) -> Outcome {
        let stalls = self.stalls();
        let start = Instant::now();
        let outcome = crate::probe::run(spec, &self.toolbox).await;
        let is_good = matches!(&outcome, Outcome::Measured(measured) if measured.status == CheckStatus::Up);
        let explains = STALLED_MIN.max(spec.timeout / STALLED_PART);
        if is_good || stalls.since(start) < explains {
            return outcome;
        }
        Outcome::Unmeasured(Trouble::Overrun)
    }

    /// The stalls of the current runtime, which are watched from its first check on.
    fn stalls(&self) -> Arc<Stalls> {
        let runtime = Handle::current().id();
        let mut watched = self.stalls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stalls) = watched.get(&runtime) {
            return Arc::clone(stalls);
        }
        // Runtimes that are gone have left theirs behind.
        watched.retain(|_, stalls| !stalls.is_over());
        let stalls = Arc::new(Stalls::watch());
        watched.insert(runtime, Arc::clone(&stalls));
        stalls
    }
}
