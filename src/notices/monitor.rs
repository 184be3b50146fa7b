//! Troubles of this process: it cannot write the history, keep up with it, trust its clock, check at all, or back itself up.
//! The organisation of the operator, the first one of the installation, gets the notices.
//!
//! A process that fails completely opens no notice; the watchdog's ping covers that.

use tokio::time::Instant;

use crate::model::access::Organisation;
use crate::model::check::LocalFault as CheckTrouble;
use crate::model::incident::Severity;
use crate::model::node::NodeName;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::notices::NoticeReconciler;
use crate::notices::debouncer::NoticeDebouncer;
use crate::notices::phrase::NoticePhrase;
use crate::notices::process_symptoms::ProcessSymptoms;
use crate::notices::unjudged_heartbeats::is_about_pings;
use crate::notify::template_notice::channel_of_subject;
use crate::store::{MainError, notices, organisations};
use crate::texts::GeneratedText;

const EVENT: NotificationEvent = NotificationEvent::MonitorTrouble;

/// One trouble: its name, whether it exists, its texts, and its severity.
struct MonitorSymptom {
    name: &'static str,
    is_so: bool,
    title: &'static str,
    text: &'static str,
    severity: Severity,
    note: Option<&'static str>,
}

fn each(signs: ProcessSymptoms) -> [MonitorSymptom; 5] {
    [
        MonitorSymptom {
            name: "history",
            is_so: signs.history_is_away,
            title: "monitor-history",
            text: "monitor-history-text",
            severity: Severity::Critical,
            note: None,
        },
        MonitorSymptom {
            name: "spool",
            is_so: signs.spool_is_used,
            title: "monitor-spool",
            text: "monitor-spool-text",
            severity: Severity::Major,
            note: None,
        },
        MonitorSymptom {
            name: "clock",
            is_so: signs.clock_is_doubted,
            title: "monitor-clock",
            text: "monitor-clock-text",
            severity: Severity::Major,
            note: None,
        },
        MonitorSymptom {
            name: "backup",
            is_so: signs.backup_is_old,
            title: "monitor-backup",
            text: "monitor-backup-text",
            severity: Severity::Major,
            note: None,
        },
        MonitorSymptom {
            name: "blind",
            is_so: signs.blind_by.is_some(),
            title: "monitor-blind",
            text: "monitor-blind-text",
            severity: Severity::Critical,
            note: signs.blind_by.map(CheckTrouble::as_str),
        },
    ]
}

/// Compares this process with the open notices about it.
pub(super) async fn compare(
    parts: &NoticeReconciler,
    patience: &mut NoticeDebouncer,
) -> Result<(), MainError> {
    let signs = (parts.signs)();
    let main = parts.router.databases.main.reader();
    let ownership = &parts.router.ownership;
    let node = ownership.member().map(|member| member.name.clone());
    let mut lasting = notices::lasting_of(main, EVENT).await?;
    // Notices about templates have a comparison of their own.
    lasting.retain(|notice| channel_of_subject(&notice.trouble.subject).is_none());
    // The state of dead nodes is unknown; the leading node closes their notices.
    let living = ownership.owned().map(|owned| owned.living).unwrap_or_default();
    let is_dead = |of: &str| ownership.leads() && living.iter().all(|living| living.as_str() != of);
    lasting.retain(|notice| !is_about_pings(notice));
    lasting.retain(|notice| match (&node, notice.trouble.subject.name.split_once('@')) {
        (None, _) => true,
        (Some(node), Some((_, of))) => of == node.as_str() || is_dead(of),
        (Some(_), None) => ownership.leads(),
    });
    if signs == ProcessSymptoms::default() && lasting.is_empty() {
        return Ok(());
    }
    let Some(operator) = organisations::first(main).await? else { return Ok(()) };
    let mut wrong = Vec::new();
    for sign in each(signs) {
        let subject = NoticeSubject {
            organisation: operator.key,
            event: EVENT,
            name: source_name(&sign, node.as_ref()),
        };
        let is_notified = lasting.iter().any(|notice| notice.trouble.subject == subject);
        if patience.is_confirmed(&subject.name, sign.is_so, is_notified, Instant::now()) {
            wrong.push(trouble(subject, &sign, node.as_ref(), &operator));
        }
    }
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

fn source_name(sign: &MonitorSymptom, node: Option<&NodeName>) -> String {
    node.map_or_else(|| sign.name.to_owned(), |node| format!("{}@{}", sign.name, node.as_str()))
}

fn trouble(
    subject: NoticeSubject,
    sign: &MonitorSymptom,
    node: Option<&NodeName>,
    operator: &Organisation,
) -> NoticeCondition {
    let process = node.map_or("Watchkeeper", NodeName::as_str);
    let text = GeneratedText::new(sign.text);
    let text = sign.note.map_or(text, |note| text.with_note(note));
    let phrase = NoticePhrase { title: GeneratedText::about(sign.title, process), text };
    NoticeCondition { subject, severity: sign.severity, words: phrase.words(operator), service: None }
}

fn over(notice: &Notice, operator: &Organisation) -> NoticeText {
    let title = GeneratedText::about("monitor-well", &notice.trouble.words.title);
    NoticePhrase { title, text: GeneratedText::new("monitor-well-text") }.words(operator)
}
