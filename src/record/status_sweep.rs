//! Derives from stored results the status changes that the engine would have recorded if they had arrived in time.
//!
//! A pure function: it takes votes, oldest first, and returns changes. The rule is the engine's own (`model::verdict`). If
//! no result arrives for longer than a result counts as fresh, the time is no data from the moment at which the next
//! result would have been due.

use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::quorum::majority;
use crate::model::service::ServiceKey;
use crate::model::verdict::{LocationVote, Verdict, freshness_ms};

/// One pass through the stored results of a service.
#[derive(Clone, Debug)]
pub(super) struct StatusSweep {
    service: ServiceKey,
    interval_ms: i64,
    votes: Vec<(i32, LocationVote)>,
    last: Option<Timestamp>,
    status: MeasuredStatus,
    since: Option<Timestamp>,
    /// The cause of the resulting changes.
    cause: ChangeCause,
    changes: Vec<StatusChange>,
}

impl StatusSweep {
    /// Creates a sweep that starts before the first result of a service that was checked at this interval.
    pub(super) const fn new(service: ServiceKey, interval_ms: i64, cause: ChangeCause) -> Self {
        Self {
            service,
            interval_ms,
            votes: Vec::new(),
            last: None,
            status: MeasuredStatus::Unknown,
            since: None,
            cause,
            changes: Vec::new(),
        }
    }

    /// Processes results with the numbers of their locations; none may be older than the results before.
    pub(super) fn take(&mut self, votes: &[(i32, LocationVote)]) {
        for together in votes.chunk_by(|(_, left), (_, right)| left.checked_at == right.checked_at) {
            let at = together[0].1.checked_at;
            self.note_gap(at);
            for (location, vote) in together {
                match self.votes.iter_mut().find(|(known, _)| known == location) {
                    Some((_, newest)) => *newest = *vote,
                    None => self.votes.push((*location, *vote)),
                }
            }
            self.last = Some(at);
            let fresh = self.votes.iter().filter(|(_, vote)| vote.is_fresh(at, self.interval_ms));
            let verdict: Verdict = majority(fresh.map(|(_, vote)| vote.status));
            self.change_to(verdict.into(), at);
        }
    }

    /// Returns the changes. With an `end`, only changes before it are returned, because the engine has recorded the later
    /// ones; without one, the time after the last result is no data, up to `now`.
    pub(super) fn finish(mut self, end: Option<Timestamp>, now: Timestamp) -> Vec<StatusChange> {
        match end {
            Some(end) => {
                self.note_gap(end);
                self.changes.retain(|change| change.at < end);
            }
            None => {
                if let Some(last) = self.last {
                    self.change_to(MeasuredStatus::NoData, last.plus_ms(self.interval_ms).min(now));
                }
            }
        }
        self.changes
    }

    fn note_gap(&mut self, now: Timestamp) {
        let Some(last) = self.last else { return };
        if now.ms_since(last) > freshness_ms(self.interval_ms) {
            self.change_to(MeasuredStatus::NoData, last.plus_ms(self.interval_ms));
        }
    }

    /// Changes the status. The times of changes rise strictly, like those of the engine.
    fn change_to(&mut self, to: MeasuredStatus, at: Timestamp) {
        if to == self.status {
            return;
        }
        let at = self.since.map_or(at, |since| at.max(since.plus_ms(1)));
        let (service, from, cause) = (self.service, self.status, self.cause);
        self.changes.push(StatusChange { service, at, from, to, cause });
        self.status = to;
        self.since = Some(at);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::check::CheckStatus;

    /// Results such as `a60u`: location, seconds, status.
    pub(in crate::record) fn votes(story: &str) -> Vec<(i32, LocationVote)> {
        let vote = |word: &str| {
            let (location, rest) = word.split_at(1);
            let (seconds, saw) = rest.split_at(rest.len() - 1);
            let status = match saw {
                "u" => CheckStatus::Up,
                "g" => CheckStatus::Degraded,
                _ => CheckStatus::Down,
            };
            let at = seconds.parse::<i64>().unwrap() * 1_000;
            (i32::from(location.as_bytes()[0]), LocationVote { status, checked_at: Timestamp::from_ms(at) })
        };
        story.split_whitespace().map(vote).collect()
    }

    #[rstest]
    #[case::nothing("", None, "")]
    #[case::one_result("a60u", None, "60up 120no_data")]
    #[case::up_continues("a60u a120u a180u", None, "60up 240no_data")]
    #[case::an_outage("a60u a120d a180d a240u", None, "60up 120down 240up 300no_data")]
    #[case::three_vote("a60u b60u c60u a120d b121d c122d", None, "60up 121down 182no_data")]
    #[case::two_disagree("a60u b60u a120d", None, "60up 120degraded 180no_data")]
    #[case::a_gap("a60u a361u", None, "60up 120no_data 361up 421no_data")]
    #[case::no_gap_yet("a60u a360u", None, "60up 420no_data")]
    #[case::a_location_falls_silent("a60d b60u b360u b361u", None, "60degraded 361up 421no_data")]
    #[case::the_engine_continues("a60u", Some(100), "60up")]
    #[case::the_engine_continues_later("a60u", Some(900), "60up 120no_data")]
    #[case::now_is_earlier("a990u", None, "990up 1000no_data")]
    fn results_become_changes(#[case] story: &str, #[case] end: Option<i64>, #[case] expected: &str) {
        let votes = votes(story);
        for split in 0..=votes.len() {
            let mut sweep = StatusSweep::new(1, 60_000, ChangeCause::Imported);
            let (first, second) = votes.split_at(split);
            if first.last().map(|(_, vote)| vote.checked_at)
                == second.first().map(|(_, vote)| vote.checked_at)
            {
                continue;
            }
            sweep.take(first);
            sweep.take(second);
            let end = end.map(|seconds| Timestamp::from_ms(seconds * 1_000));
            let changes = sweep.finish(end, Timestamp::from_ms(1_000_000));
            let shown: Vec<String> = changes
                .iter()
                .map(|change| format!("{}{}", change.at.ms() / 1_000, change.to.as_str()))
                .collect();
            assert_eq!(shown.join(" "), expected, "split at {split}");
        }
    }
}
