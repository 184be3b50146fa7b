//! Finds the resource named in a path, for every kind of resource that belongs to an organisation. A lookup only reads the
//! resource, or locks it for a change.
//!
//! The lookup functions of the store are passed in; a resource that the caller may not see counts as missing.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::visibility::Visibility;
use crate::store::{MainError, StoreConnection, Transaction};

/// Finds the resource in the path (step 8 of contract 1.8).
///
/// # Errors
///
/// 404 when no such resource is visible to the caller.
pub(super) async fn find_or_404<T>(
    call: &ApiCall<AppState>,
    find: impl AsyncFnOnce(&dyn StoreConnection, Visibility, Id) -> Result<Option<T>, MainError>,
) -> Result<T, ApiError> {
    let id = call.path.id(0)?;
    let main = call.state.databases.main.reader();
    find(main, call.caller.visibility(), id).await?.ok_or(ApiError::NotFound)
}

/// Reads the resource again and locks it until the transaction ends.
///
/// # Errors
///
/// 404 when no such resource is visible to the caller.
pub(super) async fn lock_or_404<T>(
    transaction: &Transaction,
    caller: &Caller,
    id: Id,
    find: impl AsyncFnOnce(&dyn StoreConnection, Visibility, Id) -> Result<Option<T>, MainError>,
) -> Result<T, ApiError> {
    find(transaction, caller.visibility(), id).await?.ok_or(ApiError::NotFound)
}
