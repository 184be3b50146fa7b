//! Where pages get the present states of services from: from the engine nodes that watch them, or from the recorded status
//! changes of a server that does not run.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::history_figures::service_days::MeasuredService;
use crate::model::history::StatusChange;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::model::verdict::Verdict;
use crate::service_router::ServiceRouter;
use crate::service_router::peers::OwnersUnavailable;
use crate::service_router::service_states::ServiceStates;
use crate::store::Databases;

/// A source of the states of services. Cheap to clone.
#[derive(Clone, Debug)]
pub enum StateSource {
    /// The owners of the services, which hold the current verdicts.
    Owners(Box<ServiceRouter>),
    /// The states that were recorded last.
    Recorded(Box<RecordedStates>),
}

/// The states that were recorded last, for pages that are shown without a running server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RecordedStates {
    /// The databases of the services.
    pub databases: Databases,
    /// The display names of locations, by code.
    pub locations: Arc<HashMap<String, String>>,
    /// The last status change of each service that has one.
    pub changes: Arc<HashMap<ServiceKey, StatusChange>>,
    /// Time of the last measurement; results support the last status of every service until then.
    pub measured_until: Timestamp,
}

/// The states of services at one moment.
#[derive(Debug, Default)]
pub(super) struct PresentStates {
    /// The measured verdicts.
    pub(super) verdicts: HashMap<ServiceKey, Verdict>,
    /// The facts for reading their days.
    pub(super) measured: HashMap<ServiceKey, MeasuredService>,
}

impl ServiceStates for StateSource {
    fn databases(&self) -> &Databases {
        match self {
            Self::Owners(router) => &router.databases,
            Self::Recorded(recorded) => &recorded.databases,
        }
    }

    async fn measured_until(
        &self,
        services: &[ServiceAddress],
    ) -> Result<Vec<Option<Timestamp>>, OwnersUnavailable> {
        match self {
            Self::Owners(router) => router.measured_until(services).await,
            Self::Recorded(recorded) => Ok(vec![Some(recorded.measured_until); services.len()]),
        }
    }
}

impl StateSource {
    /// Returns the display name of a location; `None` if the location is not in use.
    pub(super) fn location_name(&self, code: &str) -> Option<String> {
        match self {
            Self::Owners(router) => Some(router.compiler.roster.find(code)?.location.name.clone()),
            Self::Recorded(recorded) => recorded.locations.get(code).cloned(),
        }
    }

    /// Returns the states of these services. A service whose owner cannot be reached at once is left out, so that the
    /// visitor does not have to wait.
    pub(super) async fn present(&self, services: &[ServiceOutline]) -> PresentStates {
        let mut states = PresentStates::default();
        match self {
            Self::Owners(router) => {
                let addresses: Vec<_> = services.iter().map(ServiceOutline::address).collect();
                let snapshots = router.snapshots_at_once(&addresses).await;
                for (service, snapshot) in services.iter().zip(snapshots) {
                    let Some(snapshot) = snapshot else { continue };
                    // Without results nothing supports a status.
                    let measured_until = snapshot.measured_until.unwrap_or(Timestamp::from_ms(0));
                    states.add(MeasuredService {
                        key: service.key,
                        verdict: snapshot.verdict,
                        measured_until,
                    });
                }
            }
            Self::Recorded(recorded) => {
                let measured_until = recorded.measured_until;
                for key in services.iter().map(|service| service.key) {
                    let Some(last) = recorded.changes.get(&key) else { continue };
                    states.add(MeasuredService { key, verdict: last.to.verdict(), measured_until });
                }
            }
        }
        states
    }
}

impl PresentStates {
    fn add(&mut self, service: MeasuredService) {
        self.verdicts.insert(service.key, service.verdict);
        self.measured.insert(service.key, service);
    }
}
