//! Claims of one host name by several organisations (contract 4.15): who may attach it, and the effect of a proven
//! claim on the others.
//!
//! An unverified claim does not prevent other organisations from claiming the name. The first organisation to prove the
//! name has it until its domain is deleted or fails. No organisation learns about unproven claims of others.

use crate::clock::Timestamp;
use crate::clock::guard::JudgedTime;
use crate::model::domain::{CustomDomain, DomainProblem, DomainRecordsState, DomainStatus};

/// A claim of a host name, with its organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostnameClaim {
    /// Database key of the organisation.
    pub organisation: i64,
    /// The domain that claims the host name.
    pub domain: CustomDomain,
}

/// The reason for a check of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainCheckReason {
    /// A planned check, with the `next_check_at` that the domain had when the check started.
    Due(Option<Timestamp>),
    /// A check requested by a client at this time.
    Requested(Timestamp),
}

/// A check of a domain's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainRecordsCheck {
    /// The reason for the check.
    pub reason: DomainCheckReason,
    /// State of the records that the check found.
    pub records_state: DomainRecordsState,
    /// The time at which the check ended.
    pub at: JudgedTime,
}

/// The effect of a check on all claims of the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCheckOutcome {
    /// The checked domain after the check.
    pub domain: CustomDomain,
    /// Claims of other organisations that fail because the checked domain was proven.
    pub ended: Vec<CustomDomain>,
}

/// Returns true if the organisation may attach a host name that has these claims.
#[must_use]
pub fn may_attach(organisation: i64, claims: &[HostnameClaim]) -> bool {
    claims.iter().all(|claim| match claim.domain.status {
        DomainStatus::Active => false,
        DomainStatus::PendingVerification => claim.organisation != organisation,
        DomainStatus::Failed => true,
    })
}

/// Applies a check of the domain with this key to all claims of its name, as they are stored after the check. Returns
/// `None` if the domain was deleted, or if another check came before this planned one.
#[must_use]
pub fn apply_domain_check(
    claims: Vec<HostnameClaim>,
    key: i64,
    check: DomainRecordsCheck,
) -> Option<DomainCheckOutcome> {
    let (own, others): (Vec<CustomDomain>, Vec<CustomDomain>) =
        claims.into_iter().map(|claim| claim.domain).partition(|domain| domain.key == key);
    let before = own.into_iter().next()?;
    let asked_at = match check.reason {
        DomainCheckReason::Due(due_at) if due_at != before.next_check_at => return None,
        DomainCheckReason::Due(_) => before.asked_at,
        DomainCheckReason::Requested(asked_at) => Some(asked_at),
    };
    let is_waiting = before.status == DomainStatus::PendingVerification;
    let is_lost = is_waiting && others.iter().any(|other| other.status == DomainStatus::Active);
    let after = if is_lost {
        before.failed(DomainProblem::ClaimedElsewhere)
    } else {
        before.after_check(check.records_state, check.at)
    };
    let is_proven = is_waiting && after.status == DomainStatus::Active;
    let ended = others
        .iter()
        .filter(|other| is_proven && other.status == DomainStatus::PendingVerification)
        .map(|other| other.failed(DomainProblem::ClaimedElsewhere))
        .collect();
    Some(DomainCheckOutcome { domain: CustomDomain { asked_at, ..after }, ended })
}

#[cfg(test)]
mod tests;
