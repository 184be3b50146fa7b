//! The types of events that can be listened to, and what can become of an incident or a maintenance.

use crate::model::word::words;

words! {
    /// The types of events.
    pub enum Type {
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
    /// The kinds of things that events are about and that have rows of their own.
    pub enum Kind {
        /// An incident.
        Incident,
        /// A maintenance.
        Maintenance,
    }
}

words! {
    /// What became of it.
    pub enum Act {
        /// It is new.
        Created,
        /// It is not as it was.
        Updated,
        /// An incident is over.
        Resolved,
        /// It is no longer there.
        Deleted,
    }
}
