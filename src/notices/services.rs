//! Services that say something beside being down: a certificate near its end, a heartbeat that was missed.
//!
//! What is wrong is what the outages of such services say; what a maintenance covers, or what cannot be reached because of
//! something else, is silent.

use std::collections::{HashMap, HashSet};

use crate::model::access::Organisation;
use crate::model::check::{CheckStatus, CheckType, ErrorCode, Failure};
use crate::model::incident::Severity;
use crate::model::notice::{Notice, Source, Trouble, Words};
use crate::model::notification::Event;
use crate::model::service::{Service, ServiceKey};
use crate::notices::Notices;
use crate::notices::phrase::Phrase;
use crate::store::history::checks::{self, CheckFilter};
use crate::store::maintenances::effect::covered;
use crate::store::{HistoryError, MainError, StoreError, notices, organisations, outages, services};
use crate::texts::Text;

/// The condition field that says how many days a certificate has left.
const DAYS_LEFT: &str = "metadata.days_until_expiry";

/// Compares the services that are in trouble with the notices that last.
pub(super) async fn compare(parts: &Notices) -> Result<(), StoreError> {
    let main = parts.announcer.databases.main.reader();
    let failing = failing(parts).await?;
    let owners: HashSet<i64> = failing.iter().map(|service| service.organisation).collect();
    let owners = organisations::with_keys(main, owners).await?;
    let known: HashMap<i64, Organisation> = owners.into_iter().map(|owner| (owner.key, owner)).collect();
    let (mut certificates, mut heartbeats) = (Vec::new(), Vec::new());
    let lasting = notices::lasting_of(main, Event::CertificateExpiring).await?;
    for service in &failing {
        let Some(organisation) = known.get(&service.organisation) else { continue };
        match service.check_type {
            CheckType::Ssl => certificates.extend(certificate(parts, service, organisation).await?),
            _ => heartbeats.push(heartbeat(service, organisation)),
        }
    }
    let renewed = named(names(parts, &lasting).await?, "certificate-renewed", "certificate-renewed-text");
    parts.reconcile(&certificates, &lasting, renewed).await?;
    let lasting = notices::lasting_of(main, Event::HeartbeatMissed).await?;
    let back = named(names(parts, &lasting).await?, "heartbeat-back", "heartbeat-back-text");
    parts.reconcile(&heartbeats, &lasting, back).await?;
    Ok(())
}

/// The services of these types that are in trouble and may be spoken of.
async fn failing(parts: &Notices) -> Result<Vec<Service>, MainError> {
    let main = parts.announcer.databases.main.reader();
    let mut failing = outages::services_of(main, &[CheckType::Ssl, CheckType::Heartbeat]).await?;
    let keys: Vec<ServiceKey> = failing.iter().map(|service| service.key).collect();
    let silent = covered(main, &keys).await?;
    failing.retain(|service| {
        !silent.contains(&service.key) && service.pause.is_none() && service.status_override.is_none()
    });
    Ok(failing)
}

/// What is wrong with the certificate of a service, if that is why it fails.
async fn certificate(
    parts: &Notices,
    service: &Service,
    organisation: &Organisation,
) -> Result<Option<Trouble>, HistoryError> {
    let bad =
        CheckFilter { statuses: vec![CheckStatus::Down, CheckStatus::Degraded], ..CheckFilter::default() };
    let newest = checks::page(&parts.announcer.databases.history, service.key, &bad, 1).await?;
    let failure = newest.into_iter().next().and_then(|check| check.measurement.failure);
    let Some(failure) = failure.filter(|failure| is_about_end(failure)) else { return Ok(None) };
    let has_ended = failure.code == ErrorCode::TlsExpired;
    let title = if has_ended { "certificate-ended" } else { "certificate-expiring" };
    let text = Text::new("certificate-expiring-text").with_note(&failure.message);
    let phrase = Phrase { title: Text::of_service(title, &service.name), text };
    Ok(Some(Trouble {
        source: source(service, Event::CertificateExpiring),
        severity: if has_ended { Severity::Critical } else { Severity::Minor },
        words: phrase.words(organisation),
        service: Some(service.key),
    }))
}

fn is_about_end(failure: &Failure) -> bool {
    match failure.code {
        ErrorCode::TlsExpired => true,
        ErrorCode::ConditionFailed => failure.message.contains(DAYS_LEFT),
        _ => false,
    }
}

fn heartbeat(service: &Service, organisation: &Organisation) -> Trouble {
    let phrase = Phrase {
        title: Text::of_service("heartbeat-missed", &service.name),
        text: Text::new("heartbeat-missed-text"),
    };
    Trouble {
        source: source(service, Event::HeartbeatMissed),
        severity: Severity::Major,
        words: phrase.words(organisation),
        service: Some(service.key),
    }
}

fn source(service: &Service, event: Event) -> Source {
    Source { organisation: service.organisation, event, name: service.id.to_string() }
}

/// The names of the services that notices are about; those that were deleted meanwhile are missing.
async fn names(parts: &Notices, lasting: &[Notice]) -> Result<HashMap<ServiceKey, String>, MainError> {
    let keys: Vec<ServiceKey> = lasting.iter().filter_map(|notice| notice.trouble.service).collect();
    let found = services::by_keys(parts.announcer.databases.main.reader(), &keys).await?;
    Ok(found.into_iter().map(|service| (service.key, service.name)).collect())
}

/// What is said of a notice that is over.
fn named(
    names: HashMap<ServiceKey, String>,
    title: &'static str,
    text: &'static str,
) -> impl Fn(&Notice, &Organisation) -> Words {
    move |notice, organisation| {
        let name = notice.trouble.service.and_then(|service| names.get(&service));
        let name = name.map_or("…", String::as_str);
        Phrase { title: Text::of_service(title, name), text: Text::new(text) }.words(organisation)
    }
}
