//! What may be told.

use crate::model::word::words;

words! {
    /// What may be told.
    pub enum Event {
        /// An incident has begun.
        #[strum(serialize = "incident.opened")]
        IncidentOpened,
        /// Something about it has changed.
        #[strum(serialize = "incident.updated")]
        IncidentUpdated,
        /// Somebody works on it.
        #[strum(serialize = "incident.acknowledged")]
        IncidentAcknowledged,
        /// It was over, and is not.
        #[strum(serialize = "incident.reopened")]
        IncidentReopened,
        /// Nobody has acknowledged it, and a step of its escalation policy has come.
        #[strum(serialize = "incident.escalated")]
        IncidentEscalated,
        /// It is over.
        #[strum(serialize = "incident.resolved")]
        IncidentResolved,
        /// Much has happened at once: one message instead of many.
        #[strum(serialize = "digest")]
        Digest,
        /// Somebody wants to see whether the channel works.
        #[strum(serialize = "channel.test")]
        ChannelTest,
    }
}

impl Event {
    /// The events that a channel may choose; escalations go to whom their policy names.
    pub const CHOICE: [Self; 5] = [
        Self::IncidentOpened,
        Self::IncidentUpdated,
        Self::IncidentAcknowledged,
        Self::IncidentReopened,
        Self::IncidentResolved,
    ];

    /// Their words.
    pub const CHOICE_WORDS: [&str; 5] = [
        Self::IncidentOpened.as_str(),
        Self::IncidentUpdated.as_str(),
        Self::IncidentAcknowledged.as_str(),
        Self::IncidentReopened.as_str(),
        Self::IncidentResolved.as_str(),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_by_itself_can_be_chosen() {
        let by_name = [Event::ChannelTest, Event::Digest, Event::IncidentEscalated];
        let chosen = Event::ALL.into_iter().filter(|event| !by_name.contains(event));
        assert!(chosen.eq(Event::CHOICE));
        assert_eq!(Event::CHOICE_WORDS[0], "incident.opened");
    }
}
