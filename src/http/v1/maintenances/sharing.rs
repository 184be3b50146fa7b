//! Maintenances that concern more services than a confined caller sees.
//!
//! Such a caller may read these maintenances, and set which of the visible services they cover. Changes that would concern
//! other services are refused, and invisible links are kept.

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::model::maintenance::MaintenanceKey;
use crate::model::service::ServiceKey;
use crate::store::StoreConnection;
use crate::store::maintenances::links;

/// The part of a maintenance that the caller does not see; empty for an unscoped caller.
#[derive(Debug, Default)]
pub(super) struct HiddenMaintenancePart {
    pub(super) services: Vec<ServiceKey>,
    pub(super) statuspages: Vec<i64>,
    /// Database keys of the pages that the caller sees.
    pub(super) seen_pages: Vec<i64>,
}

impl HiddenMaintenancePart {
    /// Reads the part of a maintenance that the caller does not see.
    pub(super) async fn of(
        connection: &dyn StoreConnection,
        caller: &Caller,
        maintenance: MaintenanceKey,
    ) -> Result<Self, ApiError> {
        let visibility = caller.visibility();
        if !visibility.is_confined() {
            return Ok(Self::default());
        }
        let seen = links::services_of(connection, visibility, &[maintenance]).await?;
        let seen: Vec<ServiceKey> = seen.values().flatten().map(|service| service.key).collect();
        let mut services = links::covered_by(connection, maintenance).await?;
        services.retain(|service| !seen.contains(service));
        let seen_pages = links::statuspages_of(connection, visibility, maintenance).await?;
        let seen_pages: Vec<i64> = seen_pages.into_iter().map(|page| page.key).collect();
        let mut statuspages = links::chosen_for(connection, maintenance).await?;
        statuspages.retain(|page| !seen_pages.contains(page));
        Ok(Self { services, statuspages, seen_pages })
    }

    /// Checks that the maintenance does not concern invisible services.
    ///
    /// # Errors
    ///
    /// 403 if it does.
    pub(super) fn refuse_shared(&self) -> Result<(), ApiError> {
        if self.services.is_empty() { Ok(()) } else { Err(ApiError::Shared("maintenance")) }
    }
}
