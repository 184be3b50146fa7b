//! Facts for subscribers of status pages: one for each timeline entry that subscribers are notified of, and one for each
//! reminder of a maintenance.
//!
//! A fact is stored in the transaction of its change, with the pages that show it at that time. `subscribers` sends it.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::translated_text::TranslatedText;
use crate::model::word_enum::words;

/// How long facts are kept, in milliseconds.
pub const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

words! {
    /// The kind of a fact.
    pub enum FactKind {
        /// A new entry on the timeline of a published incident.
        IncidentEntry,
        /// A maintenance was planned.
        MaintenanceAnnounced,
        /// A maintenance got another window.
        MaintenanceMoved,
        /// A maintenance starts in a day.
        MaintenanceDayBefore,
        /// A maintenance starts in an hour.
        MaintenanceHourBefore,
        /// A maintenance has started.
        MaintenanceStarted,
        /// A maintenance has ended.
        MaintenanceCompleted,
        /// A maintenance was called off.
        MaintenanceCancelled,
    }
}

/// The timeline entry or the reminder that a fact is about. Each has at most one fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSubject {
    /// An entry on the timeline of an incident.
    Incident {
        /// Database key of the incident.
        incident: i64,
        /// Id of the timeline entry.
        entry: Id,
    },
    /// An entry on the timeline of a maintenance.
    Maintenance {
        /// Database key of the maintenance.
        maintenance: i64,
        /// Id of the timeline entry.
        entry: Id,
    },
    /// A reminder of a maintenance.
    Reminder {
        /// Database key of the maintenance.
        maintenance: i64,
        /// Planned start of the maintenance.
        start: Timestamp,
    },
}

/// A fact that subscribers of a status page are notified about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberFact {
    /// Key of the row. Keys rise in the order of the facts.
    pub key: i64,
    /// The id of the fact, the same in every message about it.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// The kind of event.
    pub kind: FactKind,
    /// The timeline entry or the reminder that the fact is about.
    pub subject: FactSubject,
    /// The title of the incident or the maintenance at the time of the fact.
    pub title: TranslatedText,
    /// Text for subscribers, by language.
    pub message: TranslatedText,
    /// The time of the event.
    pub at: Timestamp,
    /// Keys of the status pages that show the incident or the maintenance, ascending.
    pub pages: Vec<i64>,
}
