//! Requests between engine nodes about services, and their answers.

use serde::{Deserialize, Serialize};

use crate::bus::messages::recent::{AfterText, RecentText};
use crate::clock::Timestamp;
use crate::engine::aggregator::ServiceSnapshot;
use crate::id::Id;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::rate_limit::RateLimitDecision;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::verdict::Verdict;
use crate::service_router::peers::{PeerReply, PeerRequest, ServiceRevision};

/// A request between engine nodes, as it is sent over the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionText {
    /// Services were changed or deleted.
    Changed(Vec<ServiceText>),
    /// Requests the current snapshots of these services.
    Snapshots(Vec<ServiceText>),
    /// Check these services at once.
    LookAt(Vec<ServiceText>),
    /// A ping has arrived.
    Ping {
        /// The service that reports itself.
        service: ServiceText,
        /// The time of the ping's arrival, in milliseconds since 1970.
        at_ms: i64,
        /// True if the ping reports a failure.
        has_failed: bool,
    },
    /// Count a request of the token with this database key.
    Count(i64),
    /// Requests recently stored data.
    Stored(AfterText),
}

/// A service as it is named on the bus; the revision is only sent with changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceText {
    id: Id,
    key: ServiceKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
}

/// An answer between engine nodes, as it is sent over the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerText {
    /// The request was carried out.
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

/// The current state of a service. Times in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotText {
    verdict: String,
    /// True while the service is flapping. Missing in older versions.
    #[serde(default)]
    is_flapping: bool,
    last_check_at_ms: Option<i64>,
    /// The same as `sure_since` of the snapshot. Missing in older versions.
    #[serde(default)]
    sure_since_ms: Option<i64>,
    measured_until_ms: Option<i64>,
    /// The same as `good_results` of the snapshot. Missing in older versions.
    #[serde(default)]
    good_results: Option<u8>,
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

impl From<ServiceRevision> for ServiceText {
    fn from(ServiceRevision { service, revision }: ServiceRevision) -> Self {
        Self { revision: Some(revision), ..service.into() }
    }
}

impl From<ServiceText> for ServiceRevision {
    fn from(text: ServiceText) -> Self {
        Self { service: text.into(), revision: text.revision.unwrap_or(i64::MIN) }
    }
}

impl From<PeerRequest> for QuestionText {
    fn from(question: PeerRequest) -> Self {
        match question {
            PeerRequest::Changed(changed) => Self::Changed(changed.into_iter().map(Into::into).collect()),
            PeerRequest::Snapshots(services) => {
                Self::Snapshots(services.into_iter().map(Into::into).collect())
            }
            PeerRequest::LookAt(services) => Self::LookAt(services.into_iter().map(Into::into).collect()),
            PeerRequest::Ping { service, ping } => {
                Self::Ping { service: service.into(), at_ms: ping.at.ms(), has_failed: ping.has_failed }
            }
            PeerRequest::Count(token) => Self::Count(token),
            PeerRequest::Stored(after) => Self::Stored(after.into()),
        }
    }
}

impl From<QuestionText> for PeerRequest {
    fn from(text: QuestionText) -> Self {
        match text {
            QuestionText::Changed(changed) => Self::Changed(changed.into_iter().map(Into::into).collect()),
            QuestionText::Snapshots(services) => {
                Self::Snapshots(services.into_iter().map(Into::into).collect())
            }
            QuestionText::LookAt(services) => Self::LookAt(services.into_iter().map(Into::into).collect()),
            QuestionText::Ping { service, at_ms, has_failed } => Self::Ping {
                service: service.into(),
                ping: HeartbeatPing { at: Timestamp::from_ms(at_ms), has_failed },
            },
            QuestionText::Count(token) => Self::Count(token),
            QuestionText::Stored(after) => Self::Stored(after.into()),
        }
    }
}

impl From<PeerReply> for AnswerText {
    fn from(answer: PeerReply) -> Self {
        match answer {
            PeerReply::Done => Self::Done,
            PeerReply::Snapshots(snapshots) => {
                Self::Snapshots(snapshots.into_iter().map(Into::into).collect())
            }
            PeerReply::Counted(RateLimitDecision { limit, remaining, ends_at, passes }) => {
                Self::Counted { limit, remaining, ends_at_ms: ends_at.ms(), passes }
            }
            PeerReply::NotMine => Self::NotMine,
            PeerReply::Stored(recent) => Self::Stored(recent.into()),
        }
    }
}

impl TryFrom<AnswerText> for PeerReply {
    type Error = AnswerTextError;

