//! The sparse form of a histogram: only the buckets that are not empty, and the exact sums.
//!
//! The buckets are those of an hdrhistogram with 2 significant digits: exact up to 255 µs, above that 128 buckets an
//! octave.  The bytes start with the number of values. A single value follows as it is. Several values follow as the first
//! bucket, a token for each bucket that is not empty, and the differences of the extremes and the sum from the lower bounds
//! of their buckets. A token, mostly one byte, has the number of empty buckets before its bucket and the count of that
//! bucket. Lengths and counts are checked while reading.

use crate::model::varint;
use crate::stats::histogram::summary::{HistogramError, ResponseTimeSummary};

/// Longer response times than this, in microseconds, are not told apart. An attempt takes at most 60 s.
pub(in crate::stats) const HIGHEST_US: u32 = 120_000_000;
const BUCKETS: u16 = bucket_of(HIGHEST_US) + 1;

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramBucket {
    pub(in crate::stats) bucket: u16,
    /// Number of response times in the bucket; never 0.
    pub(in crate::stats) count: u32,
}

/// Response times over a span of time, in the sparse form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseHistogram<'a> {
    /// Number, sum, shortest and longest; `None` if there are no entries.
    pub summary: Option<ResponseTimeSummary>,
    /// The buckets that are not empty, in rising order.
    pub entries: &'a [HistogramBucket],
}

/// The number of the bucket for a response time in microseconds.
pub(in crate::stats) const fn bucket_of(response_us: u32) -> u16 {
    let us = if response_us > HIGHEST_US { HIGHEST_US } else { response_us };
    let octave = 24 - (us | 0xff).leading_zeros();
    #[expect(clippy::cast_possible_truncation, reason = "at most 19 * 128 + 255")]
    let bucket = (octave * 128 + (us >> octave)) as u16;
    bucket
}

/// The shortest response time of a bucket, in microseconds.
pub(in crate::stats) const fn lowest_us(bucket: u16) -> u32 {
    let octave = if bucket < 256 { 0 } else { bucket as u32 / 128 - 1 };
    (bucket as u32 - octave * 128) << octave
}

/// Sums up response times, given in rising order, and appends their buckets to `entries`.
pub(in crate::stats) fn sum_up(
    sorted_us: impl Iterator<Item = u32>,
    entries: &mut Vec<HistogramBucket>,
) -> Option<ResponseTimeSummary> {
    let first = entries.len();
    let mut summary = None;
    for us in sorted_us {
        ResponseTimeSummary::add_to(
            &mut summary,
            &ResponseTimeSummary { count: 1, sum_us: u64::from(us), min_us: us, max_us: us },
        );
        let bucket = bucket_of(us);
        match entries[first..].last_mut() {
            Some(last) if last.bucket == bucket => last.count = last.count.saturating_add(1),
            _ => entries.push(HistogramBucket { bucket, count: 1 }),
        }
    }
    summary
}

impl SparseHistogram<'_> {
    /// Appends the encoded form to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let Some(summary) = self.summary else { return varint::put(bytes, 0) };
        varint::put(bytes, summary.count);
        let ([first, ..], 2..) = (self.entries, summary.count) else {
            return varint::put(bytes, u64::from(summary.min_us));
        };
        varint::put(bytes, u64::from(first.bucket));
        let mut next = first.bucket;
        for entry in self.entries {
            write_token(bytes, u64::from(entry.bucket - next), entry.count);
            next = entry.bucket + 1;
        }
        self.write_residues(bytes);
    }

    /// Appends the differences of the extremes and the sum from the lower bounds of their buckets to `bytes`.
    pub(in crate::stats) fn write_residues(&self, bytes: &mut Vec<u8>) {
        let (Some(summary), [first, ..], [.., last]) = (self.summary, self.entries, self.entries) else {
            return;
        };
        varint::put(bytes, u64::from(summary.min_us - lowest_us(first.bucket)));
        if summary.count > 1 {
            varint::put(bytes, u64::from(summary.max_us - lowest_us(last.bucket)));
            varint::put(bytes, summary.sum_us - floor_us(self.entries));
        }
    }
}

/// Reads an encoded histogram from the front of `bytes`, and appends its buckets to `entries`.
///
/// # Errors
///
/// If the bytes are not a serialised histogram.
pub(in crate::stats) fn read(
    bytes: &mut &[u8],
    entries: &mut Vec<HistogramBucket>,
) -> Result<Option<ResponseTimeSummary>, HistogramError> {
    let start = entries.len();
    let count = varint::take(bytes).ok_or(HistogramError("it ends early"))?;
    match count {
        0 => Ok(None),
        1 => {
            let us = varint::take_u32(bytes).ok_or(HistogramError("it ends early"))?;
            Ok(sum_up([us].into_iter(), entries))
        }
        _ => {
            read_entries(bytes, count, entries)?;
            read_residues(bytes, count, &entries[start..]).map(Some)
        }
    }
}

fn read_entries(
    bytes: &mut &[u8],
    mut left: u64,
    entries: &mut Vec<HistogramBucket>,
) -> Result<(), HistogramError> {
    let mut next = varint::take(bytes).ok_or(HistogramError("it ends early"))?;
    while left > 0 {
        let (skipped, count) = read_token(bytes)?;
        let bucket = next.saturating_add(skipped);
        let bucket = u16::try_from(bucket).ok().filter(|bucket| *bucket < BUCKETS);
        let bucket = bucket.ok_or(HistogramError("a bucket is out of range"))?;
        left = left.checked_sub(u64::from(count)).ok_or(HistogramError("the counts differ"))?;
        entries.push(HistogramBucket { bucket, count });
        next = u64::from(bucket) + 1;
    }
    Ok(())
}

