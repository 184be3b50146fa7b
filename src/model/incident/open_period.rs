//! Periods in which an incident was open, for reports that count incidents.

use crate::clock::Timestamp;
use crate::model::time_range::TimeRange;

/// The time during which an incident was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPeriod {
    /// The start of the incident.
    pub started_at: Timestamp,
    /// Its end; `None` while it is open.
    pub resolved_at: Option<Timestamp>,
}

/// Returns how many of these periods touch the range. A period without length touches the range that contains it.
#[must_use]
pub fn open_within(periods: &[OpenPeriod], range: TimeRange) -> usize {
    let TimeRange { from, to } = range;
    let touches = |period: &&OpenPeriod| {
        let OpenPeriod { started_at, resolved_at } = **period;
        started_at < to && (started_at >= from || resolved_at.is_none_or(|end| end > from))
    };
    periods.iter().filter(touches).count()
}
