//! Notices about events other than incidents: the current troubles are compared repeatedly with the open notices; missing
//! notices are opened, obsolete ones are closed.
//!
//! - `budgets`: error budgets that burn too fast
//! - `services`: certificates near their expiry, missed heartbeats
//! - `unjudged_heartbeats`: heartbeats whose pings could not be judged
//! - `locations`: locations without network, or without reports
//! - `monitor`: troubles of this process
//! - `duty`: uncovered periods in on-call schedules
//! - `templates`: templates of channels that cannot be filled
//! - `process_symptoms`: what this process knows of its own state
//! - `debouncer`: how long a trouble has to last before it counts
//! - `phrase`: the texts, in the language of an organisation
//!
//! Only the durations of troubles are kept in memory; everything else is stored. Of several nodes, the leading one
//! compares the common troubles; each node compares its own. A notice is opened and closed under the lock of its
//! organisation.

mod budgets;
mod debouncer;
mod duty;
mod locations;
mod monitor;
mod phrase;
mod process_symptoms;
mod services;
mod templates;
mod unjudged_heartbeats;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

pub use debouncer::SeverityFalls;
pub use process_symptoms::ProcessSymptoms;

use crate::clock::guard::ClockGuard;
use crate::lifecycle;
use crate::model::access::Organisation;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText, RETENTION_MS};
use crate::notices::debouncer::NoticeDebouncer;
use crate::service_router::ServiceRouter;
use crate::store::{MainError, StoreError, notices, organisations};

/// The time between two comparisons.
const EVERY: Duration = Duration::from_secs(5);
/// The time between two comparisons of error budgets.
const BUDGETS_EVERY: Duration = Duration::from_secs(30);
/// The time between two checks of troubles that lie ahead, such as certificates near their expiry.
const LOOK_AHEAD: Duration = Duration::from_secs(15);

/// The dependencies of notices.
#[derive(Clone)]
pub struct NoticeReconciler {
    /// The router, with the databases, the locations and the partitions of this node.
    pub router: ServiceRouter,
    /// The guard of the wall clock: old notices are deleted only while the clock is trusted.
    pub guard: Arc<ClockGuard>,
    /// Returns the state of this process.
    pub signs: Arc<dyn Fn() -> ProcessSymptoms + Send + Sync>,
    /// The time for which a location or this process must be in trouble before a notice is opened.
    pub patience: Duration,
    /// Times since which troubles have been less severe than their notices.
    pub falls: Arc<SeverityFalls>,
}

impl fmt::Debug for NoticeReconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices").field("announcer", &self.router).finish_non_exhaustive()
    }
}

/// State between two comparisons: the durations of troubles, and the time of the last check of troubles that lie ahead.
#[derive(Debug)]
struct NoticeMemory {
    patience: NoticeDebouncer,
    looked_ahead: Option<Instant>,
    /// True once the stored templates have been checked.
    has_checked_templates: bool,
}

impl NoticeMemory {
    fn new(patience: Duration) -> Self {
        Self {
            patience: NoticeDebouncer::new(patience, patience),
            looked_ahead: None,
            has_checked_templates: false,
        }
    }

    /// Returns true when a check of troubles that lie ahead is due.
    fn looks_ahead(&mut self) -> bool {
        let is_time = self.looked_ahead.is_none_or(|last| last.elapsed() >= LOOK_AHEAD);
        if is_time {
            self.looked_ahead = Some(Instant::now());
        }
        is_time
    }
}

/// Compares until the future is dropped; budgets, which take long to read, in parallel to the others.
pub async fn run(parts: NoticeReconciler) {
    let (_, ()) = futures_util::future::join(parts.watch(), parts.watch_budgets()).await;
}

impl NoticeReconciler {
    async fn watch(&self) {
        let mut memory = NoticeMemory::new(self.patience);
        let mut is_failing = false;
        loop {
            self.compare(&mut memory, &mut is_failing).await;
            sleep(EVERY).await;
        }
    }

    async fn watch_budgets(&self) {
        let mut budgets = budgets::BudgetMemory::default();
        loop {
            if self.router.ownership.leads()
                && let Err(error) = budgets.compare(self).await
            {
                tracing::debug!(%error, "cannot check the error budgets; retrying");
            }
            sleep(BUDGETS_EVERY).await;
        }
    }

    /// Compares everything once; troubles that lie ahead only from time to time. A failed comparison does not stop the
    /// others.
    async fn compare(&self, memory: &mut NoticeMemory, is_failing: &mut bool) {
        let mut outcomes = vec![monitor::compare(self, &mut memory.patience).await.map_err(StoreError::from)];
        outcomes.push(unjudged_heartbeats::compare(self).await.map_err(StoreError::from));
        if self.router.ownership.leads() {
            outcomes.push(services::compare_heartbeats(self).await);
            outcomes.push(locations::compare(self, &mut memory.patience).await.map_err(StoreError::from));
            if memory.looks_ahead() {
                outcomes.push(services::compare_certificates(self).await);
                outcomes.push(duty::compare(self).await);
                let compared = templates::compare(self, !memory.has_checked_templates).await;
                memory.has_checked_templates |= compared.is_ok();
                outcomes.push(compared.map_err(StoreError::from));
            }
            outcomes.push(self.forget().await.map_err(StoreError::from));
        }
        let first = outcomes.into_iter().find_map(Result::err);
        let was_failing = std::mem::replace(is_failing, first.is_some());
        if let Some(error) = first.filter(|_| !was_failing) {
            tracing::warn!(%error, "cannot check for notices; retrying");
        }
    }

