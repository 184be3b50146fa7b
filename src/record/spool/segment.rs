//! One file of the spool: a version, then frames. A frame holds the facts of one append.
//!
//! Frames start with a mark, so that the next frame after a damaged one is found. A frame with a wrong checksum is not
//! discarded, because each fact in it has its own checksum. An incomplete end after a crash was never reported as spooled;
//! complete facts in it are still read, because a fact that is written twice changes nothing.

use crate::engine::aggregator::RecordBatch;
use crate::model::fact_codec::{FactDecoder, RecordedFact, encode};

/// The first bytes of a segment of this version.
pub(super) const HEAD: [u8; 8] = *b"WKSPOOL\x01";
/// The first bytes of every frame, followed by `length` and `sum` of the body, four bytes each.
const MARK: [u8; 4] = [0xf5, b'w', b'k', 0xfa];
const FRAME_HEAD_BYTES: usize = 12;

/// Encodes a batch as a frame.
pub(super) fn frame(batch: &RecordBatch) -> Vec<u8> {
    let mut frame = vec![0; FRAME_HEAD_BYTES];
    encode(&batch.checks, &batch.changes, &mut frame);
    let body = &frame[FRAME_HEAD_BYTES..];
    // A frame holds the rows of one transaction, far below 4 GiB.
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let sum = crc32fast::hash(body);
    frame[..4].copy_from_slice(&MARK);
    frame[4..8].copy_from_slice(&length.to_le_bytes());
    frame[8..12].copy_from_slice(&sum.to_le_bytes());
    frame
}

/// The facts in the next bytes of a segment.
#[derive(Debug, Default)]
pub(super) struct SpoolPiece {
    pub(super) batch: RecordBatch,
    /// Bytes that could not be read.
    pub(super) lost_bytes: usize,
    /// True when nothing readable follows.
    pub(super) is_end: bool,
}

/// Reads a segment piece by piece.
#[derive(Debug)]
pub(super) struct SpoolSegmentReader {
    bytes: Vec<u8>,
    at: usize,
    decoder: FactDecoder,
}

impl SpoolSegmentReader {
    /// Creates a reader of a whole segment; `None` if the segment has another version. An empty or incomplete head is that
    /// of a segment whose writing was interrupted by a crash.
    pub(super) fn new(bytes: Vec<u8>) -> Option<Self> {
        let is_torn = HEAD.starts_with(&bytes);
        let at = if is_torn { bytes.len() } else { HEAD.len() };
        (is_torn || bytes.starts_with(&HEAD)).then(|| Self { bytes, at, decoder: FactDecoder::default() })
    }

    /// Returns the facts of the next frame, or the readable facts of a damaged part; `None` at the end.
    pub(super) fn next(&mut self) -> Option<SpoolPiece> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let mut piece = SpoolPiece::default();
        let (body, end) = if let Some(body) = whole_frame(rest) {
            (body, FRAME_HEAD_BYTES + body.len())
        } else {
            let end = next_frame(rest).unwrap_or(rest.len());
            (&rest[..end], end)
        };
        let (begins_well, is_last) = (body.len() < end, end == rest.len());
        piece.lost_bytes = self.decoder.read(body, |fact| match fact {
            RecordedFact::Check(check) => piece.batch.checks.push(check),
            RecordedFact::Change(change) => piece.batch.changes.push(change),
        });
        piece.is_end = is_last && !begins_well;
        self.at += end;
        Some(piece)
    }
}

/// Returns the body of the frame at the start of `bytes`, if the frame is complete and undamaged.
fn whole_frame(bytes: &[u8]) -> Option<&[u8]> {
    let (head, rest) = bytes.split_at_checked(FRAME_HEAD_BYTES)?;
    let number = |from: usize| Some(u32::from_le_bytes(head[from..from + 4].try_into().ok()?));
    let length = usize::try_from(number(4)?).ok()?;
    let body = rest.get(..length)?;
    (head[..4] == MARK && number(8)? == crc32fast::hash(body)).then_some(body)
}

/// Returns the start of the next undamaged frame after a damaged one.
fn next_frame(bytes: &[u8]) -> Option<usize> {
    (1..bytes.len()).find(|at| bytes[*at..].starts_with(&MARK) && whole_frame(&bytes[*at..]).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};

    fn batch(first: i64) -> RecordBatch {
        let change = |at| StatusChange {
            service: 1,
            at: Timestamp::from_ms(at),
            from: MeasuredStatus::Up,
            to: MeasuredStatus::Down,
            cause: ChangeCause::Votes,
        };
        RecordBatch { checks: Vec::new(), changes: (first..first + 10).map(change).collect() }
    }

    fn segment(frames: i64) -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        (0..frames).for_each(|number| bytes.extend(frame(&batch(number * 10))));
        bytes
    }

    /// Returns the times that are read, and how often something was lost.
    fn read(bytes: Vec<u8>) -> (Vec<i64>, usize) {
        let Some(mut reader) = SpoolSegmentReader::new(bytes) else { return (Vec::new(), 1) };
        let (mut times, mut damages) = (Vec::new(), 0);
        while let Some(piece) = reader.next() {
            times.extend(piece.batch.changes.iter().map(|change| change.at.ms()));
            damages += usize::from(piece.lost_bytes > 0);
        }
        (times, damages)
    }

    #[test]
    fn appended_facts_are_read_in_order() {
        assert_eq!(read(segment(3)), ((0..30).collect(), 0));
    }

    /// A crash in the middle of appending: every whole frame before it is there, and nothing is made up.
    #[test]
    fn a_torn_end_damages_no_earlier_fact() {
        let (whole, torn) = (segment(2), segment(3));
        for length in 0..torn.len() {
            let (times, _) = read(torn[..length].to_vec());
            let expected: Vec<i64> = (0..30).collect();
            assert!(expected.starts_with(&times), "{length}: {times:?}");
            assert!(length < whole.len() || times.len() >= 20, "{length}: {times:?}");
        }
    }

    #[test]
    fn another_version_is_refused() {
        let mut bytes = segment(1);
        bytes[7] = 2;
        assert!(SpoolSegmentReader::new(bytes).is_none());
    }

    proptest! {
        #[test]
        fn a_damaged_byte_costs_one_fact_at_most(
            index in any::<proptest::sample::Index>(),
            mask in 1_u8..,
        ) {
            let mut bytes = segment(3);
            let at = HEAD.len() + index.index(bytes.len() - HEAD.len());
            bytes[at] ^= mask;
            let (times, damages) = read(bytes);
            prop_assert!(times.is_sorted() && times.len() >= 29 && damages == 1, "{damages} {times:?}");
        }

        #[test]
        fn a_zeroed_range_leaves_the_facts_around_it(from in 0_usize..200, length in 1_usize..200) {
            let mut bytes = segment(5);
            let whole = bytes.len();
            bytes[HEAD.len()..].iter_mut().skip(from).take(length).for_each(|byte| *byte = 0);
            let (times, _) = read(bytes);
            prop_assert!(times.is_sorted() && times.contains(&49), "of {whole}: {times:?}");
        }
    }
}
