//! The reasons of outages, for incidents that are about to be written.
//!
//! The reasons are read before the transaction that writes the incidents, for the first services of a batch. They never
//! prevent an incident: if the history cannot be read in time, the incident has no reason. `model::outage_evidence`
//! interprets them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::timeout;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::dependency::Dependency;
use crate::model::history::StoredCheck;
use crate::model::incident::{AffectedService, IncidentTimelineEntry, WholeIncident};
use crate::model::location::LocationCode;
use crate::model::outage::Outage;
use crate::model::outage_evidence::{LastFailure, OutageEvidence, PARENTS_MAX, SERVICES_MAX};
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::service_router::ServiceRouter;
use crate::store::history::newest::{WantedResults, newest_of_services};
use crate::store::services::outlines;
use crate::store::{MainError, dependencies, outages};
use crate::texts::reason::{self, OutageReason};

/// Time limit for reading the history.
const PATIENCE: Duration = Duration::from_secs(1);
/// Number of intervals before the start of an outage from which on results are read: by then every location has checked.
const INTERVALS_BEFORE: i64 = 3;
/// Lower limit of the time before an outage from which on results are read, in milliseconds; the next constant is the
/// upper limit. With such limits the results of a bucket's other services are in the same range.
const SHORTEST_BEFORE_MS: i64 = 60_000;
const LONGEST_BEFORE_MS: i64 = 3_600_000;

/// The evidence for the outages of some services, by service.
#[derive(Debug, Default)]
pub(super) struct CollectedEvidence(HashMap<ServiceKey, OutageEvidence>);

/// Collects the evidence for outages that are in no incident yet, for the first services, as many as an incident shows.
pub(super) async fn collect(
    router: &ServiceRouter,
    among: &[ServiceKey],
) -> Result<CollectedEvidence, MainError> {
    let main = router.databases.main.reader();
    let mut untold = outages::of_services(main, among).await?;
    untold.retain(Outage::is_unreported);
    untold.sort_by_key(|outage| (outage.began_at, outage.service));
    untold.truncate(SERVICES_MAX);
    if untold.is_empty() {
        return Ok(CollectedEvidence::default());
    }
    let keys: Vec<ServiceKey> = untold.iter().map(|outage| outage.service).collect();
    let known = outlines::by_keys(main, &keys).await?;
    let known: HashMap<ServiceKey, ServiceOutline> = known.into_iter().map(|one| (one.key, one)).collect();
    let parents = dependencies::of_services(main, &keys).await?;
    let checks = checks_of(router, &untold, &known).await;
    let found = untold.iter().filter_map(|outage| {
        let service = known.get(&outage.service)?;
        let checks = checks.get(&service.key).map_or(&[] as &[StoredCheck], Vec::as_slice);
        let evidence = OutageEvidence {
            since: outage.began_at.ms(),
            target: service.target.clone(),
            depends_on: names(parents.get(&service.key).map_or(&[], Vec::as_slice)),
            last_failure: LastFailure::from_checks(checks, |code| location_name(router, code)),
        };
        Some((service.key, evidence))
    });
    Ok(CollectedEvidence(found.collect()))
}

/// Returns the newest checks of these services; empty if the history cannot be read in time.
async fn checks_of(
    router: &ServiceRouter,
    untold: &[Outage],
    known: &HashMap<ServiceKey, ServiceOutline>,
) -> HashMap<ServiceKey, Vec<StoredCheck>> {
    let wanted = untold.iter().map(|outage| {
        let settings = known.get(&outage.service).and_then(|service| service.settings.as_ref());
        let interval_ms = settings.map_or(0, |settings| i64::from(settings.interval_seconds) * 1_000);
        let before_ms = (INTERVALS_BEFORE * interval_ms).clamp(SHORTEST_BEFORE_MS, LONGEST_BEFORE_MS);
        WantedResults { service: outage.service, since: outage.began_at.plus_ms(-before_ms) }
    });
    let wanted: Vec<WantedResults> = wanted.collect();
    match timeout(PATIENCE, newest_of_services(router.databases.history.reader(), &wanted)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot read the history; writing incidents without a reason");
            HashMap::new()
        }
        Err(_) => {
            tracing::warn!(
                limit_seconds = PATIENCE.as_secs(),
                "history not read within the time limit; writing incidents without a reason"
            );
            HashMap::new()
        }
    }
}

fn names(parents: &[Dependency]) -> Vec<String> {
    let name = |parent: &Dependency| match parent {
        Dependency::Service(service) => service.name.clone(),
        Dependency::Tag { label, .. } => label.clone(),
    };
    parents.iter().take(PARENTS_MAX).map(name).collect()
}

/// Returns the name of a location, or its code if it is unknown; `None` for pings, which come from no location.
fn location_name(router: &ServiceRouter, code: &str) -> Option<String> {
    if code == LocationCode::push().as_str() {
        return None;
    }
    let known = router.compiler.roster.find(code);
    Some(known.map_or_else(|| code.to_owned(), |known| known.location.name.clone()))
}

impl CollectedEvidence {
    /// Adds the evidence of these outages to the affected services of an incident, as far as there is room. Returns the services
    /// with new evidence.
    pub(super) fn give_to(&self, affected: &mut [AffectedService], outages: &[Outage]) -> Vec<ServiceKey> {
        let mut new: HashMap<ServiceKey, OutageEvidence> = HashMap::new();
        for outage in outages {
            if let Some(evidence) = self.0.get(&outage.service) {
                let since = outage.began_at.ms();
                new.insert(outage.service, OutageEvidence { since, ..evidence.clone() });
            }
        }
        if new.is_empty() {
            return Vec::new();
        }
        let mut room =
            SERVICES_MAX.saturating_sub(affected.iter().filter(|row| row.evidence.is_some()).count());
        let mut given = Vec::new();
        for row in affected {
            let has_room = row.evidence.is_some() || room > 0;
            let Some(mut evidence) = new.remove(&row.service).filter(|_| has_room) else { continue };
            if row.evidence.is_none() {
                // The incident may have been opened for a lesser trouble that started earlier.
                evidence.since = evidence.since.min(row.added_at.ms());
            }
            if row.evidence.replace(Box::new(evidence)).is_none() {
                room -= 1;
            }
            given.push(row.service);
        }
        given
    }
}

/// Returns the internal entry with the reasons of these services, for an incident with this number of outages; `None` without
/// new outages or known reasons.
pub(super) fn internal_entry(
    whole: &WholeIncident,
    given: &[ServiceKey],
    impact_changes: usize,
    organisation: &Organisation,
    now: Timestamp,
) -> Option<IncidentTimelineEntry> {
    if impact_changes == 0 {
        return None;
    }
    let reasons = whole.services.iter().filter_map(|row| {
        let evidence = row.evidence.as_deref().filter(|_| given.contains(&row.service))?;
        Some(OutageReason { service: &row.name, evidence, recovered_at: None, at: now.ms() })
    });
    let message = reason::entry(&reasons.collect::<Vec<_>>(), impact_changes, organisation)?;
    let (status, created_at) = (whole.incident.status, now);
    Some(IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers: false, created_at })
}
