//! Services that others depend on. While a service is down or unstable, failing services that depend on it are unreachable
//! and have no incident of their own; this continues along chains of dependencies.
//!
//! Failures arrive in any order, so a failing service requests an immediate check of its dependencies and waits for it:
//! its incident is delayed for the longest time that such a check takes. When the dependencies are back, the service
//! itself is checked, and is unreachable until this check is done.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::clock::Timestamp;
use crate::incidents::context::IncidentContext;
use crate::model::dependency::DependencyGraph;
use crate::model::outage::Outage;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::model::service_window::WindowKind;
use crate::service_router::ServiceRouter;
use crate::store::services::outlines;
use crate::store::{MainError, Transaction, dependencies, outages, windows};

/// Milliseconds that an attempt takes in addition to its timeout, for back-off and transport.
const BESIDE_TIMEOUT_MS: i64 = 2_000;
/// The longest wait for one check, in milliseconds.
const PATIENCE_MAX_MS: i64 = 30_000;
/// Milliseconds between two checks whether a service is still unreachable, because users may change its dependencies.
pub(super) const STILL_SO_MS: i64 = 30_000;
/// Milliseconds between two polls for requested checks.
pub(super) const RECHECK_POLL_MS: i64 = 300;

/// The dependencies of some services, and the set of services that make their dependents unreachable.
#[derive(Debug, Default)]
pub(super) struct ParentServices {
    graph: DependencyGraph,
    hiding: HashSet<ServiceKey>,
}

impl ParentServices {
    /// Returns the service and its dependencies; empty if it has neither dependencies nor dependents. Failures of two
    /// services whose lineages overlap are related: both depend on the same service, or one on the other.
    pub(super) fn lineage(&self, service: ServiceKey) -> Vec<ServiceKey> {
        let is_alone = self.graph.parents_of(service).next().is_none()
            && self.graph.children_of(service).next().is_none();
        if is_alone { Vec::new() } else { self.graph.parents_of(service).chain([service]).collect() }
    }

    pub(super) async fn read(transaction: &Transaction, of: &[ServiceKey]) -> Result<Self, MainError> {
        let graph = dependencies::find_neighbours(transaction, of).await?;
        if graph.is_empty() {
            return Ok(Self::default());
        }
        let parents: BTreeSet<ServiceKey> = of.iter().flat_map(|child| graph.parents_of(*child)).collect();
        let parents: Vec<ServiceKey> = parents.into_iter().collect();
        let outages = outages::of_services(transaction, &parents).await?;
        let hiding =
            outages.iter().filter(|outage| outage.hides_others()).map(|outage| outage.service).collect();
        Ok(Self { graph, hiding })
    }

    /// Returns true if a dependency of this service is down, unstable, or unreachable itself.
    pub(super) fn is_unreachable(&self, child: ServiceKey) -> bool {
        self.graph.parents_of(child).any(|parent| self.hiding.contains(&parent))
    }

    /// Adds the failing services that are unreachable to the services that make their dependents unreachable, along chains
    /// of any length.
    pub(super) fn propagate_unreachable(&mut self, failing: &[Outage]) {
        let failing: Vec<ServiceKey> =
            failing.iter().filter(|outage| outage.is_measured).map(|outage| outage.service).collect();
        loop {
            let is_new = |child: &&ServiceKey| !self.hiding.contains(*child) && self.is_unreachable(**child);
            let more: Vec<ServiceKey> = failing.iter().filter(is_new).copied().collect();
            if more.is_empty() {
                return;
            }
            self.hiding.extend(more);
        }
    }

    /// Requests an immediate check of the service's dependencies, and lets the outage wait for the results.
    pub(super) async fn hold_for_parents(
        &self,
        context: &IncidentContext<'_>,
        outage: Outage,
        asked: &mut RequestedChecks,
    ) -> Result<Outage, MainError> {
        let outage = ask_parents(context.transaction, &self.graph, outage, context.now, asked).await?;
        Ok(Outage { evaluate_at: Some(context.now.plus_ms(RECHECK_POLL_MS)), ..outage })
    }
}

/// Services to check at once after the current transaction is committed.
#[derive(Debug, Default)]
pub(super) struct RequestedChecks(pub(super) Vec<ServiceAddress>);

impl RequestedChecks {
    pub(super) fn add(&mut self, some: impl IntoIterator<Item = ServiceAddress>) {
        self.0.extend(some);
    }

    /// Requests the checks from the nodes that watch the services.
    pub(super) async fn send_requests(self, router: &ServiceRouter) {
        router.request_checks(&self.0).await;
    }
}

