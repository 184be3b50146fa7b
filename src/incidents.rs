//! Automatic incidents: the engine's status changes become outages, outages become incidents.
//!
//! - `change_follower`: reads the changes in order, each once, and updates the outages of services
//! - `outage_decisions`: turns an outage into an incident, or adds it to one
//! - `parents`: services that others depend on
//! - `awaited_checks`: the state of requested checks
//! - `outage_waker`: wakes outages that wait for a user's change
//! - `followed_policy`: the policy of an incident
//! - `evidence`: the reasons of outages
//! - `resolution`: an incident whose services all work again
//! - `recovery`: recoveries from before this process
//!
//! The engine does not depend on incidents: only durable data are read. Each step is one transaction, and after a kill the
//! remaining steps are still due. If there are several nodes, each handles the services that it watches; writing the
//! incidents of an organisation requires its lock.

mod awaited_checks;
pub mod change_follower;
mod context;
mod evidence;
mod followed_policy;
pub mod incident_texts;
mod outage_decisions;
mod outage_waker;
mod parents;
mod pending_incidents;
pub mod recovery;
pub mod resolution;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::clock::{Clock, Timestamp};
use crate::feed::{ChangeFeed, ChangeSignal};
use crate::incidents::awaited_checks::AwaitedChecks;
use crate::incidents::context::IncidentContext;
use crate::incidents::outage_decisions::OutageDecisions;
use crate::incidents::outage_waker::OutageWaker;
use crate::model::outage::Outage;
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::service_router::ServiceRouter;
use crate::store::changes::ChangeScope;
use crate::store::{MainError, StoreError, incident_policies, organisations, outages};

/// The name under which the position of this reader in the status changes is stored.
const READER: &str = "incidents";
/// Maximum number of outages handled in one transaction.
const AT_ONCE: u64 = 125;
/// The longest sleep: changes that send no signal (a maintenance that ends, a clock that is set) are noticed after it.
const LONGEST: Duration = Duration::from_secs(1);

/// The dependencies of automatic incidents.
#[derive(Clone, Debug)]
pub struct IncidentAutomation {
    /// The router, with the databases and the partitions of this node.
    pub router: ServiceRouter,
    /// Source of the wall time.
    pub clock: Clock,
    /// Signals that changes are durable.
    pub change_signal: Arc<ChangeSignal>,
}

/// Opens and closes incidents until the future is dropped.
pub async fn run(incidents: IncidentAutomation, retry: Duration) {
    let (mut feed, mut wake_up_call) = (ChangeFeed::new(READER), OutageWaker::default());
    let mut is_failing = false;
    loop {
        match incidents.pass(&mut feed, &mut wake_up_call).await {
            Ok(next) => {
                if std::mem::take(&mut is_failing) {
                    tracing::info!("incidents are updated again");
                }
                // Continues after a change, or when the time is over.
                let _ = timeout(next, incidents.change_signal.wait()).await;
            }
            Err(error) => {
                feed.forget();
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(%error, "cannot update incidents; retrying");
                }
                tokio::time::sleep(retry).await;
            }
        }
    }
}

impl IncidentAutomation {
    /// Does everything that is due; returns the time until more may be due.
    ///
    /// # Errors
    ///
    /// When a database fails. Committed steps are kept; the next pass does the rest.
    async fn pass(
        &self,
        feed: &mut ChangeFeed,
        wake_up_call: &mut OutageWaker,
    ) -> Result<Duration, StoreError> {
        let partitions = self.router.ownership.ready();
        if partitions.is_empty() {
            return Ok(LONGEST);
        }
        let now = self.clock.now();
        change_follower::follow_changes(self, feed, partitions).await?;
        wake_up_call.wake_if_due(&self.router, partitions, now).await?;
        // Outages that become due meanwhile wait for the next pass. Changes are read in between, however many outages
        // there are.
        while self.process_due(partitions, now).await? {
            change_follower::follow_changes(self, feed, partitions).await?;
        }
        let next = outages::next_evaluation(self.router.databases.main.reader(), partitions).await?;
        Ok(wait(next, self.clock.now()))
    }

    /// Handles some outages that are due by `now`; returns false when there are no more.
    async fn process_due(&self, partitions: PartitionSet, now: Timestamp) -> Result<bool, StoreError> {
        let main = self.router.databases.main.reader();
        let due = outages::due(main, partitions, now, AT_ONCE).await?;
        let mut by_organisation: BTreeMap<i64, Vec<ServiceKey>> = BTreeMap::new();
        for outage in &due {
            by_organisation.entry(outage.organisation).or_default().push(outage.service);
        }
        for (organisation, services) in by_organisation {
            self.process_outages(organisation, &services).await?;
        }
        Ok(due.len() as u64 == AT_ONCE)
    }

    /// Handles outages of one organisation in one transaction.
    async fn process_outages(&self, organisation: i64, services: &[ServiceKey]) -> Result<(), MainError> {
        let AwaitedChecks { cleared, missed, to_ask } =
            awaited_checks::read_awaited_checks(&self.router, services, self.clock.now()).await?;
        let evidence = evidence::collect(&self.router, services).await?;
        let transaction = self.router.databases.main.begin().await?;
        organisations::lock(&transaction, organisation).await?;
        let Some(organisation) = organisations::get(&transaction, organisation).await? else { return Ok(()) };
        let now = self.clock.now();
        let found = outages::of_services_for_update(&transaction, services).await?;
        let is_due = |outage: &Outage| outage.evaluate_at.is_some_and(|at| at <= now);
        let (undecided, reported): (Vec<Outage>, Vec<Outage>) =
            found.into_values().filter(is_due).partition(Outage::is_undecided);
        let policies = incident_policies::list(&transaction, organisation.key).await?;
        let context = IncidentContext {
            transaction: &transaction,
            organisation: &organisation,
            policies: &policies,
            cleared: &cleared,
            missed: &missed,
            evidence: &evidence,
            now,
        };
        let OutageDecisions { mut written, asked, reachable, unreachable } =
            outage_decisions::decide_outages(&context, undecided).await?;
        written += resolution::settle_incidents(&context, reported).await?;
        transaction.concerns(ChangeScope::Organisation(organisation.key));
        transaction.commit().await?;
        to_ask.send_requests(&self.router).await;
        asked.send_requests(&self.router).await;
        for (services, is_unreachable) in [(reachable, false), (unreachable, true)] {
            for service in services {
                self.router.engine.set_unreachable(service, is_unreachable);
            }
        }
        if written > 0 {
            tracing::info!(organisation = %organisation.id, incidents = written, "incidents written");
        }
        Ok(())
    }
}

fn wait(next: Option<Timestamp>, now: Timestamp) -> Duration {
    let ms = next.map_or(i64::MAX, |next| next.ms_since(now).max(0));
    Duration::from_millis(ms.unsigned_abs()).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, 1_000)]
    #[case(Some(10_300), 300)]
    #[case(Some(99_000), 1_000)]
    #[case(Some(0), 0)]
    fn the_wait_ends_at_the_next_due_time_or_after_a_second(#[case] next: Option<i64>, #[case] ms: u64) {
        let next = next.map(Timestamp::from_ms);
        assert_eq!(wait(next, Timestamp::from_ms(10_000)), Duration::from_millis(ms));
    }
}
