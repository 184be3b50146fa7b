//! Reads and combines the data for the report about a period of an SLA target, for every output format and for
//! notifications. The arithmetic is in `stats::sla`.

use std::collections::HashMap;

use crate::clock::Timestamp;
use crate::model::service::ServiceAddress;
use crate::model::service_outline::ServiceOutline;
use crate::model::service_window::ServiceWindow;
use crate::model::sla::burn::BurnRateReading;
use crate::model::sla::{SlaSubject, SlaTarget};
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::service_router::peers::OwnersUnavailable;
use crate::service_router::service_states::ServiceStates;
use crate::stats::sla::calculation::SlaCalculation;
use crate::stats::sla::{SlaHistory, SlaInterval, SlaSums, runs, sums};
use crate::store::history::changes;
use crate::store::incidents::downtime::{self, IncidentDowntime};
use crate::store::services::outlines;
use crate::store::{PageWindow, StoreError, windows};

/// Maximum number of services in one report.
pub const SERVICES_MAX: u64 = 1_000;

/// The report about an SLA target over a period.
#[derive(Debug)]
pub struct SlaReport {
    /// The target that the report is about.
    pub target: SlaTarget,
    /// The period, and how much of it has passed.
    pub judged: SlaCalculation,
    /// The time at which the report was made.
    pub made_at: Timestamp,
    /// Reports about the services of the target, oldest service first.
    pub services: Vec<ServiceReport>,
    /// The sums over all services.
    pub sums: SlaSums,
    /// The readings of the burn-rate rules; `None` for a period that is over.
    pub burn: Option<[BurnRateReading; 3]>,
}

/// The report about one service over the period.
#[derive(Debug)]
pub struct ServiceReport {
    /// The service that the report is about.
    pub service: ServiceOutline,
    /// Sums of the service's agreed time.
    pub sums: SlaSums,
    /// The agreed time of the service, divided into intervals of equal state, oldest first.
    pub runs: Vec<SlaInterval>,
    /// The incidents that count as downtime of the service.
    pub incidents: Vec<IncidentDowntime>,
}

/// The reason why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SlaReportError {
    /// A database has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The owner of a service does not answer.
    #[error(transparent)]
    Unanswered(#[from] OwnersUnavailable),
    /// More than [`SERVICES_MAX`] services carry the tag of the target.
    #[error("more than {SERVICES_MAX} services carry the tag")]
    TooManyServices,
}

/// The request for a report.
#[derive(Clone, Debug)]
pub struct SlaReportRequest {
    /// The period to report about.
    pub judged: SlaCalculation,
    /// The time before which nothing is read; earlier time counts as no data.
    pub since: Timestamp,
    /// The present time; time after it is not judged.
    pub now: Timestamp,
}

/// Creates the report of a target.
///
/// # Errors
/// When a database fails, the owner of a service does not answer, or there are too many services.
pub async fn gather(
    source: &impl ServiceStates,
    visibility: Visibility,
    target: SlaTarget,
    SlaReportRequest { judged, since, now }: SlaReportRequest,
) -> Result<SlaReport, SlaReportError> {
    let main = source.databases().main.reader();
    let found = subjects(source, visibility, &target.subject).await?;
    let report_range = TimeRange { from: since, to: judged.until };
    let keys: Vec<i64> = found.iter().map(|service| service.key).collect();
    let mut decided: HashMap<i64, Vec<ServiceWindow>> = HashMap::new();
    for window in windows::since(main, &keys, report_range.from).await.map_err(StoreError::from)? {
        decided.entry(window.service).or_default().push(window);
    }
    let counted =
        downtime::downtime_of(main, visibility, &keys, report_range).await.map_err(StoreError::from)?;
    let addresses: Vec<ServiceAddress> = found.iter().map(ServiceOutline::address).collect();
    let measured = source.measured_until(&addresses).await?;
    let (mut reports, mut all, mut spans_of_all) = (Vec::new(), SlaSums::default(), Vec::new());
    let history = source.databases().history.reader();
    for (service, measured_until) in found.into_iter().zip(measured) {
        let changes =
            changes::since(history, service.key, report_range.from).await.map_err(StoreError::from)?;
        let incidents: Vec<IncidentDowntime> =
            counted.iter().filter(|counted| counted.service == service.key).copied().collect();
        let past = SlaHistory {
            changes: &changes,
            measured_until: measured_until.unwrap_or(report_range.from),
            windows: decided.get(&service.key).map_or(&[], Vec::as_slice),
            incidents: &incidents.iter().map(|counted| counted.time).collect::<Vec<_>>(),
        };
        let spans = judged.spans(&past);
        let (sums, runs) = (sums(&spans, judged.so_far()), runs(&spans, judged.so_far()));
        all.merge(sums);
        let within = |counted: &IncidentDowntime| counted.time.to > judged.period.from;
        let incidents = incidents.into_iter().filter(within).collect();
        reports.push(ServiceReport { service, sums, runs, incidents });
        spans_of_all.push(spans);
    }
    let burn = (judged.until == now).then(|| judged.burn(&spans_of_all));
    Ok(SlaReport { target, judged, made_at: now, services: reports, sums: all, burn })
}

/// Returns the services of a target that are visible to the caller.
async fn subjects(
    source: &impl ServiceStates,
    visibility: Visibility,
    subject: &SlaSubject,
) -> Result<Vec<ServiceOutline>, SlaReportError> {
    let main = source.databases().main.reader();
    match subject {
        SlaSubject::Service(service) => {
            let found = outlines::find(main, visibility, service.id).await.map_err(StoreError::from)?;
            Ok(found.into_iter().collect())
        }
        SlaSubject::Tag(tag) => {
            let window = PageWindow { offset: 0, limit: SERVICES_MAX };
            let found = outlines::with_tag(main, visibility, tag.key, window).await;
            let (found, total) = found.map_err(StoreError::from)?;
            if total > SERVICES_MAX { Err(SlaReportError::TooManyServices) } else { Ok(found) }
        }
    }
}