/// Notes what the changes of these services mean for others, in the same transaction: a service that has just failed waits
/// for an immediate check of its dependencies; services that depend on a changed one are decided again.
pub(super) async fn note_changes(
    transaction: &Transaction,
    after: &mut HashMap<ServiceKey, Outage>,
    touched: &[ServiceKey],
    now: Timestamp,
) -> Result<RequestedChecks, MainError> {
    let mut asked = RequestedChecks::default();
    let graph = dependencies::find_neighbours(transaction, touched).await?;
    if graph.is_empty() {
        return Ok(asked);
    }
    for child in touched {
        let Some(outage) = after.get_mut(child).filter(|outage| waits_for_others(outage)) else { continue };
        if graph.parents_of(*child).next().is_some() {
            *outage = ask_parents(transaction, &graph, *outage, now, &mut asked).await?;
        }
    }
    let children: BTreeSet<ServiceKey> =
        touched.iter().flat_map(|parent| graph.children_of(*parent)).collect();
    let children: Vec<ServiceKey> = children.into_iter().collect();
    let others: Vec<ServiceKey> = children.iter().filter(|child| !touched.contains(child)).copied().collect();
    after.extend(outages::of_services_for_update(transaction, &others).await?);
    for child in children {
        if let Some(outage) = after.get_mut(&child).filter(|outage| outage.is_unreported()) {
            outage.evaluate_at = Some(now);
        }
    }
    Ok(asked)
}

/// Requests an immediate check of the service's dependencies, and lets the outage wait for the results.
async fn ask_parents(
    transaction: &Transaction,
    graph: &DependencyGraph,
    outage: Outage,
    now: Timestamp,
    asked: &mut RequestedChecks,
) -> Result<Outage, MainError> {
    let parents: Vec<ServiceKey> = graph.parents_of(outage.service).collect();
    let parents = outlines::by_keys(transaction, &parents).await?;
    asked.add(parents.iter().map(ServiceOutline::address));
    Ok(outage.mark_recheck_requested(now, now.plus_ms(patience_ms(parents.iter()))))
}

/// Returns true for an outage without an incident and without requested checks.
const fn waits_for_others(outage: &Outage) -> bool {
    outage.is_unreported()
        && outage.is_measured
        && outage.held_until.is_none()
        && outage.unreachable_since.is_none()
}

/// Returns the longest time that a check of one of these services takes, with all attempts and the checks that confirm a
/// recovery.
fn patience_ms<'a>(asked: impl Iterator<Item = &'a ServiceOutline>) -> i64 {
    let takes = |service: &ServiceOutline| {
        let settings = service.settings.as_ref()?;
        let attempts = i64::from(settings.retries) + i64::from(settings.recovery_checks);
        Some(attempts * (i64::from(settings.timeout_seconds) * 1_000 + BESIDE_TIMEOUT_MS))
    };
    asked.filter_map(takes).max().unwrap_or_default().min(PATIENCE_MAX_MS)
}

/// Marks an outage as unreachable because of another service: from the start of the outage, the time does not count for
/// the service.
pub(super) async fn begin_unreachable(
    context: &IncidentContext<'_>,
    outage: Outage,
) -> Result<Outage, MainError> {
    windows::open(context.transaction, outage.service, WindowKind::Unreachable, outage.began_at).await?;
    Ok(outage.unreachable(context.now.plus_ms(STILL_SO_MS)))
}

/// Handles the recovery of the dependencies: requests a check of the service itself, because earlier results say nothing
/// about it. Its time is excluded until then.
pub(super) fn request_own_check(
    context: &IncidentContext<'_>,
    outage: Outage,
    own: &ServiceOutline,
) -> Outage {
    let held_until = context.now.plus_ms(patience_ms(std::iter::once(own)));
    let evaluate_at = Some(context.now.plus_ms(RECHECK_POLL_MS));
    Outage { evaluate_at, ..outage.mark_recheck_requested(context.now, held_until) }
}

/// Handles a failure after the requested check: the service fails by itself now, unless a dependency has failed again.
pub(super) async fn end_unreachable(
    context: &IncidentContext<'_>,
    parents: &ParentServices,
    outage: Outage,
    asked: &mut RequestedChecks,
) -> Result<Outage, MainError> {
    windows::close_unreachable(context.transaction, outage.service, context.now).await?;
    parents.hold_for_parents(context, outage.become_own_outage(context.now), asked).await
}
