//! Notices about services for other reasons than being down: a certificate near its expiry, a missed heartbeat.
//!
//! The notices are derived from the outages of such services; services under maintenance and unreachable services get no
//! new notices.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::model::access::Organisation;
use crate::model::check::{CheckFailure, CheckStatus, CheckType, ErrorCode};
use crate::model::incident::Severity;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::model::outage::Outage;
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::notices::NoticeReconciler;
use crate::notices::phrase::NoticePhrase;
use crate::store::history::checks::{self, CheckFilter};
use crate::store::maintenances::effect::covered;
use crate::store::services::outlines;
use crate::store::{HistoryError, MainError, StoreError, notices, organisations, outages};
use crate::texts::GeneratedText;

/// The condition field with the days until a certificate expires.
const DAYS_LEFT: &str = "metadata.days_until_expiry";

/// Compares the missed heartbeats with the open notices.
pub(super) async fn compare_heartbeats(parts: &NoticeReconciler) -> Result<(), StoreError> {
    let known = LastingNotices::read(parts, NotificationEvent::HeartbeatMissed).await?;
    let mut missed = known.silent();
    for FailingService { service, owner } in failing(parts, CheckType::Heartbeat).await? {
        missed.push(heartbeat(&service, &owner));
    }
    let back = known.over("heartbeat-back", "heartbeat-back-text");
    parts.reconcile(&missed, &known.lasting, back).await;
    Ok(())
}

/// Compares the certificates of failing services with the open notices.
pub(super) async fn compare_certificates(parts: &NoticeReconciler) -> Result<(), StoreError> {
    let known = LastingNotices::read(parts, NotificationEvent::CertificateExpiring).await?;
    let mut ending = known.silent();
    for FailingService { service, owner } in failing(parts, CheckType::Ssl).await? {
        // A failure for another reason says nothing about the certificate.
        let found = certificate(parts, &service, &owner).await?;
        ending.extend(found.or_else(|| known.of(service.key).cloned()));
    }
    let renewed = known.over("certificate-renewed", "certificate-renewed-text");
    parts.reconcile(&ending, &known.lasting, renewed).await;
    Ok(())
}

/// The open notices of an event, and their services.
struct LastingNotices {
    lasting: Vec<Notice>,
    services: HashMap<ServiceKey, ServiceOutline>,
    covered: HashSet<ServiceKey>,
    unknown: HashSet<ServiceKey>,
}

impl LastingNotices {
    async fn read(parts: &NoticeReconciler, event: NotificationEvent) -> Result<Self, MainError> {
        let main = parts.router.databases.main.reader();
        let lasting = notices::lasting_of(main, event).await?;
        let keys: Vec<ServiceKey> = lasting.iter().filter_map(|notice| notice.trouble.service).collect();
        let found = outlines::by_keys(main, &keys).await?;
        let covered = covered(main, &keys).await?;
        let outages = outages::of_services(main, &keys).await?;
        let unknown =
            outages.iter().filter(|outage| !is_certain(outage)).map(|outage| outage.service).collect();
        let services = found.into_iter().map(|service| (service.key, service)).collect();
        Ok(Self { lasting, services, covered, unknown })
    }

    /// Returns the trouble in a service's open notice.
    fn of(&self, service: ServiceKey) -> Option<&NoticeCondition> {
        let about = |notice: &&Notice| notice.trouble.service == Some(service);
        self.lasting.iter().find(about).map(|notice| &notice.trouble)
    }

    /// Returns the troubles of open notices about silenced services, which stay unchanged.
    fn silent(&self) -> Vec<NoticeCondition> {
        let is_silent = |key: &ServiceKey| {
            self.unknown.contains(key)
                || self.services.get(key).is_some_and(|service| is_silent(service, &self.covered))
        };
        let lasting = self.lasting.iter().map(|notice| &notice.trouble);
        lasting.filter(|trouble| trouble.service.as_ref().is_some_and(is_silent)).cloned().collect()
    }

