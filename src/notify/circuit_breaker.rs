//! The circuit breaker of a channel: spares a receiver that accepts nothing, without delaying messages that it would accept.
//!
//! Five failures in a row, of different messages or recipients or of the channel as a whole, open the circuit for 10 s, 20 s …
//! 5 minutes; then one message probes it. Meanwhile messages that were never tried may be sent, one every two seconds: earlier
//! failures may have been due to their messages. A success closes the circuit. Time is an argument.

use crate::clock::Timestamp;
use crate::model::notification::delivery::LONGEST_WAIT_MS;

/// Consecutive failures that open the circuit.
const FAILURES: usize = 5;
/// The first time that a circuit stays open, in milliseconds; each time is twice the one before.
const FIRST_OPEN_MS: i64 = 10_000;
/// The longest time that a circuit stays open, in milliseconds.
const LONGEST_OPEN_MS: i64 = 5 * 60 * 1_000;
/// The time between two first tries while the circuit is open, in milliseconds.
const FIRST_TRY_GAP_MS: i64 = 2_000;

/// The circuit of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CircuitBreaker {
    under_way: usize,
    /// Sources of the consecutive failures; each message and each recipient is counted once.
    failures: Vec<FailureSource>,
    /// Number of consecutive openings; 0 = closed.
    openings: u32,
    /// No attempt before this time, except first attempts of a message.
    open_until: Option<Timestamp>,
    /// No first attempt of a message before this time, while the circuit is open.
    first_try_from: Option<Timestamp>,
    /// No attempt at all before this time, because the receiver asked for a pause (`Retry-After`).
    paused_until: Option<Timestamp>,
    /// True while an open circuit is probed.
    is_probing: bool,
    /// Changes whenever the circuit opens or closes: an attempt that started before says little about the time after.
    generation: u32,
    /// The time of the last change of the channel by a user.
    changed_at: Option<Timestamp>,
}

/// The scope of a failure. Repeated failures of the same recipient or message count once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureSource {
    /// The channel itself, for every message.
    Channel,
    /// The messages to this contact; `None` = messages without a contact.
    Recipient(Option<i64>),
    /// The message with this key.
    Message(i64),
}

/// The effect of an attempt on the channel's circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelSign {
    /// The channel accepts messages.
    Taken,
    /// The channel did not accept the message.
    Failed {
        /// The scope of the failure.
        source: FailureSource,
        /// The time before which the channel asks for no further message.
        retry_after: Option<Timestamp>,
    },
    /// The attempt says nothing about the channel.
    Nothing,
}

/// The permission for one attempt, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryPass {
    generation: u32,
    kind: PassKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassKind {
    /// The circuit was closed.
    Usual,
    /// The circuit was open, and a probe was due.
    Probe,
    /// The circuit was open, and the message had never been tried.
    FirstTry,
}

impl CircuitBreaker {
    /// Permits an attempt; `None` while the circuit is open or the channel asked for a pause.
    pub fn admit(&mut self, is_first_try: bool, now: Timestamp) -> Option<TryPass> {
        let kind = self.pass(is_first_try, now)?;
        match kind {
            PassKind::Usual => {}
            PassKind::Probe => self.is_probing = true,
            PassKind::FirstTry => self.first_try_from = Some(now.plus_ms(FIRST_TRY_GAP_MS)),
        }
        self.under_way += 1;
        Some(TryPass { generation: self.generation, kind })
    }

    /// Returns true if an attempt would be permitted.
    #[must_use]
    pub fn admits(&self, is_first_try: bool, now: Timestamp) -> bool {
        self.pass(is_first_try, now).is_some()
    }

    fn pass(&self, is_first_try: bool, now: Timestamp) -> Option<PassKind> {
        let has_come = |at: Option<Timestamp>| at.is_none_or(|at| at <= now);
        if !has_come(self.paused_until) {
            return None;
        }
        if !self.is_open() {
            return Some(PassKind::Usual);
        }
        if !self.is_probing && has_come(self.open_until) {
            return Some(PassKind::Probe);
        }
        (is_first_try && has_come(self.first_try_from)).then_some(PassKind::FirstTry)
    }

    /// Notes the time of the channel's last change by a user. A channel that has changed since is tried at once.
    pub fn note_change(&mut self, changed_at: Timestamp) {
        if self.changed_at.replace(changed_at) != Some(changed_at) {
            (self.open_until, self.paused_until, self.first_try_from) = (None, None, None);
        }
    }

