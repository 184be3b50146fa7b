//! Judgement of deadlines that have passed without a ping: missed, or no data because the ping may have been lost.
//!
//! A ping is missed when somebody has listened without a break for the interval and the grace, and none came. If nobody
//! listened at some moment of a period, the period is no data, and the next one is the interval and the grace from the end of
//! that absence: whenever the lost ping came, the one after it is due by then. At most [`EXCUSED_MAX`] periods in a row are no
//! data; the one after is missed all the same, or a job that has died would never be found. An absence counts once, in the
//! period in which it begins.

use crate::clock::Timestamp;
use crate::model::listening_gap::ListeningGap;

/// The most periods in a row that are no data.
pub(super) const EXCUSED_MAX: u8 = 2;

/// The period of a heartbeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodTerms {
    /// Milliseconds between two pings.
    pub(super) interval_ms: i64,
    /// Further milliseconds before a missing ping counts.
    pub(super) grace_ms: i64,
}

impl PeriodTerms {
    /// Returns the period that begins with a ping, or when somebody listens again.
    pub(super) fn period_from(self, from: Timestamp) -> AwaitedPeriod {
        AwaitedPeriod { from, deadline: from.plus_ms(self.interval_ms + self.grace_ms), excused: 0 }
    }

    /// Returns the period that comes `periods` after one whose ping was missed: from then on pings are missed an interval apart.
    pub(super) fn period_after(self, missed: Timestamp, periods: i64) -> AwaitedPeriod {
        let from = missed.plus_ms((periods - 1).saturating_mul(self.interval_ms));
        AwaitedPeriod { from, deadline: from.plus_ms(self.interval_ms), excused: 0 }
    }

    /// Returns how many periods it takes from `deadline` until after `moment`; at least one.
    fn periods_until_after(self, deadline: Timestamp, moment: Timestamp) -> i64 {
        (moment.ms_since(deadline) / self.interval_ms + 1).max(1)
    }
}

/// A period in which a ping must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AwaitedPeriod {
    /// Its begin: a ping, the end of an absence, or the deadline before.
    pub(super) from: Timestamp,
    pub(super) deadline: Timestamp,
    /// The periods in a row before it that were no data.
    pub(super) excused: u8,
}

impl AwaitedPeriod {
    /// Returns the period that follows because a ping of this one may have been lost; `None` if nobody was absent, or too many
    /// periods before it were no data.
    fn excuse(self, terms: PeriodTerms, absences: &[ListeningGap]) -> Option<Self> {
        let met = || absences.iter().filter(|absence| absence.overlaps(self.from, self.deadline));
        // While the clock is doubted pings are heard, so each period counts.
        let end = |absence: &ListeningGap| {
            if absence.is_doubt { absence.to.min(self.deadline) } else { absence.to }
        };
        let listens_from = met().map(end).max()?;
        let is_new = met().any(|absence| absence.is_doubt || absence.from >= self.from);
        let excused = self.excused + u8::from(is_new);
        (excused <= EXCUSED_MAX).then(|| Self { excused, ..terms.period_from(listens_from) })
    }
}

/// What is known of the time in which deadlines have passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListeningHistory<'a> {
    /// The times in which no process listened.
    pub(super) absences: &'a [ListeningGap],
    /// Deadlines before this moment were judged by an earlier process, which recorded the missed ones.
    pub(super) judged_until: Option<Timestamp>,
}

/// The result for the deadlines that have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverdueDeadlines {
    /// The first period whose deadline has not passed.
    pub(super) next: AwaitedPeriod,
    /// The first deadline whose ping may have been lost.
    pub(super) unheard_at: Option<Timestamp>,
    /// The first deadline that was missed. Several missed deadlines are recorded as one entry.
    pub(super) missed_at: Option<Timestamp>,
}

/// Judges the deadlines up to `now`.
pub(super) fn judge(
    terms: PeriodTerms,
    next: AwaitedPeriod,
    hearing: ListeningHistory<'_>,
    now: Timestamp,
) -> OverdueDeadlines {
    let mut overdue = OverdueDeadlines { next, unheard_at: None, missed_at: None };
    while overdue.next.deadline <= now {
        let period = overdue.next;
        let deadline = period.deadline;
        let was_judged = hearing.judged_until.is_some_and(|until| deadline < until);
        overdue.next = if let Some(later) = period.excuse(terms, hearing.absences) {
            overdue.unheard_at = overdue.unheard_at.or(Some(deadline));
            later
        } else if was_judged {
            overdue.unheard_at = None;
            terms.period_after(deadline, periods_to_pass(terms, deadline, hearing))
        } else {
            overdue.missed_at = overdue.missed_at.or(Some(deadline));
            terms.period_after(deadline, terms.periods_until_after(deadline, now))
        };
    }
    overdue
}

/// Returns how many periods somebody else has judged before the next one of which anything is known.
fn periods_to_pass(terms: PeriodTerms, deadline: Timestamp, hearing: ListeningHistory<'_>) -> i64 {
    let later = hearing.absences.iter().map(|absence| absence.from).filter(|from| *from >= deadline);
    let next = later.chain(hearing.judged_until).min().unwrap_or(deadline);
    terms.periods_until_after(deadline, next.plus_ms(-1))
}

#[cfg(test)]
mod tests;
