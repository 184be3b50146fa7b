//! Computes shifts and uncovered periods from a schedule.

use std::collections::HashMap;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::oncall::schedule::{ContactAbsence, DutyOverride, OncallSchedule, RotationLayer};
use crate::model::time_range::TimeRange;

/// The facts that decide who is on duty.
#[derive(Clone, Copy, Debug)]
pub struct DutyRoster<'a> {
    /// The schedule with its layers.
    pub schedule: &'a OncallSchedule,
    /// Overrides of the schedule, at least those that overlap the requested time.
    pub overrides: &'a [DutyOverride],
    /// Absences of contacts, at least those that overlap the requested time.
    pub absences: &'a [ContactAbsence],
}

/// A shift: one contact is on duty for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// Start and end of the shift.
    pub range: TimeRange,
    /// Database key of the contact.
    pub contact: i64,
    /// The layer or the override that puts the contact on duty.
    pub source: ShiftSource,
}

/// The layer or the override that puts a contact on duty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShiftSource {
    /// A layer, by its index from 0.
    Layer(usize),
    /// The override with this id.
    Override(Id),
}

/// Shifts and uncovered periods that together fill a time range. Adjoining shifts of the same contact and source are
/// merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DutyTimeline {
    /// The shifts, in the order of time.
    pub shifts: Vec<Shift>,
    /// The uncovered periods, in order.
    pub gaps: Vec<TimeRange>,
}

impl DutyRoster<'_> {
    /// The shifts and uncovered periods within a time range.
    #[must_use]
    pub fn duty(&self, range: TimeRange) -> DutyTimeline {
        let mut duty = DutyTimeline { shifts: Vec::new(), gaps: range.if_not_empty().into_iter().collect() };
        let away = AbsenceCalendar::of(self.absences, range);
        let touches = |placed: &&DutyOverride| common(placed.range, range).is_some();
        let mut overrides: Vec<&DutyOverride> = self.overrides.iter().filter(touches).collect();
        overrides.sort_by_key(|placed| std::cmp::Reverse(placed.key));
        for placed in overrides {
            let turn = LayerShift { range: placed.range, contact: placed.contact };
            assign_gaps(&mut duty, &away.present(vec![turn]), ShiftSource::Override(placed.id));
        }
        for (index, layer) in self.schedule.layers.iter().enumerate().rev() {
            if duty.gaps.is_empty() {
                break;
            }
            assign_gaps(&mut duty, &away.present(self.turns(layer, range)), ShiftSource::Layer(index));
        }
        duty.shifts.sort_by_key(|shift| shift.range);
        duty.shifts = joined(duty.shifts);
        duty
    }

    /// The shift on duty at a moment; `None` if it is uncovered.
    #[must_use]
    pub fn on_duty(&self, at: Timestamp) -> Option<Shift> {
        self.duty(TimeRange { from: at, to: at.plus_ms(1) }).shifts.pop()
    }

    /// The uncovered periods that are not intended. These are within the hours of an active layer, or, after the first
    /// layer has started, at a time when no layer is active, for example because all have ended. Other uncovered periods
    /// are intended.
    #[must_use]
    pub fn uncovered(&self, range: TimeRange) -> Vec<TimeRange> {
        let layers = &self.schedule.layers;
        let Some(first) = layers.iter().map(|layer| layer.starts_at).min() else { return Vec::new() };
        let begun = TimeRange { from: range.from.max(first), to: range.to }.if_not_empty();
        let begun: Vec<TimeRange> = begun.into_iter().collect();
        let mut counting: Vec<TimeRange> =
            layers.iter().filter_map(|layer| active_range(layer, range)).collect();
        counting.sort_unstable();
        let mut asked = without(&begun, &counting);
        asked.extend(layers.iter().flat_map(|layer| self.open(layer, range)));
        asked.sort_unstable();
        without(&self.duty(range).gaps, &without(&begun, &asked))
            .into_iter()
            .filter_map(|gap| TimeRange { from: gap.from.max(first), ..gap }.if_not_empty())
            .collect()
    }

    /// The periods in which a layer has duty, in the order of time.
    fn open(&self, layer: &RotationLayer, range: TimeRange) -> Vec<TimeRange> {
        let Some(limits) = active_range(layer, range) else { return Vec::new() };
        match &layer.hours {
            Some(hours) => hours.open(self.schedule.zone, limits),
            None => vec![limits],
        }
    }

    /// The shifts of a layer before overrides and absences, in the order of time.
    fn turns(&self, layer: &RotationLayer, range: TimeRange) -> Vec<LayerShift> {
        let Ok(count) = i64::try_from(layer.contacts.len()) else { return Vec::new() };
        let turns = layer.turns(self.schedule.zone);
        let mut found = Vec::new();
        for stretch in self.open(layer, range) {
            let mut turn = turns.turn_at(stretch.from);
            while turns.begin(turn) < stretch.to {
                let whole = TimeRange { from: turns.begin(turn), to: turns.begin(turn + 1) };
                let index = usize::try_from(turn.rem_euclid(count.max(1))).unwrap_or_default();
                if let (Some(range), Some(contact)) = (common(whole, stretch), layer.contacts.get(index)) {
                    found.push(LayerShift { range, contact: contact.key });
                }
                turn += 1;
            }
        }
        found
    }
}

