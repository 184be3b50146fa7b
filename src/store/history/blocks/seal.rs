//! Encodes checks into a block.

use super::body::{self, BlockColumn, BlockHead, COLUMNS};
use super::kind::{EntryKinds, PHASES, phases_of};
use super::prediction::{ColumnPrediction, SignedColumn, difference, spread, usual};
use super::texts::FailureTexts;
use super::{CheckBlock, CheckEntry, MAX_CHECKS, column};
use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Micros};

impl CheckBlock {
    /// Seals checks of one series, sorted by `checked_at`.
    ///
    /// # Panics
    /// With more than [`MAX_CHECKS`] entries, which no reader would accept.
    #[must_use]
    pub fn seal(entries: &[CheckEntry]) -> Self {
        assert!(entries.len() <= MAX_CHECKS, "a block of more than {MAX_CHECKS} checks");
        let (mut up, mut degraded, mut down) = (0, 0, 0);
        for entry in entries {
            match entry.measurement.status {
                CheckStatus::Up => up += 1,
                CheckStatus::Degraded => degraded += 1,
                CheckStatus::Down => down += 1,
            }
        }
        Self {
            first_at: entries.first().map_or_else(Timestamp::default, |entry| entry.checked_at),
            last_at: entries.last().map_or_else(Timestamp::default, |entry| entry.checked_at),
            up,
            degraded,
            down,
            body: BlockSealer::default().run(entries),
        }
    }
}

/// The columns of a block that is being encoded.
#[derive(Default)]
struct BlockSealer {
    prediction: ColumnPrediction,
    columns: [Vec<u8>; COLUMNS],
}

impl BlockSealer {
    fn run(mut self, entries: &[CheckEntry]) -> Vec<u8> {
        let interval = self.write_times(entries);
        let kinds = EntryKinds::of(entries);
        kinds.write(&mut self.columns[BlockColumn::Kinds as usize]);
        self.write(BlockColumn::KindOfCheck as usize, &kinds.of_check);
        self.write_phases(entries);
        self.write_responses(entries);
        self.write_texts(entries);
        let head = BlockHead {
            checks: entries.len(),
            prediction: self.prediction,
            first_scheduled: entries.first().map_or(0, |entry| entry.scheduled_at.ms()),
            interval,
        };
        body::write(head, &self.columns)
    }

    fn write(&mut self, index: usize, values: &[u64]) {
        column::write(values, &mut self.columns[index]);
    }

    fn write_signed(&mut self, index: usize, signed: SignedColumn, values: Vec<i64>) {
        let values = self.prediction.store(signed, values);
        self.write(index, &values);
    }

    /// Writes the columns for `scheduled_at` and `checked_at`; returns the usual interval in milliseconds.
    fn write_times(&mut self, entries: &[CheckEntry]) -> i64 {
        let scheduled = entries.iter().map(|entry| entry.scheduled_at.ms());
        let intervals = || scheduled.clone().zip(scheduled.clone().skip(1)).map(|(a, b)| b.wrapping_sub(a));
        let interval = usual(intervals());
        let deviations = intervals().map(|ms| ms.wrapping_sub(interval)).collect();
        self.write_signed(BlockColumn::Deviation as usize, SignedColumn::Deviation, deviations);
        let lateness = |entry: &CheckEntry| entry.checked_at.ms().wrapping_sub(entry.scheduled_at.ms());
        self.write_signed(
            BlockColumn::Lateness as usize,
            SignedColumn::Lateness,
            entries.iter().map(lateness).collect(),
        );
        interval
    }

    fn write_phases(&mut self, entries: &[CheckEntry]) {
        let phases: Vec<[u32; PHASES]> =
            entries.iter().map(|entry| phases_of(&entry.measurement.timings)).collect();
        let mut dense: [Vec<u32>; PHASES] = std::array::from_fn(|phase| {
            phases.iter().map(|phases| phases[phase]).filter(|us| *us != 0).collect()
        });
        let totals: Vec<u32> = entries.iter().map(total).collect();
        let widest = (0..PHASES).map(|phase| (spread(&dense[phase]), phase)).max();
        if let Some((bits, phase)) = widest.filter(|(bits, _)| *bits > 0) {
            let overheads = overheads(&totals, &phases, phase);
            let magnitudes: Vec<u32> =
                overheads.iter().map(|us| u32::try_from(us.unsigned_abs()).unwrap_or(u32::MAX)).collect();
            if spread(&magnitudes) < bits {
                self.prediction.implied = Some(phase);
                dense[phase].clear();
                self.write_signed(BlockColumn::Dns as usize + phase, SignedColumn::Overhead, overheads);
            }
        }
        for (phase, durations) in dense.iter().enumerate() {
            self.write_wide(BlockColumn::Dns as usize + phase, durations);
        }
        let totals: Vec<u32> = totals.into_iter().filter(|us| *us != 0).collect();
        self.write_wide(BlockColumn::Total as usize, &totals);
    }

    fn write_wide(&mut self, index: usize, values: &[u32]) {
        let wide: Vec<u64> = values.iter().copied().map(u64::from).collect();
        self.write(index, &wide);
    }

    fn write_responses(&mut self, entries: &[CheckEntry]) {
        let answered = || {
            let response = |entry: &CheckEntry| entry.measurement.response_time.map(Micros::get);
            entries.iter().filter_map(move |entry| Some((response(entry)?, total(entry))))
        };
        let raw: Vec<u32> = answered().map(|(response, _)| response).collect();
        let against_total: Vec<i64> =
            answered().map(|(response, total)| difference(response, total)).collect();
        let magnitudes: Vec<u32> =
            against_total.iter().map(|us| u32::try_from(us.unsigned_abs()).unwrap_or(u32::MAX)).collect();
        self.prediction.raw_response = spread(&raw) < spread(&magnitudes);
        if self.prediction.raw_response {
            self.write_wide(BlockColumn::Response as usize, &raw);
        } else {
            self.write_signed(BlockColumn::Response as usize, SignedColumn::Response, against_total);
        }
    }

    fn write_texts(&mut self, entries: &[CheckEntry]) {
        let mut texts = FailureTexts::default();
        for failure in entries.iter().filter_map(|entry| entry.measurement.failure.as_ref()) {
            texts.push(&failure.message);
        }
        self.write(BlockColumn::TextOfFailure as usize, &texts.of_failure);
        texts.write(&mut self.columns[BlockColumn::Texts as usize]);
    }
}

/// The total time in microseconds; 0 if it was not measured.
fn total(entry: &CheckEntry) -> u32 {
    entry.measurement.timings.total.map_or(0, Micros::get)
}

/// The total minus all phases, for every check that has the implied phase.
fn overheads(totals: &[u32], phases: &[[u32; PHASES]], implied: usize) -> Vec<i64> {
    let measured = totals.iter().zip(phases).filter(|(_, phases)| phases[implied] != 0);
    measured.map(|(total, phases)| difference(*total, sum(phases))).collect()
}

fn sum(phases: &[u32; PHASES]) -> u32 {
    phases.iter().fold(0, |sum, us| sum.wrapping_add(*us))
}
