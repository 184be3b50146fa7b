//! Periods in which an incident was open, for reports that count incidents.

use crate::clock::Timestamp;
use crate::model::time_range::TimeRange;

/// The time during which an incident was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPeriod {
    /// The start of the incident.
    pub started_at: Timestamp,
    /// The end of the incident; `None` while it is open.
    pub resolved_at: Option<Timestamp>,
}

/// Returns the number of periods that overlap the range. A period of length zero counts if it lies in the range.
#[must_use]
pub fn open_within(periods: &[OpenPeriod], range: TimeRange) -> usize {
    let TimeRange { from, to } = range;
    let touches = |period: &&OpenPeriod| {
        let OpenPeriod { started_at, resolved_at } = **period;
        started_at < to && (started_at >= from || resolved_at.is_none_or(|end| end > from))
    };
    periods.iter().filter(touches).count()
}
