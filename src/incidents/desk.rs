//! What everybody needs who writes the incidents of an organisation: its lock, its policies, and the time.

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::incidents::evidence::CollectedEvidence;
use crate::model::access::Organisation;
use crate::model::incident_policy::IncidentPolicy;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::store::Transaction;

/// A transaction that writes incidents of an organisation, which it has locked.
pub(super) struct Desk<'a> {
    pub(super) transaction: &'a Transaction,
    pub(super) organisation: &'a Organisation,
    /// Its policies, in their order.
    pub(super) policies: &'a [IncidentPolicy],
    /// Services that need not wait any longer for a look.
    pub(super) cleared: &'a HashSet<ServiceKey>,
    /// Services whose wait was over while nobody was here, and for which nobody has looked.
    pub(super) missed: &'a HashSet<ServiceKey>,
    /// Why services are in trouble, as far as it is known.
    pub(super) evidence: &'a CollectedEvidence,
    pub(super) now: Timestamp,
}

impl Desk<'_> {
    /// The time before which nothing is to be decided of this outage, because somebody has been asked to look; `None` when
    /// they have, or had their time.
    pub(super) fn held_until(&self, outage: &Outage) -> Option<Timestamp> {
        let is_cleared = self.cleared.contains(&outage.service);
        outage.held_until.filter(|until| self.now < *until && !is_cleared)
    }
}
