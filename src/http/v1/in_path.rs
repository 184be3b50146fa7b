//! The resource that a path names, for every kind that belongs to an organisation: read, or kept for a change.
//!
//! The functions of the store that find one kind are passed in; a resource that the caller does not see is not there.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::sight::Sight;
use crate::store::{MainError, Reader, Transaction};

/// The resource in the path (step 8 of contract 1.8).
///
/// # Errors
/// 404, 503, 500.
pub(super) async fn find<T>(
    call: &Call<AppState>,
    find: impl AsyncFnOnce(&Reader, Sight, Id) -> Result<Option<T>, MainError>,
) -> Result<T, ApiError> {
    let id = call.path.id(0)?;
    let main = call.state.databases.main.reader();
    find(main, call.caller.sight(), id).await?.ok_or(ApiError::NotFound)
}

/// The resource again, kept from others until the transaction ends.
///
/// # Errors
/// 404, 503, 500.
pub(super) async fn find_for_update<T>(
    transaction: &Transaction,
    caller: &Caller,
    id: Id,
    find: impl AsyncFnOnce(&Transaction, Sight, Id) -> Result<Option<T>, MainError>,
) -> Result<T, ApiError> {
    find(transaction, caller.sight(), id).await?.ok_or(ApiError::NotFound)
}