    /// Opens notices about new troubles, lowers the severity of notices whose troubles have been less severe for long, and
    /// closes obsolete notices. A failed write is repeated with the next comparison.
    async fn reconcile(
        &self,
        wrong: &[NoticeCondition],
        lasting: &[Notice],
        over: impl Fn(&Notice, &Organisation) -> NoticeText,
    ) {
        let NoticeChanges { begun, fallen, ended } = changes(wrong, lasting, &self.falls, Instant::now());
        for trouble in begun {
            logged(self.begin(trouble).await);
        }
        for trouble in fallen {
            logged(self.lower(trouble).await);
        }
        for notice in ended {
            logged(self.end(notice, &over).await);
        }
    }

    async fn lower(&self, trouble: &NoticeCondition) -> Result<(), MainError> {
        let transaction = self.router.databases.main.begin().await?;
        lifecycle::notices::lower(&transaction, trouble).await?;
        transaction.commit().await
    }

    async fn begin(&self, trouble: &NoticeCondition) -> Result<(), MainError> {
        let transaction = self.router.databases.main.begin().await?;
        if lifecycle::notices::raise(&transaction, trouble, self.guard.now()).await? {
            tracing::info!(event = %trouble.subject.event, subject = trouble.subject.name, "notice started");
        }
        transaction.commit().await
    }

    async fn end(
        &self,
        notice: &Notice,
        over: impl Fn(&Notice, &Organisation) -> NoticeText,
    ) -> Result<(), MainError> {
        let NoticeSubject { organisation, event, name } = &notice.trouble.subject;
        let transaction = self.router.databases.main.begin().await?;
        let Some(organisation) = organisations::get(&transaction, *organisation).await? else {
            return Ok(());
        };
        let words = over(notice, &organisation);
        if lifecycle::notices::settle(&transaction, &notice.trouble.subject, words, self.guard.now()).await? {
            tracing::info!(%event, subject = name, "notice ended");
        }
        transaction.commit().await
    }

    /// Deletes notices that were closed long ago.
    async fn forget(&self) -> Result<(), MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(()) };
        let before = now.plus_ms(-RETENTION_MS);
        if notices::has_old(self.router.databases.main.reader(), before).await? {
            let transaction = self.router.databases.main.begin().await?;
            notices::forget(&transaction, before).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

/// The changes of an event's notices.
#[derive(Debug, Default, PartialEq, Eq)]
struct NoticeChanges<'a> {
    /// Troubles that are new, or worse than their notice: notifications are sent.
    begun: Vec<&'a NoticeCondition>,
    /// Troubles that have been less severe than their notice for long: the notice is updated without notifications.
    fallen: Vec<&'a NoticeCondition>,
    /// Notices to close.
    ended: Vec<&'a Notice>,
}

fn changes<'a>(
    wrong: &'a [NoticeCondition],
    lasting: &'a [Notice],
    falls: &SeverityFalls,
    now: Instant,
) -> NoticeChanges<'a> {
    let known: HashMap<Key<'_>, &Notice> =
        lasting.iter().map(|notice| (key(&notice.trouble.subject), notice)).collect();
    let mut changes = NoticeChanges::default();
    let falls = |subject: &NoticeSubject, is_less: bool| {
        let NoticeSubject { organisation, event, name } = subject;
        falls.falls(&format!("{event} {organisation} {name}"), is_less, now)
    };
    for trouble in wrong {
        let notified = known.get(&key(&trouble.subject)).map(|notice| notice.trouble.severity);
        let has_fallen =
            falls(&trouble.subject, notified.is_some_and(|notified| notified > trouble.severity));
        if notified.is_none_or(|notified| notified < trouble.severity) {
            changes.begun.push(trouble);
        } else if has_fallen {
            changes.fallen.push(trouble);
        }
    }
    let wrong: HashSet<Key<'_>> = wrong.iter().map(|trouble| key(&trouble.subject)).collect();
    for notice in lasting.iter().filter(|notice| !wrong.contains(&key(&notice.trouble.subject))) {
        falls(&notice.trouble.subject, false);
        changes.ended.push(notice);
    }
    changes
}

fn logged(written: Result<(), MainError>) {
    if let Err(error) = written {
        tracing::warn!(%error, "cannot write a notice; retrying");
    }
}

/// Distinguishes the subjects of one event.
type Key<'a> = (i64, &'a str);

fn key(subject: &NoticeSubject) -> Key<'_> {
    (subject.organisation, &subject.name)
}

#[cfg(test)]
mod tests;
