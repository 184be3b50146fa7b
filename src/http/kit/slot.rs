//! Checks limits of the plan before a row is added (step 13 of contract 1.8).

use std::future::Future;

use crate::http::kit::error::ApiError;
use crate::http::kit::quota::{PlanQuota, QuotaExceeded};

/// Checks that the plan has room for another row. The caller must have locked the counted rows; without a limit they are not
/// counted.
///
/// # Errors
///
/// 402 or 403 with `upsell` when the quota is exceeded; otherwise the errors of `usage`.
pub async fn take_slot<E>(
    quota: PlanQuota,
    limit: Option<u32>,
    usage: impl Future<Output = Result<u64, E>>,
) -> Result<(), ApiError>
where
    ApiError: From<E>,
{
    let Some(limit) = limit else { return Ok(()) };
    let usage = usage.await?;
    if usage < u64::from(limit) { Ok(()) } else { Err(QuotaExceeded { quota, limit, usage }.into()) }
}
