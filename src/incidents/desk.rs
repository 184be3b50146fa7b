//! What everybody needs who writes the incidents of an organisation: its lock, its policies, and the time.

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::incident_policy::IncidentPolicy;
use crate::model::service::ServiceKey;
use crate::store::Transaction;

/// A transaction that writes incidents of an organisation, which it has locked.
pub(super) struct Desk<'a> {
    pub(super) transaction: &'a Transaction,
    pub(super) organisation: &'a Organisation,
    /// Its policies, in their order.
    pub(super) policies: &'a [IncidentPolicy],
    /// Services that need not wait any longer for those that they depend on.
    pub(super) cleared: &'a HashSet<ServiceKey>,
    pub(super) now: Timestamp,
}
