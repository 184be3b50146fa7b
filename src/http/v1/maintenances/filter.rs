//! Filters of a list of maintenances (contract 4.11.4). The form of ids is checked first, then the ids are looked up.

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::linked_ids::read_service_filter;
use crate::http::kit::query::QueryString;
use crate::id::Id;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::visibility::Visibility;
use crate::store::maintenances::filter::MaintenanceFilter;
use crate::store::{StoreConnection, id_lookup};

/// A filter whose ids are not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaintenanceQuery {
    filter: MaintenanceFilter,
    services: Option<Vec<Id>>,
}

/// Reads the query string.
///
/// # Errors
///
/// 422 with all invalid parameters.
pub(super) fn read(query: &QueryString, covering: Option<ServiceKey>) -> Result<MaintenanceQuery, ApiError> {
    let mut errors = FieldErrors::default();
    let services = read_service_filter(query, &mut errors);
    let statuses = query.words("status", MaintenanceStatus::WORDS, &mut errors);
    let (from, to) = query.period(&mut errors);
    let filter = MaintenanceFilter { statuses, covering, covering_any: None, from, to };
    errors.into_result(MaintenanceQuery { filter, services }).map_err(ApiError::Fields)
}

impl MaintenanceQuery {
    /// Looks up the ids, and ignores those of invisible services.
    pub(super) async fn resolve(
        self,
        connection: &dyn StoreConnection,
        visibility: Visibility,
    ) -> Result<MaintenanceFilter, ApiError> {
        let Some(ids) = self.services else { return Ok(self.filter) };
        let known = id_lookup::services_by_id(connection, visibility, &ids).await?;
        Ok(MaintenanceFilter { covering_any: Some(known.into_values().collect()), ..self.filter })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 4.11.4, 1.7: queries, and the parameter that is refused.
    #[rstest]
    #[case("", None)]
    #[case("status=&from=&to=&service_ids=", None)]
    #[case("status=scheduled,in_progress&status[]=completed&status[]=cancelled", None)]
    #[case("status=scheduled,running", Some("status.1"))]
    #[case("status[]=Scheduled", Some("status.0"))]
    #[case("service_ids=x", Some("service_ids.0"))]
    #[case("from=soon", Some("from"))]
    #[case("to=soon", Some("to"))]
    #[case("from=2026-11-20&to=2026-11-20", Some("to"))]
    #[case("to[]=2026-11-20", Some("to"))]
    fn a_filter_is_read_or_refused(#[case] query: &str, #[case] refused: Option<&str>) {
        let found = match read(&QueryString::parse(query), None) {
            Err(ApiError::Fields(errors)) => errors.iter().next().map(|(path, _)| path.to_owned()),
            _ => None,
        };
        assert_eq!(found.as_deref(), refused);
    }
}
