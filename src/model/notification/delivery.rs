//! One message for one channel: the outcomes of its attempts, and the time of the next one.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::digest::DeliveryHold;
use crate::model::notification::message::NotificationMessage;
use crate::model::word_enum::words;

/// The time after which a message that could not be delivered is given up, in milliseconds: a day.
pub const GIVEN_UP_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;
/// The wait after the first failed attempt, in milliseconds. Each later wait is twice as long as the one before.
const FIRST_WAIT_MS: i64 = 1_000;
/// The longest wait between two attempts, in milliseconds; a receiver cannot request a longer one.
pub const LONGEST_WAIT_MS: i64 = 15 * 60 * 1_000;
/// The shortest wait after an attempt that may have succeeded, in milliseconds. A mail server may take this long to answer
/// (RFC 5321, 4.5.3.2.6).
pub const UNCONFIRMED_WAIT_MS: i64 = 10 * 60 * 1_000;
/// Maximum number of stored characters of the receiver's answer.
pub const DETAIL_LENGTH: usize = 300;

words! {
    /// The status of a delivery.
    pub enum DeliveryStatus {
        /// The message waits for its first or next attempt.
        Waiting,
        /// The receiver has accepted the message.
        Delivered,
        /// The message was given up: after a day, or because the receiver refuses it permanently.
        Dead,
        /// The message was combined into a digest.
        Gathered,
    }
}

words! {
    /// The outcome of one attempt.
    pub enum DeliveryOutcome {
        /// The receiver has accepted the message.
        Delivered,
        /// The attempt failed, and may succeed later.
        Failed,
        /// The attempt failed, and another one would fail too.
        Refused,
        /// The message was sent, but no answer came: the receiver may have accepted it. It is tried again after a longer
        /// wait.
        Unconfirmed,
    }
}

/// What a failed attempt is blamed on. The failure of one message or one recipient does not affect other messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOwner {
    /// The receiver answers, but does not accept this message.
    Message,
    /// The receiver refuses messages for this recipient.
    Recipient,
    /// The channel accepts nothing: it cannot be reached, does not answer, requires other credentials or requests a pause.
    Channel,
    /// This machine could not send the message.
    Sender,
}

/// A message for a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Key of the row. Keys rise in the order of the events of an incident.
    pub key: i64,
    /// The id that the receiver sees: the same on every attempt.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the channel.
    pub channel: i64,
    /// Database key of the contact that the message is for; `None` = all readers of the channel.
    pub contact: Option<i64>,
    /// The contents of the message.
    pub message: NotificationMessage,
    /// Waiting, delivered, dead or gathered.
    pub status: DeliveryStatus,
    /// Number of attempts so far.
    pub tries: u32,
    /// The time of the event that the message reports.
    pub created_at: Timestamp,
    /// The time at which the message is given up.
    pub expires_at: Timestamp,
    /// The time of the next attempt; `None` if no attempt will follow, or while an earlier message about the same subject
    /// waits.
    pub due_at: Option<Timestamp>,
    /// The time at which the message was delivered, given up or combined into a digest; `None` before.
    pub ended_at: Option<Timestamp>,
    /// The hold, before whose end the message is not sent; `None` if the message is not held.
    pub hold: Option<DeliveryHold>,
    /// The id of the digest that includes the message, if any.
    pub digest: Option<Id>,
}

impl Delivery {
    /// A new message. It is sent at once or when its hold ends, and is given up a day after that.
    #[must_use]
    pub fn written(message: NotificationMessage, target: DeliveryTarget, now: Timestamp) -> Self {
        let DeliveryTarget { organisation, channel, contact, hold } = target;
        let start = hold.map_or(now, |hold| hold.until);
        Self {
            key: 0,
            id: Id::random(),
            organisation,
            channel,
            contact,
            message,
            status: DeliveryStatus::Waiting,
            tries: 0,
            created_at: now,
            expires_at: start.plus_ms(GIVEN_UP_AFTER_MS),
            due_at: Some(start),
            ended_at: None,
            hold,
            digest: None,
        }
    }
}

/// The destination of a message, and its hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryTarget {
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the channel.
    pub channel: i64,
    /// Database key of the contact that the message is for; `None` = all readers of the channel.
    pub contact: Option<i64>,
    /// The hold, before whose end the message is not sent; `None` if the message is not held.
    pub hold: Option<DeliveryHold>,
}

/// One attempt to send a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Start of the attempt.
    pub at: Timestamp,
    /// Duration of the attempt in milliseconds.
    pub took_ms: i64,
    /// Success, or the kind of failure.
    pub outcome: DeliveryOutcome,
    /// The status code of the answer; `None` if no answer came.
    pub status_code: Option<u16>,
    /// The answer or the error, without secrets; at most [`DETAIL_LENGTH`] characters.
    pub detail: String,
}