/// Reads the output of [`SparseHistogram::write_residues`] for `count` values in these entries.
pub(in crate::stats) fn read_residues(
    bytes: &mut &[u8],
    count: u64,
    entries: &[HistogramBucket],
) -> Result<ResponseTimeSummary, HistogramError> {
    let ([first, ..], [.., last]) = (entries, entries) else {
        return Err(HistogramError("there are no buckets"));
    };
    let mut residue = || varint::take(bytes).ok_or(HistogramError("it ends early"));
    let mut in_bucket = |bucket: u16| {
        let us = u32::try_from(residue()?.saturating_add(u64::from(lowest_us(bucket)))).ok();
        us.filter(|us| bucket_of(*us) == bucket).ok_or(HistogramError("an extreme is out of its bucket"))
    };
    let min_us = in_bucket(first.bucket)?;
    if count == 1 {
        return Ok(ResponseTimeSummary { count, sum_us: u64::from(min_us), min_us, max_us: min_us });
    }
    let max_us = in_bucket(last.bucket)?;
    let sum_us = floor_us(entries).saturating_add(residue()?);
    let possible = u64::from(min_us).saturating_mul(count)..=u64::from(max_us).saturating_mul(count);
    if !possible.contains(&sum_us) {
        return Err(HistogramError("the sum does not fit the extremes"));
    }
    Ok(ResponseTimeSummary { count, sum_us, min_us, max_us })
}

/// Appends the token for `count` in the next bucket after `skipped` empty ones.
pub(in crate::stats) fn write_token(bytes: &mut Vec<u8>, skipped: u64, count: u32) {
    varint::put(bytes, skipped << 1 | u64::from(count > 1));
    if count > 1 {
        varint::put(bytes, u64::from(count) - 2);
    }
}

/// Reads the output of [`write_token`].
pub(in crate::stats) fn read_token(bytes: &mut &[u8]) -> Result<(u64, u32), HistogramError> {
    let token = varint::take(bytes).ok_or(HistogramError("it ends early"))?;
    let count = match token & 1 {
        0 => Some(1),
        _ => varint::take_u32(bytes).and_then(|above| above.checked_add(2)),
    };
    Ok((token >> 1, count.ok_or(HistogramError("a count is out of range"))?))
}

/// Returns the smallest sum that is possible with these buckets, in microseconds.
fn floor_us(entries: &[HistogramBucket]) -> u64 {
    let floor = |entry: &HistogramBucket| u64::from(lowest_us(entry.bucket)) * u64::from(entry.count);
    entries.iter().map(floor).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_those_of_the_hdrhistogram() {
        let histogram = Histogram::<u32>::new_with_bounds(1, u64::from(HIGHEST_US), 2).unwrap();
        for bucket in 0..BUCKETS {
            let lowest = lowest_us(bucket);
            assert_eq!(bucket_of(lowest), bucket);
            assert_eq!(histogram.lowest_equivalent(u64::from(lowest)), u64::from(lowest));
            let highest = histogram.highest_equivalent(u64::from(lowest));
            assert_eq!(bucket_of(u32::try_from(highest).unwrap()), bucket);
            if bucket + 1 < BUCKETS {
                assert_eq!(u64::from(lowest_us(bucket + 1)), highest + 1);
            }
        }
        assert_eq!(bucket_of(u32::MAX), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn a_sparse_form_round_trips_and_leaves_the_following_bytes(
            mut values in prop::collection::vec(prop_oneof![1_u32..2_000_000, any::<u32>()], 0..200),
        ) {
            values.sort_unstable();
            let mut entries = Vec::new();
            let summary = sum_up(values.iter().copied(), &mut entries);
            let mut bytes = Vec::new();
            SparseHistogram { summary, entries: &entries }.write(&mut bytes);
            bytes.push(7);
            let (mut rest, mut read_back) = (bytes.as_slice(), Vec::new());
            prop_assert_eq!(read(&mut rest, &mut read_back).unwrap(), summary);
            prop_assert_eq!(read_back, entries);
            prop_assert_eq!(rest, &[7]);
        }

        #[test]
        fn bytes_that_others_wrote_are_refused_or_bounded(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut entries = Vec::new();
            let _ = read(&mut bytes.as_slice(), &mut entries);
            prop_assert!(entries.len() <= bytes.len());
        }

        #[test]
        fn changed_bytes_are_refused_or_still_add_up(
            mut values in prop::collection::vec(1_u32..60_000_000, 1..60),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            values.sort_unstable();
            let (mut entries, mut bytes) = (Vec::new(), Vec::new());
            let summary = sum_up(values.into_iter(), &mut entries);
            SparseHistogram { summary, entries: &entries }.write(&mut bytes);
            for (offset, byte) in changes {
                let offset = offset.index(bytes.len());
                bytes[offset] = byte;
            }
            entries.clear();
            if let Ok(Some(summary)) = read(&mut bytes.as_slice(), &mut entries) {
                prop_assert_eq!(summary.count, entries.iter().map(|entry| u64::from(entry.count)).sum::<u64>());
                prop_assert!(entries.is_sorted_by(|left, right| left.bucket < right.bucket));
            }
        }
    }
}