    fn try_from(text: AnswerText) -> Result<Self, AnswerTextError> {
        Ok(match text {
            AnswerText::Done => Self::Done,
            AnswerText::NotMine => Self::NotMine,
            AnswerText::Counted { limit, remaining, ends_at_ms, passes } => {
                let ends_at = Timestamp::from_ms(ends_at_ms);
                Self::Counted(RateLimitDecision { limit, remaining, ends_at, passes })
            }
            AnswerText::Snapshots(snapshots) => {
                let read: Result<Vec<ServiceSnapshot>, _> =
                    snapshots.into_iter().map(TryInto::try_into).collect();
                Self::Snapshots(read?)
            }
            AnswerText::Stored(recent) => Self::Stored(recent.read().ok_or(AnswerTextError::Results)?),
        })
    }
}

impl From<ServiceSnapshot> for SnapshotText {
    fn from(snapshot: ServiceSnapshot) -> Self {
        let ServiceSnapshot {
            verdict,
            is_flapping,
            last_check_at,
            sure_since,
            measured_until,
            good_results,
            uptime_30d,
            avg_response_ms,
        } = snapshot;
        Self {
            verdict: verdict.as_str().into(),
            is_flapping,
            last_check_at_ms: last_check_at.map(Timestamp::ms),
            sure_since_ms: sure_since.map(Timestamp::ms),
            measured_until_ms: measured_until.map(Timestamp::ms),
            good_results,
            uptime_30d,
            avg_response_ms,
        }
    }
}

/// An answer that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerTextError {
    /// A verdict that this version does not know.
    #[error("'{0}' is not a verdict")]
    UnknownVerdict(String),
    /// The results in the answer cannot be decoded.
    #[error("the results cannot be read")]
    Results,
}

impl TryFrom<SnapshotText> for ServiceSnapshot {
    type Error = AnswerTextError;

    fn try_from(text: SnapshotText) -> Result<Self, AnswerTextError> {
        let unknown = |_| AnswerTextError::UnknownVerdict(text.verdict.clone());
        let verdict: Verdict = text.verdict.parse().map_err(unknown)?;
        Ok(Self {
            verdict,
            is_flapping: text.is_flapping,
            last_check_at: text.last_check_at_ms.map(Timestamp::from_ms),
            sure_since: text.sure_since_ms.map(Timestamp::from_ms),
            measured_until: text.measured_until_ms.map(Timestamp::from_ms),
            good_results: text.good_results,
            uptime_30d: text.uptime_30d,
            avg_response_ms: text.avg_response_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::history::CheckRecord;
    use crate::model::service::ProbeRole;
    use crate::service_router::recent_results::{ResultPosition, ResultsReply, ResultsRequest};

    #[test]
    fn requests_and_replies_round_trip() {
        let service = ServiceAddress { id: Id::random(), key: 7 };
        let position = ResultPosition { epoch: Id::random(), number: 8 };
        let ping = HeartbeatPing { at: Timestamp::from_ms(5), has_failed: true };
        for question in [
            PeerRequest::Changed(vec![ServiceRevision { service, revision: 3 }]),
            PeerRequest::Snapshots(vec![service]),
            PeerRequest::LookAt(vec![service]),
            PeerRequest::Ping { service, ping },
            PeerRequest::Count(3),
            PeerRequest::Stored(ResultsRequest { position: Some(position), wants_results: true }),
        ] {
            let sent = serde_json::to_vec(&QuestionText::from(question.clone())).unwrap();
            let read: QuestionText = serde_json::from_slice(&sent).unwrap();
            assert_eq!(PeerRequest::from(read), question);
        }
        let snapshot = ServiceSnapshot {
            verdict: Verdict::Degraded,
            is_flapping: true,
            last_check_at: Some(Timestamp::from_ms(9)),
            sure_since: Some(Timestamp::from_ms(8)),
            good_results: Some(2),
            uptime_30d: Some(99.987),
            ..ServiceSnapshot::default()
        };
        let allowance =
            RateLimitDecision { limit: 3, remaining: 2, ends_at: Timestamp::from_ms(4), passes: true };
        let result = CheckRecord {
            service: 7,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(3),
            checked_at: Timestamp::from_ms(5),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "no", PhaseTimings::default()),
        };
        let answers = [
            PeerReply::Done,
            PeerReply::NotMine,
            PeerReply::Snapshots(vec![snapshot]),
            PeerReply::Counted(allowance),
            PeerReply::Stored(ResultsReply {
                position,
                results: vec![result],
                is_whole: true,
                has_more: false,
            }),
        ];
        for answer in answers {
            let sent = serde_json::to_vec(&AnswerText::from(answer.clone())).unwrap();
            let read: AnswerText = serde_json::from_slice(&sent).unwrap();
            assert_eq!(PeerReply::try_from(read), Ok(answer));
        }
    }
}
