//! What the document of a component shows of its service beside the days: response times, and, where the page shows them,
//! the locations that reach it and the agreed availability.

use crate::clock::Timestamp;
use crate::history_figures::location_results::{self, LocationResult};
use crate::history_figures::response_series::{self, ResponseSeries};
use crate::model::location::PUSH;
use crate::model::service::{NamedService, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::model::sla::budget::ErrorBudget;
use crate::model::sla::{SlaSubject, SlaTarget, SlaTerms};
use crate::model::statuspage::VisibleSections;
use crate::model::visibility::Visibility;
use crate::pages::state_source::StateSource;
use crate::service_router::service_states::ServiceStates as _;
use crate::sla_reports::{SlaReportError, SlaReportRequest, gather};
use crate::stats::sla::SlaSums;
use crate::stats::sla::calculation::SlaCalculation;
use crate::store::services::outlines;
use crate::store::{PageWindow, StoreError, sla_targets, tags};

/// Maximum number of targets of an organisation that are looked through.
const TARGETS_MAX: u64 = 1_000;

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
    let ranges = response_series::read(history, key.service, now).await.map_err(StoreError::from)?;
    let mut figures = ServiceFigures { ranges, ..ServiceFigures::default() };
    if key.shows_locations {
        let results = location_results::read(history, key.service, now).await.map_err(StoreError::from)?;
        figures.locations = locations(states, results);
    }
    if key.shows_agreements {
        figures.agreements = agreements(states, organisation, key.service, now).await?;
    }
    Ok(figures)
}

/// Returns the results of the present locations, with their names.
fn locations(states: &StateSource, results: Vec<LocationResult>) -> Vec<LocationFigure> {
    let figure = |result: LocationResult| {
        let name = states.location_name(&result.location).filter(|_| result.location != PUSH)?;
        Some(LocationFigure { name, has_reached: result.has_reached, at: result.at })
    };
    results.into_iter().filter_map(figure).collect()
}

/// Reads the availability of a service under each target that applies to it.
async fn agreements(
    states: &StateSource,
    organisation: i64,
    service: ServiceKey,
    now: Timestamp,
) -> Result<Vec<AgreementFigure>, SlaReportError> {
    let main = states.databases().main.reader();
    let visibility = Visibility::whole(organisation);
    let window = PageWindow { offset: 0, limit: TARGETS_MAX };
    let (targets, _) = sla_targets::list(main, visibility, window).await.map_err(StoreError::from)?;
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let found = outlines::by_keys(main, &[service]).await.map_err(StoreError::from)?;
    let Some(outline) = found.into_iter().next() else { return Ok(Vec::new()) };
    let mut carried = tags::of_services(main, &[service]).await.map_err(StoreError::from)?;
    let tags: Vec<i64> =
        carried.remove(&service).unwrap_or_default().into_iter().map(|tag| tag.row).collect();
    let mut figures = Vec::new();
    for target in targets.into_iter().filter(|target| applies(target, service, &tags)) {
        figures.push(agreement(states, target, &outline, now).await?);
    }
    Ok(figures)
}

/// Evaluates the present period of a target for one of its services.
async fn agreement(
    states: &StateSource,
    target: SlaTarget,
    service: &ServiceOutline,
    now: Timestamp,
) -> Result<AgreementFigure, SlaReportError> {
    let terms = target.terms.clone();
    let named = NamedService { key: service.key, id: service.id, name: service.name.clone() };
    let target = SlaTarget { subject: SlaSubject::Service(named), ..target };
    let judged = SlaCalculation::new(terms.clone(), terms.period.current(terms.zone, now), now);
    // Burn rates, which look back further, are not shown.
    let asked = SlaReportRequest { since: judged.period.from, judged, now };
    let visibility = Visibility::whole(service.organisation);
    let report = gather(states, visibility, target, asked).await?;
    Ok(AgreementFigure { terms, sums: report.sums, budget: report.judged.budget(report.sums, 1) })
}

/// Returns true if the target is about the service, which carries these tags.
fn applies(target: &SlaTarget, service: ServiceKey, tags: &[i64]) -> bool {
    match &target.subject {
        SlaSubject::Service(named) => named.key == service,
        SlaSubject::Tag(tag) => tags.contains(&tag.key),
    }
}
