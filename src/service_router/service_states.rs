//! How long results support the statuses of services: the part of their present state that reports need.

use crate::clock::Timestamp;
use crate::model::service::ServiceAddress;
use crate::service_router::ServiceRouter;
use crate::service_router::peers::OwnersUnavailable;
use crate::store::Databases;

/// A source of the data of reports about services.
pub trait ServiceStates {
    /// Returns the databases of the services.
    fn databases(&self) -> &Databases;

    /// Returns the times until which results support the last statuses of these services, in their order; `None` without
    /// results.
    ///
    /// # Errors
    /// [`OwnersUnavailable`] when an owner does not answer in time.
    fn measured_until(
        &self,
        services: &[ServiceAddress],
    ) -> impl Future<Output = Result<Vec<Option<Timestamp>>, OwnersUnavailable>>;
}

impl ServiceStates for ServiceRouter {
    fn databases(&self) -> &Databases {
        &self.databases
    }

    async fn measured_until(
        &self,
        services: &[ServiceAddress],
    ) -> Result<Vec<Option<Timestamp>>, OwnersUnavailable> {
        let snapshots = self.snapshots(services).await?;
        Ok(snapshots.into_iter().map(|snapshot| snapshot.measured_until).collect())
    }
}
