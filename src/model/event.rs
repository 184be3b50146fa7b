//! What can become of an incident or a maintenance, as those hear it who follow events.

use crate::model::word::words;

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
