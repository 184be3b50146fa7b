//! Reads what decides the status of a service, and explains it in the language of the reader.

use crate::console::visit::UserVisit;
use crate::engine::aggregator::ServiceSnapshot;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::Service;
use crate::store::history::checks::{CheckFilter, page};
use crate::store::history::{History, changes};
use crate::store::maintenances::of_service;
use crate::store::{StoreConnection, heartbeats, maintenances, services, unreachable_services};
use crate::verdict_texts::explanation::VerdictExplanation;
use crate::verdict_texts::facts::{AbsentOwner, RunningMaintenance, VerdictFacts};
use crate::verdict_texts::known_facts::KnownState;

/// Number of checks that are read for each location, so that the newest of each is among them while one location checks more
/// often than the others.
const CHECKS_EACH: usize = 8;

/// A service as its reader may see it, with its state in the engine.
pub(super) struct ExplainedService {
    pub(super) service: Service,
    /// `None` if the node that checks the service does not answer.
    pub(super) snapshot: Option<ServiceSnapshot>,
}

impl ExplainedService {
    /// Reads a service.
    ///
    /// # Errors
    /// 404 if the user does not see it.
    pub(super) async fn read(visit: &UserVisit, id: &str) -> Result<Self, ApiError> {
        let id: Id = id.parse().map_err(|_| ApiError::NotFound)?;
        let state = visit.visit.state();
        let visibility = visit.signed_in.caller.visibility();
        let service = services::find(main_of(visit), visibility, id).await?.ok_or(ApiError::NotFound)?;
        let snapshots = state.router.snapshots_at_once(&[service.address()]).await;
        Ok(Self { service, snapshot: snapshots.into_iter().flatten().next() })
    }

    /// Explains the status of the service.
    ///
    /// # Errors
    /// When a database fails.
    pub(super) async fn explain(&self, visit: &UserVisit) -> Result<VerdictExplanation, ApiError> {
        let (service, state) = (&self.service, visit.visit.state());
        let (caller, now) = (&visit.signed_in.caller, state.now());
        let assigned = service.settings.as_ref().and_then(|settings| settings.assigned_probes.as_deref());
        let locations = state.compiler.roster.outlooks(assigned, caller.organisation.key, now);
        let history: &History = &state.databases.history;
        let most = (CHECKS_EACH * locations.len().max(1)) as u64;
        let checks = page(history, service.key, &CheckFilter::default(), most).await?;
        let mut pings = heartbeats::of_services(main_of(visit), &[service.key]).await?;
        let mut unreachable = unreachable_services::unreachable(main_of(visit), &[service.key]).await?;
        let unreachable = unreachable.remove(&service.key);
        let known = KnownState {
            service,
            now,
            snapshot: self.snapshot.ok_or(AbsentOwner { since: None }),
            last_change: changes::latest(history.reader(), service.key).await?,
            locations: &locations,
            checks: &checks,
            pings: pings.remove(&service.key).map(|stored| stored.heartbeat).unwrap_or_default(),
            unreachable: unreachable.as_ref(),
            is_confined: caller.visibility().is_confined(),
            maintenance: running_maintenance(visit, service).await?,
        };
        Ok(VerdictExplanation::of(&VerdictFacts::from(&known), visit.texts.locale()))
    }
}

/// Returns the main database for reading.
fn main_of(visit: &UserVisit) -> &dyn StoreConnection {
    visit.visit.state().databases.main.reader()
}

/// Returns the maintenance in progress that began first. Its title is hidden from users who may not see it.
async fn running_maintenance(
    visit: &UserVisit,
    service: &Service,
) -> Result<Option<RunningMaintenance>, ApiError> {
    if maintenances::effect::covered(main_of(visit), &[service.key]).await?.is_empty() {
        return Ok(None);
    }
    let linked = of_service::linked(main_of(visit), service.key).await?;
    let running = linked.into_iter().map(|linked| linked.maintenance);
    let running = running.filter(|maintenance| maintenance.status == MaintenanceStatus::InProgress);
    let started_at = |maintenance: &crate::model::maintenance::Maintenance| {
        maintenance.actual_start.unwrap_or(maintenance.schedule.start)
    };
    let Some(running) = running.min_by_key(started_at) else { return Ok(None) };
    let caller = &visit.signed_in.caller;
    let is_seen = visit.may(Permission::MaintenancesView)
        && maintenances::find(main_of(visit), caller.visibility(), running.id).await?.is_some();
    let title = running.title.text(visit.texts.locale(), &caller.organisation.default_locale);
    let title = if is_seen { title.to_owned() } else { visit.texts.text("hidden-maintenance") };
    Ok(Some(RunningMaintenance { title, since: started_at(&running), until: running.schedule.end }))
}
