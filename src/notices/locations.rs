//! Locations that have lost their own network, can make no check, or send no reports. Votes of such locations do not
//! count, and services that no other location checks are not checked.

use std::collections::{BTreeSet, HashSet};

use tokio::time::Instant;

use crate::model::access::Organisation;
use crate::model::check::LocalFault as CheckTrouble;
use crate::model::incident::Severity;
use crate::model::location::LocationStatus;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::notices::debouncer::NoticeDebouncer;
use crate::notices::phrase::NoticePhrase;
use crate::notices::{NoticeReconciler, key};
use crate::store::{MainError, notices, organisations, services};
use crate::texts::GeneratedText;

const EVENT: NotificationEvent = NotificationEvent::LocationImpaired;

/// Compares the locations, as each organisation with services sees them, with the open notices.
pub(super) async fn compare(
    parts: &NoticeReconciler,
    patience: &mut NoticeDebouncer,
) -> Result<(), MainError> {
    let main = parts.router.databases.main.reader();
    let lasting = notices::lasting_of(main, EVENT).await?;
    let (locations, now) = (parts.router.compiler.roster.all(), parts.guard.now());
    let notified: HashSet<(i64, &str)> = lasting.iter().map(|notice| key(&notice.trouble.subject)).collect();
    let mut wrong = Vec::new();
    let lasting_for = lasting.iter().map(|notice| notice.trouble.subject.organisation);
    let mut concerned: BTreeSet<i64> = lasting_for.collect();
    if locations.iter().all(|known| known.is_well_for_all(now)) {
        if concerned.is_empty() {
            patience.forget(EVENT.as_str());
            return Ok(());
        }
    } else {
        concerned.extend(services::organisations_with_services(main).await?);
    }
    for organisation in organisations::with_keys(main, concerned).await? {
        for known in &locations {
            let standing = known.standing(organisation.key, now);
            let name = known.location.code.to_string();
            let subject = NoticeSubject { organisation: organisation.key, event: EVENT, name };
            let is_notified = notified.contains(&key(&subject));
            let thing = format!("{EVENT} {} {}", subject.name, organisation.key);
            if patience.is_confirmed(&thing, standing != LocationStatus::Online, is_notified, Instant::now())
            {
                wrong.push(trouble(subject, standing, known.blind_by(), &organisation));
            }
        }
    }
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

fn trouble(
    subject: NoticeSubject,
    standing: LocationStatus,
    blind_by: Option<CheckTrouble>,
    organisation: &Organisation,
) -> NoticeCondition {
    let (title, text) = match (standing, blind_by.filter(|by| *by != CheckTrouble::LocationImpaired)) {
        (LocationStatus::Offline, _) => ("location-silent", GeneratedText::new("location-silent-text")),
        (_, Some(by)) => ("location-blind", GeneratedText::new("location-blind-text").with_note(by.as_str())),
        (_, None) => ("location-impaired", GeneratedText::new("location-impaired-text")),
    };
    let words = NoticePhrase { title: GeneratedText::about(title, &subject.name), text }.words(organisation);
    NoticeCondition { subject, severity: Severity::Major, words, service: None }
}

fn over(notice: &Notice, organisation: &Organisation) -> NoticeText {
    let title = GeneratedText::about("location-back", &notice.trouble.subject.name);
    NoticePhrase { title, text: GeneratedText::new("location-back-text") }.words(organisation)
}
