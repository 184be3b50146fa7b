//! The status page in a path, for everything that belongs to one: components, files, custom domains, and the page itself.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::statuspage::Statuspage;
use crate::store::{Transaction, statuspages};

/// The page in the path (step 8 of contract 1.8).
///
/// # Errors
/// 404, 503, 500.
pub(super) async fn find(call: &Call<AppState>) -> Result<Statuspage, ApiError> {
    let id = call.path.id(0)?;
    let main = call.state.databases.main.reader();
    let found = statuspages::find(main, call.caller.organisation.key, id).await?;
    found.ok_or(ApiError::NotFound)
}

/// The page again, kept from others until the transaction ends.
///
/// # Errors
/// 404, 503, 500.
pub(super) async fn find_for_update(
    transaction: &Transaction,
    caller: &Caller,
    id: Id,
) -> Result<Statuspage, ApiError> {
    let found = statuspages::find_for_update(transaction, caller.organisation.key, id).await?;
    found.ok_or(ApiError::NotFound)
}
