//! The contents of a message: facts at the time of the event, the same for every kind of channel.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::incident::{IncidentStatus, Severity, WholeIncident};
use crate::model::notification::change::IncidentChange;
use crate::model::notification::digest::DigestFacts;
use crate::model::notification::event::NotificationEvent;
use crate::model::outage_evidence::seconds_between;
use crate::model::word_enum::spelled;

pub use crate::model::notification::service_facts::{SERVICES_MAX, ServiceFacts};

/// The facts of an event. Stored unchanged with the delivery, so that each attempt sends the same text.
///
/// Times are in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationMessage {
    /// The event that the message reports.
    #[serde(with = "spelled")]
    pub event: NotificationEvent,
    /// The time of the event.
    pub at: i64,
    /// The name of the organisation.
    pub organisation: String,
    /// What the message is about.
    pub subject: MessageSubject,
}

/// The subject of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageSubject {
    /// A test of the channel; nothing has happened.
    Test,
    /// An incident.
    Incident(IncidentFacts),
    /// A notice: a certificate that expires soon, trouble of the monitor itself, and so on.
    Notice(NoticeFacts),
    /// Several messages, combined in a digest.
    Digest(DigestFacts),
    /// News of a status page, for its subscribers.
    News(NewsFacts),
}

/// News of a status page, as its subscribers may read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewsFacts {
    /// Id of the incident or the maintenance.
    pub id: String,
    /// The kind of news, for programs.
    pub kind: String,
    /// Title, one line.
    pub title: String,
    /// Text; may be empty, may have several lines.
    pub text: String,
    /// Further facts, each with its label.
    pub lines: Vec<NewsLine>,
    /// Severity of an incident.
    #[serde(with = "spelled::option")]
    pub severity: Option<Severity>,
    /// True if the incident or the maintenance is over.
    pub is_over: bool,
    /// The facts for programs.
    pub data: Value,
}

/// A fact in a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewsLine {
    /// Label of the fact.
    pub label: String,
    /// The fact.
    pub text: String,
}

/// A notice as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeFacts {
    /// Id of the notice, the same in the messages about its start and its end.
    pub id: String,
    /// Title, one line.
    pub title: String,
    /// Text, one or two sentences.
    pub text: String,
    /// Severity of the notice.
    #[serde(with = "spelled")]
    pub severity: Severity,
    /// True if the notice has ended.
    pub is_over: bool,
}

/// An incident, in the language of the recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentFacts {
    /// The id that clients see.
    pub id: String,
    /// Title of the incident.
    pub title: String,
    /// Status at the time of the event.
    #[serde(with = "spelled")]
    pub status: IncidentStatus,
    /// Severity at the time of the event.
    #[serde(with = "spelled")]
    pub severity: Severity,
    /// Start of the incident.
    pub started_at: i64,
    /// The time at which it was resolved; `None` while it is open.
    pub resolved_at: Option<i64>,
    /// Text of the newest entry of its timeline; empty if there is none.
    pub text: String,
    /// The name of the person who acknowledged it; `None` if nobody did.
    pub acknowledged_by: Option<String>,
    /// The affected services, by name, at most [`SERVICES_MAX`].
    pub services: Vec<ServiceFacts>,
    /// The number of all affected services.
    pub services_count: usize,
    /// The change that this message is about; empty in messages stored by earlier versions.
    #[serde(default, skip_serializing_if = "IncidentChange::is_empty")]
    pub change: IncidentChange,
}

impl IncidentFacts {
    /// Duration of the incident in seconds; `None` while it is open.
    #[must_use]
    pub fn duration_seconds(&self) -> Option<i64> {
        self.resolved_at.map(|end| seconds_between(self.started_at, end))
    }

    /// The services that the message reports: those that joined or recovered, otherwise all affected ones.
    #[must_use]
    pub fn reported_services(&self) -> &[ServiceFacts] {
        let changed = self.change.joined.as_ref().or(self.change.recovered.as_ref());
        changed.map_or(&self.services, |group| &group.services)
    }
}

/// The organisation that sends a message, with the languages of the text.
#[derive(Clone, Copy, Debug)]
pub struct SenderIdentity<'a> {
    /// Display name of the organisation.
    pub name: &'a str,
    /// The language of the recipient.
    pub language: &'a str,
    /// The default language of the organisation, for texts that are missing in `language`.
    pub default_language: &'a str,
}

impl NotificationMessage {
    /// The message about an incident.
    #[must_use]
    pub fn of_incident(
        event: NotificationEvent,
        whole: &WholeIncident,
        sender: SenderIdentity<'_>,
        at: i64,
    ) -> Self {
        let incident = &whole.incident;
        let newest = whole.updates.last().map(|entry| &entry.message);
        let SenderIdentity { language, default_language, .. } = sender;
        let text = newest.map(|message| message.text(language, default_language).to_owned());
        let services = whole.services.iter().take(SERVICES_MAX).map(ServiceFacts::from_affected);
        let facts = IncidentFacts {
            id: incident.id.to_string(),
            title: incident.title.text(language, default_language).to_owned(),
            status: incident.status,
            severity: incident.severity,
            started_at: incident.started_at.ms(),
            resolved_at: incident.resolved_at.map(|at| at.ms()),
            text: text.unwrap_or_default(),
            acknowledged_by: incident.acknowledgement.as_ref().map(|taken| taken.by.name.clone()),
            services: services.collect(),
            services_count: whole.services.len() + whole.others,
            change: IncidentChange::default(),
        };
        Self { event, at, organisation: sender.name.to_owned(), subject: MessageSubject::Incident(facts) }
    }

