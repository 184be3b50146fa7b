//! Requests between engine nodes about services, and their answers.

use serde::{Deserialize, Serialize};

use crate::announcer::peers::{Answer, Changed, Question};
use crate::bus::messages::recent::{AfterText, RecentText};
use crate::clock::Timestamp;
use crate::engine::aggregator::Snapshot;
use crate::id::Id;
use crate::model::allowance::Allowance;
use crate::model::heartbeat::Ping;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::verdict::Verdict;

/// A request in the form of the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionText {
    /// Services were changed or deleted.
    Changed(Vec<ServiceText>),
    /// Requests the present snapshots of these services.
    Snapshots(Vec<ServiceText>),
    /// Check these services at once.
    LookAt(Vec<ServiceText>),
    /// A ping has arrived.
    Ping {
        /// The service that reports itself.
        service: ServiceText,
        /// The time of its arrival, in milliseconds since 1970.
        at_ms: i64,
        /// True if it reported a failure.
        has_failed: bool,
    },
    /// Count a request of the token with this database key.
    Count(i64),
    /// Requests recently stored data.
    Stored(AfterText),
}

/// A service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceText {
    id: Id,
    key: ServiceKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
}

/// An answer in the form of the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerText {
    /// It is done.
    Done,
    /// The snapshots.
    Snapshots(Vec<SnapshotText>),
    /// The state of the rate limit.
    Counted {
        /// Requests per window.
        limit: u32,
        /// Requests left in this window.
        remaining: u32,
        /// The end of the window, in milliseconds since 1970.
        ends_at_ms: i64,
        /// True if the request may pass.
        passes: bool,
    },
    /// Another node owns some of the services.
    NotMine,
    /// Recently stored data.
    Stored(RecentText),
}

/// The present state of a service. Times in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotText {
    verdict: String,
    /// Missing in older versions.
    #[serde(default)]
    is_flapping: bool,
    last_check_at_ms: Option<i64>,
    /// Missing in older versions.
    #[serde(default)]
    sure_since_ms: Option<i64>,
    measured_until_ms: Option<i64>,
    uptime_30d: Option<f64>,
    avg_response_ms: Option<f64>,
}

impl From<ServiceAddress> for ServiceText {
    fn from(service: ServiceAddress) -> Self {
        Self { id: service.id, key: service.key, revision: None }
    }
}

impl From<ServiceText> for ServiceAddress {
    fn from(text: ServiceText) -> Self {
        Self { id: text.id, key: text.key }
    }
}

impl From<Changed> for ServiceText {
    fn from(Changed { service, revision }: Changed) -> Self {
        Self { revision: Some(revision), ..service.into() }
    }
}

impl From<ServiceText> for Changed {
    fn from(text: ServiceText) -> Self {
        Self { service: text.into(), revision: text.revision.unwrap_or(i64::MIN) }
    }
}

impl From<Question> for QuestionText {
    fn from(question: Question) -> Self {
        match question {
            Question::Changed(changed) => Self::Changed(changed.into_iter().map(Into::into).collect()),
            Question::Snapshots(services) => Self::Snapshots(services.into_iter().map(Into::into).collect()),
            Question::LookAt(services) => Self::LookAt(services.into_iter().map(Into::into).collect()),
            Question::Ping { service, ping } => {
                Self::Ping { service: service.into(), at_ms: ping.at.ms(), has_failed: ping.has_failed }
            }
            Question::Count(token) => Self::Count(token),
            Question::Stored(after) => Self::Stored(after.into()),
        }
    }
}

impl From<QuestionText> for Question {
    fn from(text: QuestionText) -> Self {
        match text {
            QuestionText::Changed(changed) => Self::Changed(changed.into_iter().map(Into::into).collect()),
            QuestionText::Snapshots(services) => {
                Self::Snapshots(services.into_iter().map(Into::into).collect())
            }
            QuestionText::LookAt(services) => Self::LookAt(services.into_iter().map(Into::into).collect()),
            QuestionText::Ping { service, at_ms, has_failed } => Self::Ping {
                service: service.into(),
                ping: Ping { at: Timestamp::from_ms(at_ms), has_failed },
            },
            QuestionText::Count(token) => Self::Count(token),
            QuestionText::Stored(after) => Self::Stored(after.into()),
        }
    }
}

impl From<Answer> for AnswerText {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Done => Self::Done,
            Answer::Snapshots(snapshots) => Self::Snapshots(snapshots.into_iter().map(Into::into).collect()),
            Answer::Counted(Allowance { limit, remaining, ends_at, passes }) => {
                Self::Counted { limit, remaining, ends_at_ms: ends_at.ms(), passes }
            }
            Answer::NotMine => Self::NotMine,
            Answer::Stored(recent) => Self::Stored(recent.into()),
        }
    }
}

