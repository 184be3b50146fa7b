//! The cooldown of domain checks that clients request (contract 4.15), which protects resolvers.
//!
//! Of two concurrent requests only one may check. A transaction would be too slow for this rule, so claims are held in
//! memory. The database stores the time for restarts.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::model::domain::CustomDomain;

/// Maximum number of claims in memory, far more than clients can make in ten seconds.
const CLAIMS: usize = 10_000;

/// Times of the last checks, by the database key of the domain.
#[derive(Debug, Default)]
pub(in crate::http::v1) struct VerificationCooldowns(Mutex<HashMap<i64, Timestamp>>);

impl VerificationCooldowns {
    /// Claims the next check of the domain for this request.
    ///
    /// # Errors
    ///
    /// The time to wait, in whole seconds, if the domain was checked too recently.
    pub(super) fn claim(&self, domain: &CustomDomain, now: Timestamp) -> Result<(), u64> {
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let claimed_at = claims.get(&domain.key).copied();
        let asked = CustomDomain { asked_at: claimed_at.max(domain.asked_at), ..domain.clone() };
        if let Some(seconds) = asked.cooldown_seconds(now) {
            return Err(seconds);
        }
        if claims.len() >= CLAIMS {
            claims.clear();
        }
        claims.insert(domain.key, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_verification_has_to_wait() {
        let start = Timestamp::from_ms(1_000_000);
        let domain = CustomDomain::attached(1, "status.example.com".into(), start);
        let cooldowns = VerificationCooldowns::default();
        assert_eq!(cooldowns.claim(&domain, start), Ok(()));
        assert_eq!(cooldowns.claim(&domain, start.plus_ms(1)), Err(10));
        assert_eq!(cooldowns.claim(&CustomDomain { key: 7, ..domain.clone() }, start), Ok(()));
        assert_eq!(cooldowns.claim(&domain, start.plus_ms(10_000)), Ok(()));
        let remembered = CustomDomain { asked_at: Some(start), ..domain };
        assert_eq!(VerificationCooldowns::default().claim(&remembered, start.plus_ms(4_000)), Err(6));
    }
}
