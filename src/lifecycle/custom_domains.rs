//! Checks of the records of custom domains, requested by the clock or by a client.
//!
//! The claims of a host name are of several organisations, so the lock is that of the name.

use crate::model::domain::CustomDomain;
use crate::model::domain::claims::{DomainCheckOutcome, DomainRecordsCheck, apply_domain_check};
use crate::store::{MainError, Transaction, custom_domains};

/// Stores the result of a check for the domain and for other claims of its name. `None`, and nothing stored, when the
/// domain does not exist any more, or when the check was due and another one came first.
pub async fn record_check(
    transaction: &Transaction,
    domain: &CustomDomain,
    check: DomainRecordsCheck,
) -> Result<Option<DomainCheckOutcome>, MainError> {
    let claims = custom_domains::claims_for_update(transaction, &domain.hostname).await?;
    let Some(outcome) = apply_domain_check(claims, domain.key, check) else { return Ok(None) };
    for ended in &outcome.ended {
        custom_domains::update(transaction, ended).await?;
    }
    custom_domains::update(transaction, &outcome.domain).await?;
    Ok(Some(outcome))
}
