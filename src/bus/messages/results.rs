//! The results of a location: a batch of results of one partition.
//!
//! Bytes: the head, the location's wall clock (varint), the versions of the services in the batch (count, then key and
//! version of each), and the results in the form of spools (`model::fact_codec`). Anything else is refused as a whole:
//! it comes from another program.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::bus::messages::presence::LATEST_MS;
use crate::bus::users::LOCATION_PAYLOAD_BYTES;
use crate::clock::Timestamp;
use crate::model::fact_codec::{self, FactDecoder, RecordedFact};
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;
use crate::model::varint;

/// The first bytes; the last of them is the version of the format.
const HEAD: &[u8] = b"WKR\x01";
/// Number of results in a batch at first; one that is too large is halved.
const BATCH_RESULTS: usize = 512;

/// Results of one location in one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultBatch {
    /// The location's wall clock at sending.
    pub sent_at: Timestamp,
    /// The version with which each service was checked.
    pub versions: BTreeMap<ServiceKey, u64>,
    /// The results, oldest first per service.
    pub records: Vec<CheckRecord>,
}

/// A batch ready to be sent: its bytes and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMessage {
    /// The bytes of the batch.
    pub bytes: Vec<u8>,
    /// Message id. The same results always have the same id, which cannot be guessed without knowing the
    /// results.
    pub id: String,
}

/// The bytes are not a batch of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a batch of results")]
pub struct ResultBatchError;

impl ResultBatch {
    /// Encodes the batch for the bus.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        out.extend(self.body());
        out
    }

    fn head(&self) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        varint::put(&mut out, varint::zigzag(self.sent_at.ms()));
        out
    }

    /// Encodes everything except the time of sending.
    fn body(&self) -> Vec<u8> {
        let mut out = Vec::new();
        varint::put(&mut out, self.versions.len() as u64);
        for (key, version) in &self.versions {
            varint::put(&mut out, varint::zigzag(*key));
            out.extend(version.to_le_bytes());
        }
        fact_codec::encode(&self.records, &[], &mut out);
        out
    }

    fn to_message(&self) -> BatchMessage {
        let body = self.body();
        let id = Sha256::digest(&body).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        BatchMessage { bytes: [self.head(), body].concat(), id }
    }

    /// Parses a batch: every byte of it, each service with one version, and no version without a result.
    pub fn read(bytes: &[u8]) -> Result<Self, ResultBatchError> {
        let mut rest = bytes.strip_prefix(HEAD).ok_or(ResultBatchError)?;
        let mut number = || varint::take(&mut rest).ok_or(ResultBatchError);
        let sent_at = Timestamp::from_ms(varint::unzigzag(number()?));
        let count = number()?;
        let mut versions = BTreeMap::new();
        for _ in 0..count {
            let key = varint::unzigzag(varint::take(&mut rest).ok_or(ResultBatchError)?);
            let (version, after) = rest.split_first_chunk().ok_or(ResultBatchError)?;
            rest = after;
            if versions.insert(key, u64::from_le_bytes(*version)).is_some() {
                return Err(ResultBatchError);
            }
        }
        let mut records: Vec<CheckRecord> = Vec::new();
        let is_whole = FactDecoder::default().read_whole(rest, |fact| {
            let RecordedFact::Check(record) = fact else { return false };
            let is_of_sender = records.first().is_none_or(|first| first.location == record.location);
            let is_named = versions.contains_key(&record.service)
                && [record.checked_at, record.scheduled_at]
                    .iter()
                    .all(|at| (0..=LATEST_MS).contains(&at.ms()));
            records.push(record);
            is_of_sender && is_named
        });
        if is_whole { Ok(Self { sent_at, versions, records }) } else { Err(ResultBatchError) }
    }

    /// Returns the messages with these results, in their order; `version` returns the version with which each was measured.
    #[must_use]
    pub fn messages(
        records: &[CheckRecord],
        sent_at: Timestamp,
        version: &impl Fn(&CheckRecord) -> u64,
    ) -> Vec<BatchMessage> {
        let mut messages = Vec::new();
        for some in records.chunks(BATCH_RESULTS) {
            push_messages(some, sent_at, version, &mut messages);
        }
        messages
    }
}

