//! Filters of incident lists (contract 4.10.5). All are checked before the first row is read.

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::linked_ids::read_service_filter;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::state::AppState;
use crate::model::incident::IncidentKind;
use crate::store::id_lookup;
use crate::store::incidents::list::IncidentFilter;

/// Reads the filter from the query string. Ids of unknown services are ignored.
///
/// # Errors
///
/// 422 with all invalid parameters.
pub(super) async fn read(
    state: &AppState,
    caller: &Caller,
    query: &QueryString,
) -> Result<IncidentFilter, ApiError> {
    let mut errors = FieldErrors::default();
    let ids = read_service_filter(query, &mut errors);
    let resolved = query.boolean("resolved", &mut errors);
    let is_published = query.boolean("is_published", &mut errors);
    let kind = read_kind(query, &mut errors);
    let (from, to) = query.period(&mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let services = match ids {
        None => None,
        Some(ids) => {
            let reader = state.databases.main.reader();
            let known = id_lookup::services_by_id(reader, caller.visibility(), &ids).await?;
            Some(known.into_values().collect())
        }
    };
    Ok(IncidentFilter { of_service: None, services, resolved, is_published, kind, from, to })
}

fn read_kind(query: &QueryString, errors: &mut FieldErrors) -> Option<IncidentKind> {
    let kind = query.narrowing_value("kind", errors)?.parse().ok();
    if kind.is_none() {
        errors.add("kind", FieldRule::unknown_word(IncidentKind::WORDS));
    }
    kind
}