/// The wait in milliseconds after this number of failed attempts, without jitter: doubled each time, at most a quarter of
/// an hour.
#[must_use]
pub fn wait_ms(tries: u32) -> i64 {
    let doubled = tries.saturating_sub(1).min(30);
    (FIRST_WAIT_MS << doubled).min(LONGEST_WAIT_MS)
}

/// A failed attempt, with the facts that decide the time of the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailedDelivery {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// The earliest time of the next attempt, if the receiver requested one.
    pub retry_after: Option<Timestamp>,
    /// True if the receiver may have accepted the message.
    pub is_unconfirmed: bool,
    /// Jitter, 0..1: lengthens the wait by up to a quarter, so that attempts do not all come at the same time.
    pub jitter: f64,
}

/// The time of the next attempt; `None` if the message has expired. The attempt is no later than `expires_at`. A pause that
/// the receiver requests counts up to [`LONGEST_WAIT_MS`]. A message that may have been accepted is not sent again before
/// [`UNCONFIRMED_WAIT_MS`] have passed, unless it expires sooner.
#[must_use]
pub fn next_try(failed: FailedDelivery, expires_at: Timestamp) -> Option<Timestamp> {
    let least = if failed.is_unconfirmed { UNCONFIRMED_WAIT_MS } else { 0 };
    let wait = wait_ms(failed.number).max(least);
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "minutes at most")]
    let more = (wait as f64 * 0.25 * failed.jitter.clamp(0.0, 1.0)) as i64;
    let due = failed.at.plus_ms(wait + more);
    let latest = failed.at.plus_ms(LONGEST_WAIT_MS);
    let due = failed.retry_after.map_or(due, |asked| asked.min(latest).max(due));
    (failed.at < expires_at).then_some(due.min(expires_at))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(1, 1_000)]
    #[case(2, 2_000)]
    #[case(5, 16_000)]
    #[case(10, 512_000)]
    #[case(11, 900_000)]
    #[case(u32::MAX, 900_000)]
    fn waits_double_up_to_a_quarter_of_an_hour(#[case] tries: u32, #[case] ms: i64) {
        assert_eq!(wait_ms(tries), ms);
    }

    /// Number of the attempt, milliseconds until the message expires, the pause that the receiver requests (seconds),
    /// jitter; the wait in milliseconds.
    #[rstest]
    #[case(1, GIVEN_UP_AFTER_MS, None, 0.0, Some(1_000))]
    #[case(1, GIVEN_UP_AFTER_MS, None, 1.0, Some(1_250))]
    #[case(1, GIVEN_UP_AFTER_MS, Some(30), 0.0, Some(30_000))]
    #[case(11, GIVEN_UP_AFTER_MS, Some(30), 0.0, Some(900_000))]
    #[case(1, GIVEN_UP_AFTER_MS, Some(99_999_999), 0.0, Some(900_000))]
    #[case(11, 60_000, None, 0.0, Some(60_000))]
    #[case(1, 60_000, Some(3_600), 0.0, Some(60_000))]
    #[case(40, 0, None, 0.0, None)]
    #[case(1, 0, Some(99_999_999), 0.0, None)]
    #[case(1, -1, Some(30), 0.0, None)]
    fn a_message_is_tried_until_it_expires(
        #[case] number: u32,
        #[case] left_ms: i64,
        #[case] asked_s: Option<i64>,
        #[case] jitter: f64,
        #[case] expected: Option<i64>,
    ) {
        let at = Timestamp::from_ms(1_000_000_000_000);
        let retry_after = asked_s.map(|seconds| at.plus_ms(seconds * 1_000));
        let failed = FailedDelivery { number, at, retry_after, jitter, is_unconfirmed: false };
        let due = next_try(failed, at.plus_ms(left_ms));
        assert_eq!(due.map(|due| due.ms_since(at)), expected);
    }

    /// Number of the attempt, milliseconds until the message expires; the wait in milliseconds.
    #[rstest]
    #[case(1, GIVEN_UP_AFTER_MS, 600_000)]
    #[case(11, GIVEN_UP_AFTER_MS, 900_000)]
    #[case(1, 60_000, 60_000)]
    fn a_possibly_accepted_message_is_repeated_late(
        #[case] number: u32,
        #[case] left_ms: i64,
        #[case] expected: i64,
    ) {
        let at = Timestamp::from_ms(1_000_000_000_000);
        let failed = FailedDelivery { number, at, retry_after: None, jitter: 0.0, is_unconfirmed: true };
        let due = next_try(failed, at.plus_ms(left_ms)).unwrap();
        assert_eq!(due.ms_since(at), expected);
    }
}
