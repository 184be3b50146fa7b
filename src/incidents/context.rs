//! Context for writing incidents of one organisation, which is locked: its policies, and the time.

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::incidents::evidence::CollectedEvidence;
use crate::model::access::Organisation;
use crate::model::incident_policy::IncidentPolicy;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::Transaction;

/// A transaction that writes incidents of a locked organisation.
pub(super) struct IncidentContext<'a> {
    pub(super) transaction: &'a Transaction,
    pub(super) organisation: &'a Organisation,
    /// The policies of the organisation, in their order.
    pub(super) policies: &'a [IncidentPolicy],
    /// Services that no longer need to wait for a check.
    pub(super) cleared: &'a HashSet<ServiceKey>,
    /// Services whose wait ended while this program was not running, without a requested check.
    pub(super) missed: &'a HashSet<ServiceKey>,
    /// The known reasons of outages.
    pub(super) evidence: &'a CollectedEvidence,
    pub(super) now: Timestamp,
}

impl IncidentContext<'_> {
    /// Returns the time before which this outage is not decided, because checks were requested; `None` when the checks are
    /// done or the time is over.
    pub(super) fn held_until(&self, outage: &Outage) -> Option<Timestamp> {
        let is_cleared = self.cleared.contains(&outage.service);
        outage.held_until.filter(|until| self.now < *until && !is_cleared)
    }
}