    /// Adds a change to a message about an incident. Messages about other subjects stay unchanged.
    #[must_use]
    pub fn with_change(mut self, change: IncidentChange) -> Self {
        if let MessageSubject::Incident(facts) = &mut self.subject {
            facts.change = change;
        }
        self
    }

    /// The message that tests a channel.
    #[must_use]
    pub fn test(sender: SenderIdentity<'_>, at: i64) -> Self {
        Self {
            event: NotificationEvent::ChannelTest,
            at,
            organisation: sender.name.to_owned(),
            subject: MessageSubject::Test,
        }
    }

    /// The incident that the message is about, if any.
    #[must_use]
    pub const fn incident(&self) -> Option<&IncidentFacts> {
        match &self.subject {
            MessageSubject::Incident(facts) => Some(facts),
            MessageSubject::Test
            | MessageSubject::Notice(_)
            | MessageSubject::Digest(_)
            | MessageSubject::News(_) => None,
        }
    }

    /// The id of the subject, the same in all messages about it. Services such as PagerDuty merge messages by this id.
    #[must_use]
    pub fn subject_id(&self) -> &str {
        match &self.subject {
            MessageSubject::Test => "test",
            MessageSubject::Incident(facts) => &facts.id,
            MessageSubject::Notice(facts) => &facts.id,
            MessageSubject::Digest(facts) => &facts.id,
            MessageSubject::News(facts) => &facts.id,
        }
    }

    /// One line that summarises the event.
    #[must_use]
    pub fn headline(&self) -> String {
        let title = match &self.subject {
            MessageSubject::Test => {
                return format!("Test of a notification channel of {}", self.organisation);
            }
            MessageSubject::Incident(facts) => &facts.title,
            MessageSubject::Notice(facts) => &facts.title,
            MessageSubject::News(facts) => &facts.title,
            MessageSubject::Digest(facts) => return facts.headline(),
        };
        if let Some(before) = self.phrase_of_change() {
            return format!("{before}: {title}");
        }
        let before = match self.event {
            NotificationEvent::IncidentUpdated => "Update: ",
            NotificationEvent::IncidentServiceJoined => "More services: ",
            NotificationEvent::IncidentWorsened => "Worse: ",
            NotificationEvent::IncidentServiceRecovered => "Partly recovered: ",
            NotificationEvent::IncidentAcknowledged => "Acknowledged: ",
            NotificationEvent::IncidentReopened => "Open again: ",
            NotificationEvent::IncidentEscalated => "Not acknowledged: ",
            NotificationEvent::IncidentResolved => "Resolved: ",
            _ => "",
        };
        format!("{before}{title}")
    }

    /// The last error of the first reported service that is still failing and has a known error.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        let failing = self.incident()?.reported_services().iter().filter(|service| !service.is_recovered);
        failing.filter_map(|service| Some(service.evidence.as_deref()?.last_failure.as_ref()?.error())).next()
    }

    /// A phrase that names the services that joined or recovered, for the headline.
    fn phrase_of_change(&self) -> Option<String> {
        let change = &self.incident()?.change;
        match self.event {
            NotificationEvent::IncidentServiceJoined => {
                Some(format!("{} joined", change.joined.as_ref()?.phrase()))
            }
            NotificationEvent::IncidentServiceRecovered => {
                let recovered = change.recovered.as_ref()?;
                let verb = if recovered.count == 1 { "works" } else { "work" };
                Some(format!("{} {verb} again, still open", recovered.phrase()))
            }
            _ => None,
        }
    }

    /// The text beyond the headline; may be empty, may have several lines.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.subject {
            MessageSubject::Test => "Messages arrive here. Nothing has happened.",
            MessageSubject::Incident(facts) => &facts.text,
            MessageSubject::Notice(facts) => &facts.text,
            MessageSubject::Digest(facts) => &facts.text,
            MessageSubject::News(facts) => &facts.text,
        }
    }

    /// Returns true if the subject is over, or the message is only a test.
    #[must_use]
    pub fn is_good_news(&self) -> bool {
        match &self.subject {
            MessageSubject::Test => true,
            MessageSubject::Incident(facts) => facts.status == IncidentStatus::Resolved,
            MessageSubject::Notice(facts) => facts.is_over,
            MessageSubject::Digest(facts) => facts.is_over,
            MessageSubject::News(facts) => facts.is_over,
        }
    }

    /// The severity; `None` for a test.
    #[must_use]
    pub const fn severity(&self) -> Option<Severity> {
        match &self.subject {
            MessageSubject::Test => None,
            MessageSubject::Incident(facts) => Some(facts.severity),
            MessageSubject::Notice(facts) => Some(facts.severity),
            MessageSubject::Digest(facts) => Some(facts.severity),
            MessageSubject::News(facts) => facts.severity,
        }
    }
}
