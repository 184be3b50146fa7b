//! From a schedule to shifts: who is on duty when, and when nobody is.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::oncall::schedule::{Absence, Layer, Override, Schedule};
use crate::model::time_range::TimeRange;

/// Everything that decides who is on duty.
#[derive(Clone, Copy, Debug)]
pub struct Roster<'a> {
    /// The schedule.
    pub schedule: &'a Schedule,
    /// Its overrides, those that touch the time at least.
    pub overrides: &'a [Override],
    /// Absences of contacts, likewise.
    pub absences: &'a [Absence],
}

/// A contact is on duty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The time.
    pub range: TimeRange,
    /// Key of the contact.
    pub contact: i64,
    /// Why.
    pub source: Source,
}

/// What puts a contact on duty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A layer, by its place from 0.
    Layer(usize),
    /// An override.
    Override(Id),
}

/// Who is on duty when. Shifts and gaps together are the whole time, and none touches another one of the same contact and
/// source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duty {
    /// In the order of time.
    pub shifts: Vec<Shift>,
    /// The times at which nobody is on duty, in their order.
    pub gaps: Vec<TimeRange>,
}

impl Roster<'_> {
    /// Who is on duty in a stretch of time.
    #[must_use]
    pub fn duty(&self, range: TimeRange) -> Duty {
        let mut duty = Duty { shifts: Vec::new(), gaps: range.if_not_empty().into_iter().collect() };
        let mut overrides: Vec<&Override> = self.overrides.iter().collect();
        overrides.sort_by_key(|placed| std::cmp::Reverse(placed.key));
        for placed in overrides {
            let turn = Turn { range: placed.range, contact: placed.contact };
            self.place(&mut duty, vec![turn], Source::Override(placed.id));
        }
        for (place, layer) in self.schedule.layers.iter().enumerate().rev() {
            if duty.gaps.is_empty() {
                break;
            }
            self.place(&mut duty, self.turns(layer, range), Source::Layer(place));
        }
        duty.shifts.sort_by_key(|shift| shift.range);
        duty.shifts = joined(duty.shifts);
        duty
    }

    /// Who is on duty at a moment.
    #[must_use]
    pub fn on_duty(&self, at: Timestamp) -> Option<Shift> {
        self.duty(TimeRange { from: at, to: at.plus_ms(1) }).shifts.pop()
    }

    /// The times at which nobody is on duty although somebody should be: a time that the hours of every layer leave out is
    /// left out on purpose.
    #[must_use]
    pub fn uncovered(&self, range: TimeRange) -> Vec<TimeRange> {
        let gaps = self.duty(range).gaps;
        let hours: Option<Vec<_>> = self.schedule.layers.iter().map(|layer| layer.hours.as_ref()).collect();
        let Some(hours) = hours else { return gaps };
        let mut open: Vec<TimeRange> =
            hours.iter().flat_map(|hours| hours.open(self.schedule.zone, range)).collect();
        open.sort_unstable();
        without(&gaps, &without(&[range], &open))
    }

    /// Gives what is free to those whose turn it is, as far as they are there.
    fn place(&self, duty: &mut Duty, turns: Vec<Turn>, source: Source) {
        let present = turns.into_iter().flat_map(|turn| {
            let away: Vec<TimeRange> = self.away(turn.contact);
            without(&[turn.range], &away).into_iter().map(move |range| Turn { range, ..turn })
        });
        let present: Vec<Turn> = present.collect();
        let mut taken: Vec<TimeRange> = Vec::new();
        let mut gaps = duty.gaps.iter().peekable();
        for turn in &present {
            while gaps.next_if(|gap| gap.to <= turn.range.from).is_some() {}
            for gap in gaps.clone().take_while(|gap| gap.from < turn.range.to) {
                let Some(range) = common(*gap, turn.range) else { continue };
                duty.shifts.push(Shift { range, contact: turn.contact, source });
                taken.push(range);
            }
        }
        duty.gaps = without(&duty.gaps, &taken);
    }

    /// The times at which a contact is absent, in their order.
    fn away(&self, contact: i64) -> Vec<TimeRange> {
        let of_contact = self.absences.iter().filter(|absence| absence.contact == contact);
        let mut away: Vec<TimeRange> = of_contact.map(|absence| absence.range).collect();
        away.sort_unstable();
        away
    }

    /// The turns of a layer, in the order of time.
    fn turns(&self, layer: &Layer, range: TimeRange) -> Vec<Turn> {
        let ends_at = layer.ends_at.unwrap_or(range.to).min(range.to);
        let limits = TimeRange { from: layer.starts_at.max(range.from), to: ends_at };
        let Some(limits) = limits.if_not_empty() else { return Vec::new() };
        let Ok(count) = i64::try_from(layer.contacts.len()) else { return Vec::new() };
        let turns = layer.turns(self.schedule.zone);
        let open = match &layer.hours {
            Some(hours) => hours.open(self.schedule.zone, limits),
            None => vec![limits],
        };
        let mut found = Vec::new();
        for stretch in open {
            let mut turn = turns.turn_at(stretch.from);
            while turns.begin(turn) < stretch.to {
                let whole = TimeRange { from: turns.begin(turn), to: turns.begin(turn + 1) };
                let place = usize::try_from(turn.rem_euclid(count.max(1))).unwrap_or_default();
                if let (Some(range), Some(contact)) = (common(whole, stretch), layer.contacts.get(place)) {
                    found.push(Turn { range, contact: contact.key });
                }
                turn += 1;
            }
        }
        found
    }
}

/// It is the turn of a contact.
#[derive(Clone, Copy)]
struct Turn {
    range: TimeRange,
    contact: i64,
}

fn common(one: TimeRange, other: TimeRange) -> Option<TimeRange> {
    TimeRange { from: one.from.max(other.from), to: one.to.min(other.to) }.if_not_empty()
}

/// What is left of ranges without others; both are in the order of their begins.
fn without(ranges: &[TimeRange], taken: &[TimeRange]) -> Vec<TimeRange> {
    let mut left = Vec::with_capacity(ranges.len());
    let mut taken = taken.iter().peekable();
    for range in ranges {
        let mut from = range.from;
        while taken.next_if(|away| away.to <= from).is_some() {}
        for away in taken.clone().take_while(|away| away.from < range.to) {
            left.extend(TimeRange { from, to: away.from }.if_not_empty());
            from = from.max(away.to);
        }
        left.extend(TimeRange { from, to: range.to }.if_not_empty());
    }
    left
}

/// Shifts that go on are one.
fn joined(shifts: Vec<Shift>) -> Vec<Shift> {
    let mut joined: Vec<Shift> = Vec::with_capacity(shifts.len());
    for next in shifts {
        let goes_on = |last: &Shift| {
            last.range.to == next.range.from && last.contact == next.contact && last.source == next.source
        };
        match joined.last_mut().filter(|last| goes_on(last)) {
            Some(last) => last.range.to = next.range.to,
            None => joined.push(next),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