    /// Returns true if the circuit is open: the channel is known to accept nothing.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.openings > 0
    }

    /// Returns true if the circuit is in its initial state and need not be stored.
    #[must_use]
    pub fn is_idle(&self, now: Timestamp) -> bool {
        self.under_way == 0
            && self.failures.is_empty()
            && !self.is_open()
            && self.paused_until.is_none_or(|until| until <= now)
    }

    /// Returns a pass that was not used.
    pub fn give_back(&mut self, pass: TryPass) {
        self.under_way = self.under_way.saturating_sub(1);
        self.end_probe(pass);
    }

    /// Notes the end of an attempt. Returns true if the channel has recovered: messages that wait for a later attempt may then
    /// be sent at once.
    pub fn note_end(&mut self, pass: TryPass, sign: ChannelSign, now: Timestamp) -> bool {
        self.give_back(pass);
        match sign {
            ChannelSign::Nothing => false,
            ChannelSign::Taken => self.close(),
            ChannelSign::Failed { source, retry_after } => {
                let latest = now.plus_ms(LONGEST_WAIT_MS);
                let asked = retry_after.filter(|asked| *asked > now).map(|asked| asked.min(latest));
                self.paused_until = self.paused_until.max(asked);
                if pass.generation == self.generation {
                    self.note_failure(pass.kind, source, now);
                }
                false
            }
        }
    }

    fn end_probe(&mut self, pass: TryPass) {
        if pass.kind == PassKind::Probe && pass.generation == self.generation {
            self.is_probing = false;
        }
    }

    fn close(&mut self) -> bool {
        let was_unreachable = self.is_open() && self.failures.contains(&FailureSource::Channel);
        self.generation = self.generation.wrapping_add(u32::from(self.is_open()));
        self.failures.clear();
        (self.openings, self.is_probing) = (0, false);
        (self.open_until, self.first_try_from) = (None, None);
        was_unreachable
    }

    fn note_failure(&mut self, kind: PassKind, source: FailureSource, now: Timestamp) {
        match kind {
            PassKind::FirstTry => {}
            PassKind::Probe => self.open(now),
            PassKind::Usual => {
                if source == FailureSource::Channel || !self.failures.contains(&source) {
                    self.failures.push(source);
                }
                if self.failures.len() >= FAILURES {
                    self.generation = self.generation.wrapping_add(1);
                    self.first_try_from = Some(now.plus_ms(FIRST_TRY_GAP_MS));
                    self.open(now);
                }
            }
        }
    }

    fn open(&mut self, now: Timestamp) {
        self.openings = self.openings.saturating_add(1);
        self.open_until = Some(now.plus_ms(open_ms(self.openings)));
    }
}