fn push_messages(
    records: &[CheckRecord],
    sent_at: Timestamp,
    version: &impl Fn(&CheckRecord) -> u64,
    messages: &mut Vec<BatchMessage>,
) {
    // The results of a service that changed in between are split into two batches.
    let versions: BTreeMap<ServiceKey, u64> =
        records.iter().map(|record| (record.service, version(record))).collect();
    let is_of_one_version = records.iter().all(|record| versions[&record.service] == version(record));
    let message = ResultBatch { sent_at, versions, records: records.to_vec() }.to_message();
    let is_small = i64::try_from(message.bytes.len()).is_ok_and(|length| length <= LOCATION_PAYLOAD_BYTES);
    if records.len() <= 1 || (is_small && is_of_one_version) {
        return messages.push(message);
    }
    let (first, rest) = records.split_at(records.len() / 2);
    push_messages(first, sent_at, version, messages);
    push_messages(rest, sent_at, version, messages);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::location::LocationCode;
    use crate::model::service::ProbeRole;

    fn record(service: ServiceKey, at: i64, text: &str) -> CheckRecord {
        let location: LocationCode = "fra".parse().unwrap();
        CheckRecord {
            service,
            location,
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(at),
            checked_at: Timestamp::from_ms(at + 3),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], text, PhaseTimings::default()),
        }
    }

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);

    #[test]
    fn large_batches_are_split_without_loss() {
        let records: Vec<CheckRecord> =
            (0..2_000).map(|number| record(number % 300, number, &"€".repeat(500))).collect();
        let messages = ResultBatch::messages(&records, NOW, &|record| record.service.unsigned_abs() * 3);
        assert!(messages.iter().all(|message| message.bytes.len() <= 256 * 1_024) && messages.len() > 4);
        let read: Vec<ResultBatch> =
            messages.iter().map(|message| ResultBatch::read(&message.bytes).unwrap()).collect();
        assert!(read.iter().all(|batch| batch.sent_at == NOW));
        assert!(
            read.iter()
                .flat_map(|batch| &batch.versions)
                .all(|(key, version)| *version == key.unsigned_abs() * 3)
        );
        assert_eq!(read.into_iter().flat_map(|batch| batch.records).collect::<Vec<_>>(), records);
    }

    #[test]
    fn each_result_keeps_the_version_that_it_was_measured_in() {
        let records: Vec<CheckRecord> = (0..10).map(|number| record(1, number, "")).collect();
        let version = |record: &CheckRecord| u64::from(record.scheduled_at.ms() >= 7);
        let read = ResultBatch::messages(&records, NOW, &version);
        let read = read.iter().map(|message| ResultBatch::read(&message.bytes).unwrap());
        let found: Vec<u64> = read.flat_map(|batch| vec![batch.versions[&1]; batch.records.len()]).collect();
        assert_eq!(found, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_repeated_batch_has_the_same_id() {
        let sent = |at, service| ResultBatch::messages(&[record(service, 1, "")], at, &|_| 1).remove(0);
        let (first, again) = (sent(NOW, 1), sent(NOW.plus_ms(70_000), 1));
        assert!(first.id == again.id && first.id.len() == 32 && first.bytes != again.bytes);
        assert_ne!(sent(NOW, 2).id, first.id);
    }

    #[test]
    fn results_of_two_locations_are_not_one_batch() {
        let mut records = vec![record(1, 1, ""), record(1, 2, "")];
        records[1].location = "ams".parse().unwrap();
        let bytes = ResultBatch { sent_at: NOW, versions: [(1, 1)].into(), records }.to_bytes();
        assert_eq!(ResultBatch::read(&bytes), Err(ResultBatchError));
    }

    #[test]
    fn a_result_of_an_unlisted_service_is_refused() {
        let batch = ResultBatch { sent_at: NOW, versions: [(2, 1)].into(), records: vec![record(1, 1, "")] };
        assert_eq!(ResultBatch::read(&batch.to_bytes()), Err(ResultBatchError));
    }

    proptest! {
        #[test]
        fn a_truncated_batch_is_shorter_or_refused(cut in 1_usize..200) {
            let bytes = ResultBatch::messages(&[record(1, 1, "a"), record(2, 2, "b")], NOW, &|_| 1).remove(0).bytes;
            let shorter = &bytes[..bytes.len() - cut.min(bytes.len())];
            // Truncation between two results gives a shorter batch.
            let read = ResultBatch::read(shorter).map(|batch| batch.records.len());
            prop_assert!(read != Ok(2));
        }

        #[test]
        fn random_bytes_contain_no_results(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut headed = HEAD.to_vec();
            headed.append(&mut bytes);
            let read = ResultBatch::read(&headed);
            prop_assert!(read.is_err() || read.is_ok_and(|batch| batch.records.is_empty()));
        }
    }
}
