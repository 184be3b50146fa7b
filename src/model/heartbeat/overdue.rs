//! Judgement of deadlines that have passed without a ping: missed, or no data because the ping may have been lost.
//!
//! A ping is missed if a process has listened without a break for the interval and the grace, and no ping came. If no
//! process listened at some moment of a period (an absence), the period is no data. The next period then lasts for the
//! interval and the grace from the end of the absence: whenever the lost ping came, the next ping is due by then. At most
//! [`EXCUSED_MAX`] periods in a row are no data. After these a ping is missed in any case, because otherwise a dead job
//! would never be found. An absence counts once, in the period in which it begins.

use crate::clock::Timestamp;
use crate::model::listening_gap::ListeningGap;

/// Maximum number of periods in a row that are no data.
pub(super) const EXCUSED_MAX: u8 = 2;

/// The interval and the grace of a heartbeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodTerms {
    /// Milliseconds between two pings.
    pub(super) interval_ms: i64,
    /// Further milliseconds until a ping that has not come counts as missed.
    pub(super) grace_ms: i64,
}

impl PeriodTerms {
    /// Returns the period that begins at `from`, with a ping or with the end of an absence.
    pub(super) fn period_from(self, from: Timestamp) -> AwaitedPeriod {
        AwaitedPeriod { from, deadline: from.plus_ms(self.interval_ms + self.grace_ms), excused: 0 }
    }

    /// Returns the period that ends `periods` intervals after the deadline `missed`; no grace is added.
    pub(super) fn period_after(self, missed: Timestamp, periods: i64) -> AwaitedPeriod {
        let from = missed.plus_ms((periods - 1).saturating_mul(self.interval_ms));
        AwaitedPeriod { from, deadline: from.plus_ms(self.interval_ms), excused: 0 }
    }

    /// Returns the number of intervals from `deadline` to the first deadline after `moment`; at least one.
    fn periods_until_after(self, deadline: Timestamp, moment: Timestamp) -> i64 {
        (moment.ms_since(deadline) / self.interval_ms + 1).max(1)
    }
}

/// A period in which a ping must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AwaitedPeriod {
    /// Start of the period: a ping, the end of an absence, or the previous deadline.
    pub(super) from: Timestamp,
    pub(super) deadline: Timestamp,
    /// Number of periods directly before this one that were no data.
    pub(super) excused: u8,
}

impl AwaitedPeriod {
    /// Returns the period that follows if a ping of this period may have been lost; `None` if a process listened
    /// throughout, or too many periods in a row were no data.
    fn excuse(self, terms: PeriodTerms, absences: &[ListeningGap]) -> Option<Self> {
        let met = || absences.iter().filter(|absence| absence.overlaps(self.from, self.deadline));
        // While the clock is doubted, pings are still received, so each period counts by itself.
        let end = |absence: &ListeningGap| {
            if absence.is_doubt { absence.to.min(self.deadline) } else { absence.to }
        };
        let listens_from = met().map(end).max()?;
        let is_new = met().any(|absence| absence.is_doubt || absence.from >= self.from);
        let excused = self.excused + u8::from(is_new);
        (excused <= EXCUSED_MAX).then(|| Self { excused, ..terms.period_from(listens_from) })
    }
}

/// The absences and the earlier judgements that apply to deadlines that have passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListeningHistory<'a> {
    /// The times in which no process listened.
    pub(super) absences: &'a [ListeningGap],
    /// Deadlines before this time were judged by an earlier process, which recorded missed pings; `None` = no deadline was.
    pub(super) judged_until: Option<Timestamp>,
}

/// The result for the deadlines that have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverdueDeadlines {
    /// The first period whose deadline has not passed.
    pub(super) next: AwaitedPeriod,
    /// The first deadline whose ping may have been lost; `None` = there was no such deadline.
    pub(super) unheard_at: Option<Timestamp>,
    /// The first deadline that was missed; `None` = no deadline was missed. Several missed deadlines are one entry.
    pub(super) missed_at: Option<Timestamp>,
}

/// Judges the deadlines up to `now`, starting with that of the period `next`.
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

/// Returns the number of intervals to skip from `deadline` because an earlier process has judged them: until the start
/// of the next absence or the end of that process's judgements.
fn periods_to_pass(terms: PeriodTerms, deadline: Timestamp, hearing: ListeningHistory<'_>) -> i64 {
    let later = hearing.absences.iter().map(|absence| absence.from).filter(|from| *from >= deadline);
    let next = later.chain(hearing.judged_until).min().unwrap_or(deadline);
    terms.periods_until_after(deadline, next.plus_ms(-1))
}

#[cfg(test)]
mod tests;
