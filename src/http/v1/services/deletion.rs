//! Effects of the deletion of a service on its incidents (contract 4.3.9), in the same transaction.

use crate::http::gate::auth::Caller;
use crate::http::gate::write::WriteTransaction;
use crate::http::kit::error::ApiError;
use crate::http::kit::query::QueryString;
use crate::http::v1::services::DELETE_ORPHANED_INCIDENTS;
use crate::http::v1::state::AppState;
use crate::lifecycle::service_deletion::{IncidentCleanup, ServiceDeletion, settle_incidents};
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;

/// Last timeline entry of an incident that ends with its service. The text is always English.
const INCIDENT_ENDS: &str = "The affected service was removed from monitoring.";

/// Ends, changes or deletes the incidents of a service that is about to be deleted.
pub(super) async fn settle_service_incidents(
    state: &AppState,
    write: &WriteTransaction,
    caller: &Caller,
    query: &QueryString,
    service: ServiceKey,
) -> Result<IncidentCleanup, ApiError> {
    let message = TranslatedText::single(&caller.organisation.default_locale, INCIDENT_ENDS);
    let deletion = ServiceDeletion {
        organisation: caller.organisation.key,
        service,
        at: state.now(),
        deletes_orphans: query.is_true(DELETE_ORPHANED_INCIDENTS),
        message: &message,
    };
    Ok(settle_incidents(write, &deletion).await?)
}