/// Returns the time in milliseconds for which the circuit stays open after this number of consecutive openings.
fn open_ms(openings: u32) -> i64 {
    let doubled = openings.saturating_sub(1).min(16);
    (FIRST_OPEN_MS << doubled).min(LONGEST_OPEN_MS)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);
    const CHANNEL: ChannelSign = failed(FailureSource::Channel);

    const fn failed(source: FailureSource) -> ChannelSign {
        ChannelSign::Failed { source, retry_after: None }
    }

    const fn message(key: i64) -> ChannelSign {
        failed(FailureSource::Message(key))
    }

    const fn recipient(contact: i64) -> ChannelSign {
        failed(FailureSource::Recipient(Some(contact)))
    }

    const fn asked(after_ms: i64) -> ChannelSign {
        let retry_after = Some(Timestamp::from_ms(NOW.ms() + after_ms));
        ChannelSign::Failed { source: FailureSource::Channel, retry_after }
    }

    /// Returns a circuit after these consecutive attempts.
    fn after(signs: &[ChannelSign]) -> CircuitBreaker {
        let mut circuit = CircuitBreaker::default();
        for sign in signs {
            let pass = circuit.admit(false, NOW).unwrap();
            circuit.note_end(pass, *sign, NOW);
        }
        circuit
    }

    /// Returns the seconds until a repeated attempt, and until a first attempt, is permitted.
    fn waits(circuit: &CircuitBreaker) -> (i64, i64) {
        let wait = |is_first_try| {
            (0..=1_000).find(|s| circuit.admits(is_first_try, NOW.plus_ms(s * 1_000))).unwrap()
        };
        (wait(false), wait(true))
    }

    #[rstest]
    #[case::four_failures(&[CHANNEL; 4], (0, 0))]
    #[case::five_failures(&[CHANNEL; 5], (10, 2))]
    #[case::one_message_that_fails_for_ever(&[message(1); 9], (0, 0))]
    #[case::one_permanently_refused_recipient(&[recipient(1); 9], (0, 0))]
    #[case::five_messages(&[message(1), message(2), message(3), message(4), message(5)], (10, 2))]
    #[case::five_recipients(&[recipient(1), recipient(2), recipient(3), recipient(4), recipient(5)], (10, 2))]
    #[case::failures_while_others_pass(
        &[message(1), message(2), message(3), message(4), ChannelSign::Taken, message(5), message(6)], (0, 0)
    )]
    #[case::no_signal(&[ChannelSign::Nothing; 9], (0, 0))]
    #[case::a_pause(&[asked(30_000)], (30, 30))]
    #[case::a_pause_of_136_years(&[asked(4_294_967_295_000)], (900, 900))]
    #[case::a_pause_in_the_past(&[asked(-5_000)], (0, 0))]
    fn failures_and_requested_waits_pause_a_channel(
        #[case] signs: &[ChannelSign],
        #[case] seconds: (i64, i64),
    ) {
        assert_eq!(waits(&after(signs)), seconds);
    }

    #[rstest]
    #[case(1, 10_000)]
    #[case(2, 20_000)]
    #[case(6, 300_000)]
    #[case(u32::MAX, 300_000)]
    fn the_circuit_opens_for_longer_and_longer(#[case] openings: u32, #[case] ms: i64) {
        assert_eq!(open_ms(openings), ms);
    }

    /// Sixteen messages that fail together open the circuit for the first time, not for the longest.
    #[test]
    fn a_failed_burst_counts_as_one_step() {
        let mut circuit = CircuitBreaker::default();
        let passes: Vec<TryPass> = (0..16).map(|_| circuit.admit(true, NOW).unwrap()).collect();
        for pass in passes {
            circuit.note_end(pass, CHANNEL, NOW);
        }
        assert_eq!(waits(&circuit).0, 10);
    }

    #[test]
    fn one_message_probes_an_open_circuit_and_closes_it() {
        let mut circuit = after(&[CHANNEL; 5]);
        let later = NOW.plus_ms(10_000);
        let pass = circuit.admit(false, later).unwrap();
        assert!(!circuit.admits(false, later), "only one");
        assert!(circuit.note_end(pass, ChannelSign::Taken, later), "what waits is brought forward");
        assert!(circuit.is_idle(later));
    }

    #[test]
    fn a_failed_probe_doubles_the_pause() {
        let mut circuit = after(&[CHANNEL; 5]);
        let later = NOW.plus_ms(10_000);
        let pass = circuit.admit(false, later).unwrap();
        circuit.note_end(pass, message(1), later);
        assert!(
            !circuit.admits(false, later.plus_ms(19_999)) && circuit.admits(false, later.plus_ms(20_000))
        );
    }

    /// First attempts do not lengthen the time for which the circuit is open: thousands of messages may be waiting.
    #[test]
    fn first_attempts_are_sent_every_two_seconds_while_the_circuit_is_open() {
        let mut circuit = after(&[message(1), message(2), message(3), message(4), message(5)]);
        let first = NOW.plus_ms(2_000);
        let pass = circuit.admit(true, first).unwrap();
        assert!(!circuit.admits(true, first.plus_ms(1_999)) && circuit.admits(true, first.plus_ms(2_000)));
        circuit.note_end(pass, message(6), first);
        assert_eq!(waits(&circuit).0, 10);
        let pass = circuit.admit(true, first.plus_ms(2_000)).unwrap();
        assert!(
            !circuit.note_end(pass, ChannelSign::Taken, first.plus_ms(2_000)),
            "the others fail by themselves"
        );
        assert!(!circuit.is_open());
    }

    #[test]
    fn an_attempt_from_before_the_opening_is_ignored() {
        let mut circuit = CircuitBreaker::default();
        let straggler = circuit.admit(false, NOW).unwrap();
        for _ in 0..5 {
            let pass = circuit.admit(false, NOW).unwrap();
            circuit.note_end(pass, CHANNEL, NOW);
        }
        circuit.note_end(straggler, CHANNEL, NOW.plus_ms(5_000));
        assert_eq!(waits(&circuit).0, 10);
    }

    #[test]
    fn a_success_does_not_end_a_requested_pause() {
        let mut circuit = CircuitBreaker::default();
        let other = circuit.admit(false, NOW).unwrap();
        let pass = circuit.admit(false, NOW).unwrap();
        circuit.note_end(pass, asked(30_000), NOW);
        circuit.note_end(other, ChannelSign::Taken, NOW);
        assert_eq!(waits(&circuit), (30, 30));
        assert!(!circuit.is_idle(NOW) && circuit.is_idle(NOW.plus_ms(30_000)));
    }

    #[test]
    fn an_edited_channel_is_tried_at_once() {
        let mut circuit = after(&[CHANNEL; 5]);
        circuit.note_change(NOW);
        let pass = circuit.admit(false, NOW).unwrap();
        circuit.note_end(pass, asked(60_000), NOW);
        circuit.note_change(NOW);
        assert!(!circuit.admits(false, NOW), "that was known");
        circuit.note_change(NOW.plus_ms(1));
        assert!(circuit.admits(false, NOW));
    }
}
