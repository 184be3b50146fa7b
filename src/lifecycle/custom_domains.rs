//! Checks of the records of custom domains, requested by the clock or by a client.
//!
//! Several organisations may claim the same host name, so the name is locked, not an organisation.

use crate::model::domain::CustomDomain;
use crate::model::domain::claims::{DomainCheckOutcome, DomainRecordsCheck, apply_domain_check};
use crate::store::{MainError, Transaction, custom_domains};

/// Stores the result of a check for the domain and for other claims of its name. Returns `None` and stores nothing if the
/// domain no longer exists, or if the check was due and another check came first.
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
