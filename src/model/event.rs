//! The types of events that clients can subscribe to, and the actions on incidents and maintenances.

use crate::model::word_enum::words;

words! {
    /// The types of events that clients receive.
    pub enum EventType {
        /// The measured status of a service has changed.
        StatusChange,
        /// An incident was created, changed, resolved or deleted.
        Incident,
        /// A maintenance was created, changed or deleted.
        Maintenance,
        /// A check has ended.
        Result,
    }
}

words! {
    /// The kinds of resources whose changes are stored as events.
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
        /// The incident or maintenance was changed.
        Updated,
        /// The incident was resolved.
        Resolved,
        /// The incident or maintenance was deleted.
        Deleted,
    }
}
