//! The facts about one service from which its status is explained, as plain data.

use crate::clock::Timestamp;
use crate::model::ballot::LocationBallot;
use crate::model::check::{CheckStatus, CheckType};
use crate::model::heartbeat::HeartbeatPing;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::service::{OverrideStatus, ServicePause};
use crate::model::status_rules::StatusRules;
use crate::model::verdict::Verdict;

/// Everything that decides the status of one service at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictFacts {
    /// Name of the service.
    pub service: String,
    /// The target as the API shows it; `None` for services without a target.
    pub target: Option<String>,
    /// Type of the checks.
    pub check_type: CheckType,
    /// False while the service has no settings, so that it is not checked.
    pub is_configured: bool,
    /// The time for which the status is explained.
    pub now: Timestamp,
    /// The verdict that is shown.
    pub verdict: Verdict,
    /// The measured status; differs from the verdict in a no-data period.
    pub measured: MeasuredStatus,
    /// Start of the measured status; `None` if it is not known.
    pub since: Option<Timestamp>,
    /// The reason for the last change of the measured status; `None` before the first change.
    pub cause: Option<ChangeCause>,
    /// The rules by which the status is decided.
    pub rules: StatusRules,
    /// The votes of the locations, in the order in which they are shown; empty for heartbeats and manual services.
    pub ballots: Vec<LocationBallot>,
    /// Further attempts of checks that have failed, still running.
    pub retries: Vec<RunningRetry>,
    /// Number of good results in a row since the service was last seen down; `None` if it is not known.
    pub good_results: Option<u8>,
    /// The pause, if the service is paused.
    pub pause: Option<ServicePause>,
    /// The status override, if there is one.
    pub stated: Option<StatedStatus>,
    /// The maintenance in progress that covers the service, if there is one.
    pub maintenance: Option<RunningMaintenance>,
    /// The reason why the service is unreachable; `None` if it is not.
    pub unreachable: Option<UnreachableReason>,
    /// True while the service is flapping.
    pub is_flapping: bool,
    /// The pings of a heartbeat; `None` for other services.
    pub heartbeat: Option<HeartbeatFacts>,
    /// End of the certificate that the target showed last; `None` if it is not known.
    pub certificate_ends_at: Option<Timestamp>,
    /// Set if the node that checks the service does not answer.
    pub owner_absence: Option<AbsentOwner>,
}

impl VerdictFacts {
    /// Returns the votes that count, in the order of the ballots.
    pub fn votes(&self) -> impl Iterator<Item = CheckStatus> + Clone {
        self.ballots.iter().filter_map(LocationBallot::cast)
    }

    /// Returns the verdict of the votes. The verdict that is shown may differ while good results are counted.
    #[must_use]
    pub fn verdict_of_votes(&self) -> Verdict {
        self.rules.quorum.judge(self.votes())
    }

    /// Returns true if the service is down, and its votes would give a better status.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.verdict == Verdict::Down
            && self.rules.recovery_checks > 1
            && matches!(self.verdict_of_votes(), Verdict::Up | Verdict::Degraded)
    }

    /// Returns true if the status is measured: by locations or by pings.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.check_type != CheckType::Manual && self.pause.is_none()
    }
}

/// A further attempt of a check that has failed before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRetry {
    /// Display name of the location.
    pub location: String,
    /// Number of the attempt, from 2.
    pub attempt: u8,
    /// Maximum number of attempts of a check.
    pub attempts: u8,
}

/// A status override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedStatus {
    /// The status that a person has set.
    pub status: OverrideStatus,
    /// Name of the token or the user that set it.
    pub by: String,
    /// The reason, as it was given.
    pub reason: String,
    /// The time at which it was set.
    pub at: Timestamp,
    /// The time at which it ends by itself; `None` if it does not.
    pub until: Option<Timestamp>,
}

/// A maintenance in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningMaintenance {
    /// Title of the maintenance, in the language of the reader.
    pub title: String,
    /// Start of the maintenance.
    pub since: Timestamp,
    /// Planned end of the maintenance; `None` if it has none.
    pub until: Option<Timestamp>,
}

/// The reason why a service is unreachable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreachableReason {
    /// These services, on which it depends, are down.
    ParentsDown(Vec<String>),
    /// A service on which it depends is down; the reader may not see which.
    HiddenParent,
    /// The services on which it depends are up again, but it was not checked since.
    NotCheckedSince,
}

/// The pings of a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatFacts {
    /// The newest ping; `None` before the first.
    pub last_ping: Option<HeartbeatPing>,
    /// Milliseconds between two pings.
    pub interval_ms: i64,
    /// Further milliseconds until a ping that has not come counts as missed.
    pub grace_ms: i64,
    /// The time at which a ping counts as missed if none comes; `None` before the first ping.
    pub deadline: Option<Timestamp>,
}

impl HeartbeatFacts {
    /// Returns the time at which the next ping is due; it counts as missed after the grace.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        self.deadline.map(|deadline| deadline.plus_ms(-self.grace_ms))
    }
}

/// The absence of the node that checks a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsentOwner {
    /// The time of its last sign of life; `None` if it is not known.
    pub since: Option<Timestamp>,
}
