//! `POST /v1/services/{id}/check-now`: lets the locations of a service check at once (an addition to the contract).
//!
//! The checks are ordinary ones: their results are stored and count. The schedule of the following checks stays.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::reply::ApiReply;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::service::ServiceKey;
use crate::store::services;

/// Time between two requested checks of a service, in milliseconds.
const COOLDOWN_MS: i64 = 10_000;
/// Number of remembered requests above which those that are over are forgotten.
const REMEMBERED: usize = 10_000;

/// Times of the last requested checks, by service. Each process counts for itself.
#[derive(Debug, Default)]
pub(in crate::http::v1) struct CheckCooldowns(Mutex<HashMap<ServiceKey, Timestamp>>);

impl CheckCooldowns {
    /// Claims the next requested check of the service.
    ///
    /// # Errors
    ///
    /// The time to wait, in whole seconds, if a check was requested too recently.
    fn claim(&self, service: ServiceKey, now: Timestamp) -> Result<(), u64> {
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After the clock was set back, an old claim is in the future and does not count.
        let passed_ms = claims.get(&service).map(|at| now.ms_since(*at)).filter(|passed_ms| *passed_ms >= 0);
        if let Some(left_ms) =
            passed_ms.map(|passed_ms| COOLDOWN_MS - passed_ms).filter(|left_ms| *left_ms > 0)
        {
            return Err(left_ms.unsigned_abs().div_ceil(1_000));
        }
        if claims.len() >= REMEMBERED {
            claims.retain(|_, at| (0..COOLDOWN_MS).contains(&now.ms_since(*at)));
        }
        claims.insert(service, now);
        Ok(())
    }

    /// Returns a claim whose check could not be requested.
    fn release(&self, service: ServiceKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&service);
    }
}

pub(in crate::http::v1) async fn check_service_now(
    cooldowns: Arc<CheckCooldowns>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let ApiCall { state, effect, .. } = call;
    effect.check()?;
    if service.pause.is_some() {
        return Err(StateConflict::ServicePaused.into());
    }
    if !service.check_type.is_probed() || service.settings.is_none() || service.target.is_none() {
        return Err(StateConflict::NotChecked.into());
    }
    let requested_at = state.now();
    cooldowns.claim(service.key, requested_at).map_err(ApiError::CheckCooldown)?;
    if state.router.check_now(service.address()).await.is_err() {
        cooldowns.release(service.key);
        return Err(ApiError::Unwatched);
    }
    let reply = ApiReply::accepted(json!({"requested_at": requested_at.to_string()}));
    effect.commit_outcome(&state.databases.main, reply).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_request_has_to_wait() {
        let start = Timestamp::from_ms(1_000_000);
        let cooldowns = CheckCooldowns::default();
        assert_eq!(cooldowns.claim(1, start), Ok(()));
        assert_eq!(cooldowns.claim(1, start.plus_ms(1)), Err(10));
        assert_eq!(cooldowns.claim(1, start.plus_ms(9_001)), Err(1));
        assert_eq!(cooldowns.claim(2, start), Ok(()));
        assert_eq!(cooldowns.claim(1, start.plus_ms(10_000)), Ok(()));
        assert_eq!(cooldowns.claim(1, start), Ok(()), "the clock was set back");
        cooldowns.release(1);
        assert_eq!(cooldowns.claim(1, start), Ok(()));
    }
}
