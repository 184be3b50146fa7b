//! What the document of a component shows of its service beside the days: response times, and, where the page shows them,
//! the locations that reach it and the agreed availability.

use std::time::Duration;

use tokio::time::timeout;

use crate::clock::Timestamp;
use crate::history_figures::location_results::{self, LocationResult};
use crate::history_figures::response_series::{self, RANGES, ResponseSeries};
use crate::model::location::PUSH;
use crate::model::service::ServiceKey;
use crate::model::sla::budget::ErrorBudget;
use crate::model::sla::{SlaTarget, SlaTerms};
use crate::model::statuspage::VisibleSections;
use crate::model::visibility::Visibility;
use crate::pages::state_source::StateSource;
use crate::service_router::service_states::ServiceStates as _;
use crate::sla_reports::{SlaReportError, SlaReportRequest, gather};
use crate::stats::sla::SlaSums;
use crate::stats::sla::calculation::SlaCalculation;
use crate::store::services::outlines;
use crate::store::{StoreError, sla_targets};

/// Maximum number of targets that are shown.
const TARGETS_MAX: u64 = 10;
/// Longest wait for the agreed availabilities, without which the other figures are shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The service whose figures are read, and which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FiguresKey {
    pub(super) service: ServiceKey,
    pub(super) shows_locations: bool,
    pub(super) shows_agreements: bool,
}

/// Figures of a service as they were read once.
#[derive(Debug, Default)]
pub(super) struct ServiceFigures {
    pub(super) ranges: Vec<ResponseSeries>,
    /// Locations by name.
    pub(super) locations: Vec<LocationFigure>,
    pub(super) agreements: Vec<AgreementFigure>,
}

/// The newest check of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocationFigure {
    /// Display name.
    pub(super) name: String,
    pub(super) has_reached: bool,
    pub(super) at: Timestamp,
}

/// An agreed availability of the service in the present period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgreementFigure {
    pub(super) terms: SlaTerms,
    pub(super) sums: SlaSums,
    pub(super) budget: ErrorBudget,
}

impl FiguresKey {
    /// The figures of a service on a page with these parts.
    pub(super) const fn of(service: ServiceKey, shows: VisibleSections) -> Self {
        Self { service, shows_locations: shows.locations, shows_agreements: shows.sla }
    }
}

/// Reads the figures of a service of an organisation.
///
/// # Errors
/// When a database fails, or the owner of the service does not answer.
pub(super) async fn read(
    states: &StateSource,
    organisation: i64,
    key: FiguresKey,
    now: Timestamp,
) -> Result<ServiceFigures, SlaReportError> {
    let history = &states.databases().history;
    let ranges = response_series::read(history, key.service, &RANGES, now).await.map_err(StoreError::from)?;
    let mut figures = ServiceFigures { ranges, ..ServiceFigures::default() };
    if key.shows_locations {
        let results = location_results::read(history, key.service, now).await.map_err(StoreError::from)?;
        figures.locations = locations(states, key.service, results).await?;
    }
    if key.shows_agreements {
        match timeout(PATIENCE, agreements(states, organisation, key.service, now)).await {
            Ok(found) => figures.agreements = found?,
            Err(_) => tracing::warn!("reading the agreed availability of a component takes too long"),
        }
    }
    Ok(figures)
}

/// Returns the results of the locations that check the service at present, with their names.
async fn locations(
    states: &StateSource,
    service: ServiceKey,
    results: Vec<LocationResult>,
) -> Result<Vec<LocationFigure>, StoreError> {
    let outline = outlines::by_keys(states.databases().main.reader(), &[service]).await?.pop();
    let assigned = outline.and_then(|outline| outline.settings).and_then(|settings| settings.assigned_probes);
    let is_used = |code: &String| {
        code != PUSH && assigned.as_ref().is_none_or(|assigned| assigned.iter().any(|one| one == code))
    };
    let figure = |result: LocationResult| {
        let name = states.location_name(&result.location).filter(|_| is_used(&result.location))?;
        Some(LocationFigure { name, has_reached: result.has_reached, at: result.at })
    };
    Ok(results.into_iter().filter_map(figure).collect())
}

/// Reads the availability of a service under each target for it alone. A target for the services of a tag is about all of
/// them together, so it says nothing about one.
async fn agreements(
    states: &StateSource,
    organisation: i64,
    service: ServiceKey,
    now: Timestamp,
) -> Result<Vec<AgreementFigure>, SlaReportError> {
    let main = states.databases().main.reader();
    let targets = sla_targets::of_service(main, organisation, service, TARGETS_MAX).await;
    let mut figures = Vec::new();
    for target in targets.map_err(StoreError::from)? {
        figures.push(agreement(states, target, now).await?);
    }
    Ok(figures)
}

/// Evaluates the present period of a target.
async fn agreement(
    states: &StateSource,
    target: SlaTarget,
    now: Timestamp,
) -> Result<AgreementFigure, SlaReportError> {
    let (terms, visibility) = (target.terms.clone(), Visibility::whole(target.organisation));
    let judged = SlaCalculation::new(terms.clone(), terms.period.current(terms.zone, now), now);
    // Burn rates, which look back further, are not shown.
    let asked = SlaReportRequest { since: judged.period.from, judged, now };
    let report = gather(states, visibility, target, asked).await?;
    Ok(AgreementFigure { terms, sums: report.sums, budget: report.judged.budget(report.sums, 1) })
}