/// A shift of a layer, before overrides and absences.
#[derive(Clone, Copy)]
struct LayerShift {
    range: TimeRange,
    contact: i64,
}

struct AbsenceCalendar(HashMap<i64, Vec<TimeRange>>);

impl AbsenceCalendar {
    /// The absences that overlap a range, for each contact in the order of time and merged where they touch.
    fn of(absences: &[ContactAbsence], range: TimeRange) -> Self {
        let mut absences: Vec<ContactAbsence> =
            absences.iter().filter(|absence| common(absence.range, range).is_some()).copied().collect();
        absences.sort_unstable_by_key(|absence| absence.range);
        let mut away: HashMap<i64, Vec<TimeRange>> = HashMap::new();
        for ContactAbsence { contact, range } in absences {
            let own = away.entry(contact).or_default();
            match own.last_mut().filter(|last| range.from <= last.to) {
                Some(last) => last.to = last.to.max(range.to),
                None => own.push(range),
            }
        }
        Self(away)
    }

    /// The parts of shifts in which their contacts are not absent.
    fn present(&self, turns: Vec<LayerShift>) -> Vec<LayerShift> {
        let mut present = Vec::with_capacity(turns.len());
        for turn in turns {
            let away = self.0.get(&turn.contact).map_or([].as_slice(), Vec::as_slice);
            let over = away.partition_point(|away| away.to <= turn.range.from);
            let left = without(&[turn.range], away.get(over..).unwrap_or_default());
            present.extend(left.into_iter().map(|range| LayerShift { range, ..turn }));
        }
        present
    }
}

/// Gives the time that is still uncovered to the contacts of these shifts.
fn assign_gaps(duty: &mut DutyTimeline, turns: &[LayerShift], source: ShiftSource) {
    let mut taken: Vec<TimeRange> = Vec::new();
    let mut gaps = duty.gaps.iter().peekable();
    for turn in turns {
        while gaps.next_if(|gap| gap.to <= turn.range.from).is_some() {}
        for gap in gaps.clone().take_while(|gap| gap.from < turn.range.to) {
            let Some(range) = common(*gap, turn.range) else { continue };
            duty.shifts.push(Shift { range, contact: turn.contact, source });
            taken.push(range);
        }
    }
    duty.gaps = without(&duty.gaps, &taken);
}

/// The part of a range between the start and the end of a layer; `None` if there is none.
fn active_range(layer: &RotationLayer, range: TimeRange) -> Option<TimeRange> {
    let ends_at = layer.ends_at.unwrap_or(range.to).min(range.to);
    TimeRange { from: layer.starts_at.max(range.from), to: ends_at }.if_not_empty()
}

fn common(one: TimeRange, other: TimeRange) -> Option<TimeRange> {
    TimeRange { from: one.from.max(other.from), to: one.to.min(other.to) }.if_not_empty()
}

/// The parts of `ranges` outside of `taken`. Both are sorted by start.
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

/// Merges adjoining shifts of the same contact and source.
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