impl TryFrom<AnswerText> for Answer {
    type Error = AnswerForm;

    fn try_from(text: AnswerText) -> Result<Self, AnswerForm> {
        Ok(match text {
            AnswerText::Done => Self::Done,
            AnswerText::NotMine => Self::NotMine,
            AnswerText::Counted { limit, remaining, ends_at_ms, passes } => {
                let ends_at = Timestamp::from_ms(ends_at_ms);
                Self::Counted(Allowance { limit, remaining, ends_at, passes })
            }
            AnswerText::Snapshots(snapshots) => {
                let read: Result<Vec<Snapshot>, _> = snapshots.into_iter().map(TryInto::try_into).collect();
                Self::Snapshots(read?)
            }
            AnswerText::Stored(recent) => Self::Stored(recent.read().ok_or(AnswerForm::Results)?),
        })
    }
}

impl From<Snapshot> for SnapshotText {
    fn from(snapshot: Snapshot) -> Self {
        let Snapshot {
            verdict,
            is_flapping,
            last_check_at,
            sure_since,
            measured_until,
            uptime_30d,
            avg_response_ms,
        } = snapshot;
        Self {
            verdict: verdict.as_str().into(),
            is_flapping,
            last_check_at_ms: last_check_at.map(Timestamp::ms),
            sure_since_ms: sure_since.map(Timestamp::ms),
            measured_until_ms: measured_until.map(Timestamp::ms),
            uptime_30d,
            avg_response_ms,
        }
    }
}

/// An answer that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerForm {
    /// A verdict that this version does not know.
    #[error("'{0}' is no verdict")]
    UnknownVerdict(String),
    /// The bytes are no results.
    #[error("the results cannot be read")]
    Results,
}

impl TryFrom<SnapshotText> for Snapshot {
    type Error = AnswerForm;

    fn try_from(text: SnapshotText) -> Result<Self, AnswerForm> {
        let unknown = |_| AnswerForm::UnknownVerdict(text.verdict.clone());
        let verdict: Verdict = text.verdict.parse().map_err(unknown)?;
        Ok(Self {
            verdict,
            is_flapping: text.is_flapping,
            last_check_at: text.last_check_at_ms.map(Timestamp::from_ms),
            sure_since: text.sure_since_ms.map(Timestamp::from_ms),
            measured_until: text.measured_until_ms.map(Timestamp::from_ms),
            uptime_30d: text.uptime_30d,
            avg_response_ms: text.avg_response_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announcer::stored::{After, Place, Recent};
    use crate::model::check::{ErrorCode, Measurement, Timings};
    use crate::model::history::CheckRecord;
    use crate::model::service::ProbeRole;

    #[test]
    fn questions_and_answers_come_as_they_were_sent() {
        let service = ServiceAddress { id: Id::random(), key: 7 };
        let place = Place { epoch: Id::random(), number: 8 };
        let ping = Ping { at: Timestamp::from_ms(5), has_failed: true };
        for question in [
            Question::Changed(vec![Changed { service, revision: 3 }]),
            Question::Snapshots(vec![service]),
            Question::LookAt(vec![service]),
            Question::Ping { service, ping },
            Question::Count(3),
            Question::Stored(After { place: Some(place), wants_results: true }),
        ] {
            let sent = serde_json::to_vec(&QuestionText::from(question.clone())).unwrap();
            let read: QuestionText = serde_json::from_slice(&sent).unwrap();
            assert_eq!(Question::from(read), question);
        }
        let snapshot = Snapshot {
            verdict: Verdict::Degraded,
            is_flapping: true,
            last_check_at: Some(Timestamp::from_ms(9)),
            sure_since: Some(Timestamp::from_ms(8)),
            uptime_30d: Some(99.987),
            ..Snapshot::default()
        };
        let allowance = Allowance { limit: 3, remaining: 2, ends_at: Timestamp::from_ms(4), passes: true };
        let result = CheckRecord {
            service: 7,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(3),
            checked_at: Timestamp::from_ms(5),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "no", Timings::default()),
        };
        let answers = [
            Answer::Done,
            Answer::NotMine,
            Answer::Snapshots(vec![snapshot]),
            Answer::Counted(allowance),
            Answer::Stored(Recent { place, results: vec![result], is_whole: true, has_more: false }),
        ];
        for answer in answers {
            let sent = serde_json::to_vec(&AnswerText::from(answer.clone())).unwrap();
            let read: AnswerText = serde_json::from_slice(&sent).unwrap();
            assert_eq!(Answer::try_from(read), Ok(answer));
        }
    }
}
