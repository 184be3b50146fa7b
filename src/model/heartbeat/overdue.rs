//! Judgement of deadlines that have passed without a ping: missed, or no data because the ping may have been lost.
//!
//! A period is no data if no process listened at some moment between a tenth of the interval before the expected ping
//! and the deadline; the next period decides. At most [`EXCUSED_MAX`] periods in a row are no data; the one after is
//! missed all the same, or a job that has died would never be found. Periods wholly within one absence count as one:
//! no process could receive any of their pings.

use crate::clock::Timestamp;
use crate::model::absence::Absence;

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
    /// Returns the moment from which on the ping of this deadline may come.
    fn listens_from(self, deadline: Timestamp) -> Timestamp {
        deadline.plus_ms(-self.grace_ms - self.interval_ms / 10)
    }

    /// Returns the deadline `periods` later.
    fn later(self, deadline: Timestamp, periods: i64) -> Timestamp {
        deadline.plus_ms(periods.saturating_mul(self.interval_ms))
    }

    /// Returns how many periods it takes from `deadline` until after `moment`; at least one.
    fn periods_until_after(self, deadline: Timestamp, moment: Timestamp) -> i64 {
        (moment.ms_since(deadline) / self.interval_ms + 1).max(1)
    }
}

/// The next deadline, and the excused periods before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextDeadline {
    /// The deadline.
    pub(super) at: Timestamp,
    /// The periods in a row before it that were no data.
    pub(super) excused: u8,
}

/// Facts about the time in which deadlines have passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hearing<'a> {
    /// The times in which no process listened.
    pub(super) absences: &'a [Absence],
    /// Deadlines before this moment were judged by an earlier process, which recorded the missed ones.
    pub(super) judged_until: Option<Timestamp>,
}

/// The result for the deadlines that have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overdue {
    /// The first deadline that has not passed.
    pub(super) next: NextDeadline,
    /// The first deadline whose ping may have been lost.
    pub(super) unheard_at: Option<Timestamp>,
    /// The first deadline that was missed. Several missed deadlines are recorded as one entry.
    pub(super) missed_at: Option<Timestamp>,
}

/// Judges the deadlines up to `now`.
pub(super) fn judge(terms: PeriodTerms, next: NextDeadline, hearing: Hearing<'_>, now: Timestamp) -> Overdue {
    let mut overdue = Overdue { next, unheard_at: None, missed_at: None };
    while overdue.next.at <= now {
        let NextDeadline { at, excused } = overdue.next;
        let from = terms.listens_from(at);
        let absence = hearing.absences.iter().find(|absence| absence.overlaps(from, at));
        let was_judged = hearing.judged_until.is_some_and(|until| at < until);
        match absence {
            Some(absence) if excused < EXCUSED_MAX => {
                overdue.unheard_at = overdue.unheard_at.or(Some(at));
                let periods = 1 + periods_within(terms, at, *absence);
                overdue.next = NextDeadline { at: terms.later(at, periods), excused: excused + 1 };
            }
            _ if was_judged => {
                overdue.unheard_at = None;
                let periods = periods_to_pass(terms, at, hearing);
                overdue.next = NextDeadline { at: terms.later(at, periods), excused: 0 };
            }
            _ => {
                let periods = terms.periods_until_after(at, now);
                overdue.missed_at = Some(at);
                overdue.next = NextDeadline { at: terms.later(at, periods), excused: 0 };
            }
        }
    }
    overdue
}

/// Returns how many of the periods after this deadline are wholly within an absence. While the clock is doubted pings
/// are received, so each period counts.
fn periods_within(terms: PeriodTerms, deadline: Timestamp, absence: Absence) -> i64 {
    let is_within = terms.listens_from(terms.later(deadline, 1)) >= absence.from && !absence.is_doubt;
    let periods = absence.to.ms_since(deadline) / terms.interval_ms;
    if is_within { periods.max(0) } else { 0 }
}

/// Returns how many periods an earlier process has judged before the next one that is still to be judged here.
fn periods_to_pass(terms: PeriodTerms, deadline: Timestamp, hearing: Hearing<'_>) -> i64 {
    let later = hearing.absences.iter().map(|absence| absence.from).filter(|from| *from >= deadline);
    let next = later.chain(hearing.judged_until).min().unwrap_or(deadline);
    terms.periods_until_after(deadline, next.plus_ms(-1))
}

#[cfg(test)]
mod tests;
