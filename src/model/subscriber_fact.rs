//! What subscribers of status pages are told: one fact for each entry of a timeline that is for them, and for each reminder of a
//! maintenance.
//!
//! A fact is written in the transaction of what it tells, with the pages that show it then. Nobody is told of it yet: the
//! subscribers come with their pages.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::translated::Translated;
use crate::model::word::words;

/// The time for which facts are kept, in milliseconds.
pub const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

words! {
    /// What a fact says.
    pub enum FactKind {
        /// A new entry on the timeline of a published incident.
        IncidentEntry,
        /// Work is planned.
        MaintenanceAnnounced,
        /// It got another window.
        MaintenanceMoved,
        /// It begins in a day.
        MaintenanceDayBefore,
        /// It begins in an hour.
        MaintenanceHourBefore,
        /// It has begun.
        MaintenanceStarted,
        /// It has ended.
        MaintenanceCompleted,
        /// It was called off.
        MaintenanceCancelled,
    }
}

/// What a fact is about, and what of it: no two facts are about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSubject {
    /// An entry on the timeline of an incident.
    Incident {
        /// Database key of the incident.
        incident: i64,
        /// Id of the entry.
        entry: Id,
    },
    /// An entry on the timeline of a maintenance.
    Maintenance {
        /// Database key of the maintenance.
        maintenance: i64,
        /// Id of the entry.
        entry: Id,
    },
    /// A reminder of a maintenance.
    Reminder {
        /// Database key of the maintenance.
        maintenance: i64,
        /// The planned start.
        start: Timestamp,
    },
}

/// A fact for subscribers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberFact {
    /// Key of the row; they rise in the order of the facts.
    pub key: i64,
    /// Its id, the same however often it is told.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// What it says.
    pub kind: FactKind,
    /// What it is about.
    pub subject: FactSubject,
    /// The title of the incident or the maintenance, as it was then.
    pub title: Translated,
    /// What is told.
    pub message: Translated,
    /// The time of the fact.
    pub at: Timestamp,
    /// Keys of the status pages that show it, ascending.
    pub pages: Vec<i64>,
}
