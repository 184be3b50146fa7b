//! The types of events that clients can subscribe to, and the actions on incidents and maintenances.

use crate::model::word_enum::words;

words! {
    /// The types of events that clients receive.
    pub enum EventType {
        /// The measured status of a service has changed.
        StatusChange,
        /// Something became of an incident.
        Incident,
        /// Something became of a maintenance.
        Maintenance,
        /// A check has ended.
        Result,
    }
}

words! {
    /// The kinds of resources that events are about and that have rows of their own.
    pub enum EventSubjectKind {
        /// The event is about an incident.
        Incident,
        /// The event is about a maintenance.
        Maintenance,
    }
}

words! {
    /// The action on an incident or a maintenance.
    pub enum EventAction {
        /// The incident or maintenance was created.
        Created,
        /// It is not as it was.
        Updated,
        /// An incident is over.
        Resolved,
        /// It is no longer there.
        Deleted,
    }
}
