//! A period as a line of cells, and its time axis. A cell shows the worst status of its time, so that a short outage is
//! visible in a long period.

use crate::cli::picture::paint;
use crate::cli::simulate::answer::PeriodOutcome;
use crate::clock::{DAY_MS, Timestamp};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Distances between two marks of an axis, in milliseconds.
const STEPS_MS: [i64; 13] = [
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    3 * HOUR_MS,
    6 * HOUR_MS,
    12 * HOUR_MS,
    DAY_MS,
    2 * DAY_MS,
    7 * DAY_MS,
    14 * DAY_MS,
];

/// The shades of a bar, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BarShade {
    Up,
    NoData,
    Degraded,
    Down,
}

impl BarShade {
    fn of(status: &str) -> Self {
        match status {
            "up" => Self::Up,
            "degraded" => Self::Degraded,
            "down" => Self::Down,
            _ => Self::NoData,
        }
    }

    fn draw(self, colours: bool) -> String {
        let (letter, block, colour) = match self {
            Self::Up => ("u", "█", "32"),
            Self::NoData => ("-", "·", "90"),
            Self::Degraded => ("g", "█", "33"),
            Self::Down => ("d", "█", "31"),
        };
        if colours { paint(block, colour, true) } else { letter.to_owned() }
    }
}

/// A period divided into cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarScale {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    pub(super) cells: usize,
}

impl BarScale {
    /// Returns the index of the cell that contains a moment.
    fn cell(self, at: Timestamp) -> usize {
        let (passed, whole) = (at.ms_since(self.from).max(0), self.to.ms_since(self.from).max(1));
        let cells = i64::try_from(self.cells).unwrap_or(i64::MAX);
        usize::try_from(passed * cells / whole).unwrap_or(0).min(self.cells.saturating_sub(1))
    }

    /// Returns the bar of an outcome; `times` are the times of its status changes.
    pub(super) fn bar(self, account: &PeriodOutcome, times: &[Timestamp], colours: bool) -> String {
        let mut cells = vec![BarShade::Up; self.cells];
        let mut known = vec![false; self.cells];
        let starts = [self.from].into_iter().chain(times.iter().copied());
        let ends = times.iter().copied().chain([self.to]);
        let begins_as = [account.status_at_start.as_str()];
        let statuses =
            begins_as.into_iter().chain(account.status_changes.iter().map(|change| change.to.as_str()));
        for ((start, end), status) in starts.zip(ends).zip(statuses).filter(|((start, end), _)| start < end) {
            let shade = BarShade::of(status);
            // The end of a status belongs to the next status.
            for cell in self.cell(start)..=self.cell(end.plus_ms(-1)) {
                cells[cell] = if known[cell] { cells[cell].max(shade) } else { shade };
                known[cell] = true;
            }
        }
        cells.into_iter().map(|shade| shade.draw(colours)).collect()
    }

    /// Returns the axis: marks with their times, spaced by the available width.
    pub(super) fn axis(self) -> String {
        let length_ms = self.to.ms_since(self.from).max(1);
        let is_long = length_ms > 3 * DAY_MS;
        let width = if is_long { "|11-20 ".len() } else { "|00:00 ".len() };
        let most = i64::try_from(self.cells / width).unwrap_or(1).max(1);
        let fits = |step: &i64| length_ms / step <= most && (!is_long || *step >= DAY_MS);
        let step = STEPS_MS.into_iter().find(fits).unwrap_or(STEPS_MS[STEPS_MS.len() - 1]);
        let mut line = String::new();
        let mut mark = Timestamp::from_ms((self.from.ms() + step - 1).div_euclid(step) * step);
        while mark < self.to {
            let cell = self.cell(mark);
            let text = mark.to_string();
            let text = if is_long { text.get(5..10) } else { text.get(11..16) };
            let label = format!("|{}", text.unwrap_or_default());
            let taken = line.chars().count();
            if cell >= taken && cell + label.len() <= self.cells {
                line += &" ".repeat(cell - taken);
                line += &label;
            }
            mark = mark.plus_ms(step);
        }
        line
    }
}
