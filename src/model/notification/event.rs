//! The events that messages report.

use crate::model::word_enum::words;

words! {
    /// An event that messages report.
    pub enum NotificationEvent {
        /// An incident was opened.
        #[strum(serialize = "incident.opened")]
        IncidentOpened,
        /// An open incident has changed in another way: title, status, severity, timeline or services.
        #[strum(serialize = "incident.updated")]
        IncidentUpdated,
        /// Services have joined an open incident.
        #[strum(serialize = "incident.service_joined")]
        IncidentServiceJoined,
        /// The severity of an open incident has risen.
        #[strum(serialize = "incident.worsened")]
        IncidentWorsened,
        /// Services of an open incident work again.
        #[strum(serialize = "incident.service_recovered")]
        IncidentServiceRecovered,
        /// A person has acknowledged the incident.
        #[strum(serialize = "incident.acknowledged")]
        IncidentAcknowledged,
        /// A resolved incident was opened again.
        #[strum(serialize = "incident.reopened")]
        IncidentReopened,
        /// An incident is not acknowledged, and a step of its escalation policy is due.
        #[strum(serialize = "incident.escalated")]
        IncidentEscalated,
        /// An incident was resolved.
        #[strum(serialize = "incident.resolved")]
        IncidentResolved,
        /// A certificate expires soon, or has expired.
        #[strum(serialize = "certificate.expiring")]
        CertificateExpiring,
        /// A heartbeat did not come in time, or reported a failure.
        #[strum(serialize = "heartbeat.missed")]
        HeartbeatMissed,
        /// A location has lost its own network, or is offline.
        #[strum(serialize = "location.impaired")]
        LocationImpaired,
        /// Watchkeeper itself cannot do all of its work.
        #[strum(serialize = "monitor.trouble")]
        MonitorTrouble,
        /// An error budget is used up too fast.
        #[strum(serialize = "sla.burning")]
        SlaBurning,
        /// An on-call schedule has an uncovered period ahead.
        #[strum(serialize = "oncall.gap")]
        OncallGap,
        /// Several messages are combined in one.
        #[strum(serialize = "digest")]
        Digest,
        /// News of a status page, which only its subscribers get.
        #[strum(serialize = "page.news")]
        PageNews,
        /// A test of the channel.
        #[strum(serialize = "channel.test")]
        ChannelTest,
    }
}

impl NotificationEvent {
    /// The events that a channel may choose. Escalations are missing: they go to the recipients that their policy names.
    pub const CHOICE: [Self; 14] = [
        Self::IncidentOpened,
        Self::IncidentUpdated,
        Self::IncidentServiceJoined,
        Self::IncidentWorsened,
        Self::IncidentServiceRecovered,
        Self::IncidentAcknowledged,
        Self::IncidentReopened,
        Self::IncidentResolved,
        Self::CertificateExpiring,
        Self::HeartbeatMissed,
        Self::LocationImpaired,
        Self::MonitorTrouble,
        Self::SlaBurning,
        Self::OncallGap,
    ];

    /// The default events of a new channel: all starts and ends, and events that make an incident larger. A missed
    /// heartbeat is left out, because it opens an incident as well.
    pub const USUAL: [Self; 10] = [
        Self::IncidentOpened,
        Self::IncidentServiceJoined,
        Self::IncidentWorsened,
        Self::IncidentReopened,
        Self::IncidentResolved,
        Self::CertificateExpiring,
        Self::LocationImpaired,
        Self::MonitorTrouble,
        Self::SlaBurning,
        Self::OncallGap,
    ];

    /// The words of the events that are notices.
    pub const NOTICE_WORDS: [&str; 6] = [
        Self::CertificateExpiring.as_str(),
        Self::HeartbeatMissed.as_str(),
        Self::LocationImpaired.as_str(),
        Self::MonitorTrouble.as_str(),
        Self::SlaBurning.as_str(),
        Self::OncallGap.as_str(),
    ];

    /// The words of `CHOICE`.
    pub const CHOICE_WORDS: [&str; Self::CHOICE.len()] = {
        let mut words = [""; Self::CHOICE.len()];
        let mut index = 0;
        while index < words.len() {
            words[index] = Self::CHOICE[index].as_str();
            index += 1;
        }
        words
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_automatic_event_can_be_chosen() {
        let by_name = [
            NotificationEvent::ChannelTest,
            NotificationEvent::Digest,
            NotificationEvent::IncidentEscalated,
            NotificationEvent::PageNews,
        ];
        let chosen = NotificationEvent::ALL.into_iter().filter(|event| !by_name.contains(event));
        assert!(chosen.eq(NotificationEvent::CHOICE));
        assert_eq!(NotificationEvent::CHOICE_WORDS[0], "incident.opened");
    }
}