    /// Returns the texts of a closed notice.
    fn over(&self, title: &'static str, text: &'static str) -> impl Fn(&Notice, &Organisation) -> NoticeText {
        move |notice, organisation| {
            let service = notice.trouble.service.and_then(|service| self.services.get(&service));
            let phrase = match service {
                Some(service) => NoticePhrase {
                    title: GeneratedText::of_service(title, &service.name),
                    text: GeneratedText::new(text),
                },
                None => NoticePhrase {
                    title: GeneratedText::about("service-gone", &notice.trouble.words.title),
                    text: GeneratedText::new("service-gone-text"),
                },
            };
            phrase.words(organisation)
        }
    }
}

/// A failing service, and the organisation that owns it.
struct FailingService {
    service: ServiceOutline,
    owner: Organisation,
}

/// Returns the services of a type that fail and are not silenced.
async fn failing(parts: &NoticeReconciler, check_type: CheckType) -> Result<Vec<FailingService>, MainError> {
    let main = parts.router.databases.main.reader();
    let mut failing = outages::services_of(main, check_type).await?;
    let keys: Vec<ServiceKey> = failing.iter().map(|service| service.key).collect();
    let covered = covered(main, &keys).await?;
    failing.retain(|service| !is_silent(service, &covered));
    let owners: BTreeSet<i64> = failing.iter().map(|service| service.organisation).collect();
    let owners = organisations::with_keys(main, owners).await?;
    let owners: HashMap<i64, Organisation> = owners.into_iter().map(|owner| (owner.key, owner)).collect();
    let of_owner = |service: ServiceOutline| {
        let owner = owners.get(&service.organisation)?.clone();
        Some(FailingService { service, owner })
    };
    Ok(failing.into_iter().filter_map(of_owner).collect())
}

/// Returns true if the trouble is the service's own: measured, and not caused by a dependency.
const fn is_certain(outage: &Outage) -> bool {
    outage.is_measured && outage.unreachable_since.is_none() && outage.held_until.is_none()
}

/// Returns true while a service is under maintenance, or people have set its status.
fn is_silent(service: &ServiceOutline, covered: &HashSet<ServiceKey>) -> bool {
    covered.contains(&service.key) || service.pause.is_some() || service.status_override.is_some()
}

/// Returns the trouble of a service's certificate, if that is the reason of its failure.
async fn certificate(
    parts: &NoticeReconciler,
    service: &ServiceOutline,
    organisation: &Organisation,
) -> Result<Option<NoticeCondition>, HistoryError> {
    let bad =
        CheckFilter { statuses: vec![CheckStatus::Down, CheckStatus::Degraded], ..CheckFilter::default() };
    let newest = checks::page(&parts.router.databases.history, service.key, &bad, 1).await?;
    let failure = newest.into_iter().next().and_then(|check| check.measurement.failure);
    let Some(failure) = failure.filter(|failure| is_about_end(failure)) else { return Ok(None) };
    let has_ended = failure.code == ErrorCode::TlsExpired;
    let title = if has_ended { "certificate-ended" } else { "certificate-expiring" };
    let text = GeneratedText::new("certificate-expiring-text").with_note(&failure.message);
    let phrase = NoticePhrase { title: GeneratedText::of_service(title, &service.name), text };
    Ok(Some(NoticeCondition {
        subject: subject(service, NotificationEvent::CertificateExpiring),
        severity: if has_ended { Severity::Critical } else { Severity::Minor },
        words: phrase.words(organisation),
        service: Some(service.key),
    }))
}

fn is_about_end(failure: &CheckFailure) -> bool {
    match failure.code {
        ErrorCode::TlsExpired => true,
        ErrorCode::ConditionFailed => failure.message.contains(DAYS_LEFT),
        _ => false,
    }
}

fn heartbeat(service: &ServiceOutline, organisation: &Organisation) -> NoticeCondition {
    let phrase = NoticePhrase {
        title: GeneratedText::of_service("heartbeat-missed", &service.name),
        text: GeneratedText::new("heartbeat-missed-text"),
    };
    NoticeCondition {
        subject: subject(service, NotificationEvent::HeartbeatMissed),
        severity: Severity::Major,
        words: phrase.words(organisation),
        service: Some(service.key),
    }
}

fn subject(service: &ServiceOutline, event: NotificationEvent) -> NoticeSubject {
    NoticeSubject { organisation: service.organisation, event, name: service.id.to_string() }
}
