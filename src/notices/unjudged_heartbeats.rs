//! Heartbeats that could not be judged for several periods in a row, because no process listened for pings during a part
//! of each period. After that the next deadline is judged anyway, and the owner of the service is notified, until the next
//! ping.
//!
//! Each node handles the services that it watches.

use std::collections::{BTreeSet, HashMap};

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::notices::NoticeReconciler;
use crate::notices::phrase::NoticePhrase;
use crate::store::heartbeats::{self, StoredHeartbeat};
use crate::store::services::outlines;
use crate::store::{MainError, notices, organisations};
use crate::texts::GeneratedText;

const EVENT: NotificationEvent = NotificationEvent::MonitorTrouble;
/// Prefix of the service id in the name of a subject.
const PREFIX: &str = "pings/";

/// Returns true if a notice of this event is about the pings of a service.
pub(super) fn is_about_pings(notice: &Notice) -> bool {
    notice.trouble.subject.name.starts_with(PREFIX)
}

/// Compares the heartbeats that could not be judged with the open notices.
pub(super) async fn compare(parts: &NoticeReconciler) -> Result<(), MainError> {
    let main = parts.router.databases.main.reader();
    let ownership = &parts.router.ownership;
    let unheard: BTreeSet<ServiceKey> = parts.router.engine.listening().unheard().into_iter().collect();
    let mut lasting = notices::lasting_of(main, EVENT).await?;
    lasting.retain(|notice| {
        let service = notice.trouble.service;
        is_about_pings(notice) && service.map_or(ownership.leads(), |service| ownership.is_ready(service))
    });
    if unheard.is_empty() && lasting.is_empty() {
        return Ok(());
    }
    let notified = lasting.iter().filter_map(|notice| notice.trouble.service);
    let keys: Vec<ServiceKey> = unheard.iter().copied().chain(notified).collect();
    let found = outlines::by_keys(main, &keys).await?;
    let pings = heartbeats::of_services(main, &keys).await?;
    let owners = found.iter().map(|service| service.organisation).collect::<BTreeSet<i64>>();
    let owners = organisations::with_keys(main, owners).await?;
    let owners: HashMap<i64, Organisation> = owners.into_iter().map(|owner| (owner.key, owner)).collect();
    let mut wrong = Vec::new();
    for service in &found {
        let notice = lasting.iter().find(|notice| notice.trouble.service == Some(service.key));
        let now = parts.guard.now();
        let is_waiting =
            |notice: &&Notice| is_waiting(service, pings.get(&service.key), notice.began_at, now);
        match (notice.filter(is_waiting), owners.get(&service.organisation)) {
            (Some(notice), _) => wrong.push(notice.trouble.clone()),
            (None, Some(owner)) if unheard.contains(&service.key) => wrong.push(trouble(service, owner)),
            _ => {}
        }
    }
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

/// Returns true while no ping has come since the notice was opened. A start in the future comes from a wrong clock.
fn is_waiting(
    service: &ServiceOutline,
    stored: Option<&StoredHeartbeat>,
    began_at: Timestamp,
    now: Timestamp,
) -> bool {
    let last = stored.and_then(|stored| stored.heartbeat.last);
    service.pause.is_none() && began_at <= now && last.is_none_or(|ping| ping.at < began_at)
}

fn trouble(service: &ServiceOutline, owner: &Organisation) -> NoticeCondition {
    let title = GeneratedText::of_service("pings-unheard", &service.name);
    let phrase = NoticePhrase { title, text: GeneratedText::new("pings-unheard-text") };
    let name = format!("{PREFIX}{}", service.id);
    NoticeCondition {
        subject: NoticeSubject { organisation: owner.key, event: EVENT, name },
        severity: Severity::Major,
        words: phrase.words(owner),
        service: Some(service.key),
    }
}

fn over(notice: &Notice, owner: &Organisation) -> NoticeText {
    let title = GeneratedText::about("monitor-well", &notice.trouble.words.title);
    NoticePhrase { title, text: GeneratedText::new("pings-heard-text") }.words(owner)
}
