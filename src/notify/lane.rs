//! One channel as the courier sees it: how many messages may be under way, and the circuit that spares a channel which takes
//! nothing.
//!
//! After five failures in a row the circuit opens: nothing is sent for a while, then one message tries the channel; it
//! closes the circuit, or opens it for twice as long. Time comes in as an argument.

use crate::clock::Timestamp;

/// Most messages of a channel under way at once.
const WIDTH: usize = 16;
/// Failures in a row that open the circuit.
const FAILURES: u32 = 5;
/// The first time that a circuit stays open, in milliseconds; each is twice the one before.
const FIRST_OPEN_MS: i64 = 10_000;
/// The longest time, in milliseconds.
const LONGEST_OPEN_MS: i64 = 5 * 60 * 1_000;

/// The state of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    under_way: usize,
    failures: u32,
    /// Tries that were under way when the circuit opened: what becomes of them was decided before, and says nothing new.
    stragglers: usize,
    /// Nothing is sent before.
    closed_until: Option<Timestamp>,
    /// The time at which people changed the channel last.
    changed_at: Option<Timestamp>,
}

/// What a try means for the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It answers.
    Good,
    /// It failed; it may want no more before this time.
    Bad(Option<Timestamp>),
    /// It says nothing about the channel.
    Nothing,
}

/// What is to be done with what waits for the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Nothing.
    None,
    /// It is put off until then.
    PutOff(Timestamp),
    /// It is due now: the channel answers again.
    BringForward,
}

impl Lane {
    /// Returns true if no more messages may be under way.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        let width = if self.is_open() { 1 } else { WIDTH };
        self.under_way >= width
    }

    /// The time before which nothing may go, if it is to come.
    #[must_use]
    pub fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.closed_until.filter(|until| *until > now)
    }

    /// The channel is as people changed it at this time; one that has been changed since may be tried at once.
    pub fn note_change(&mut self, changed_at: Timestamp) {
        if self.changed_at.replace(changed_at) != Some(changed_at) {
            self.closed_until = None;
        }
    }

    /// Returns true if the circuit is open: the channel is known to take nothing.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.failures >= FAILURES
    }

    /// Returns true if nothing is under way or remembered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.failures == 0 && self.closed_until.is_none()
    }

    /// A message goes.
    pub const fn depart(&mut self) {
        self.under_way += 1;
    }

    /// Its try has ended at `now`.
    pub fn arrive(&mut self, sign: Sign, now: Timestamp) -> Consequence {
        self.under_way = self.under_way.saturating_sub(1);
        let is_straggler = self.stragglers > 0;
        self.stragglers = self.stragglers.saturating_sub(1);
        match sign {
            Sign::Nothing => Consequence::None,
            Sign::Good => {
                let was_open = self.is_open();
                (self.failures, self.stragglers, self.closed_until) = (0, 0, None);
                if was_open { Consequence::BringForward } else { Consequence::None }
            }
            Sign::Bad(None) if is_straggler => {
                self.closed_until(now).map_or(Consequence::None, Consequence::PutOff)
            }
            Sign::Bad(asked) => {
                self.failures = self.failures.saturating_add(1);
                if self.is_open() {
                    self.stragglers = self.under_way;
                }
                let open = self.is_open().then(|| now.plus_ms(open_ms(self.failures)));
                let until = open.max(asked.filter(|asked| *asked > now));
                self.closed_until = self.closed_until.max(until);
                until.map_or(Consequence::None, Consequence::PutOff)
            }
        }
    }
}

/// The milliseconds for which the circuit is open after so many failures in a row.
fn open_ms(failures: u32) -> i64 {
    let doubled = failures.saturating_sub(FAILURES).min(16);
    (FIRST_OPEN_MS << doubled).min(LONGEST_OPEN_MS)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);

    fn failed(times: u32) -> Lane {
        let mut lane = Lane::default();
        for _ in 0..times {
            lane.depart();
            lane.arrive(Sign::Bad(None), NOW);
        }
        lane
    }

    #[rstest]
    #[case(4, None)]
    #[case(5, Some(10_000))]
    #[case(6, Some(20_000))]
    #[case(10, Some(300_000))]
    #[case(u32::MAX, Some(300_000))]
    fn the_circuit_opens_for_longer_and_longer(#[case] failures: u32, #[case] ms: Option<i64>) {
        let mut lane = Lane { failures: failures - 1, ..Lane::default() };
        lane.depart();
        let expected = ms.map_or(Consequence::None, |ms| Consequence::PutOff(NOW.plus_ms(ms)));
        assert_eq!(lane.arrive(Sign::Bad(None), NOW), expected);
        assert_eq!(lane.closed_until(NOW).is_none(), ms.is_none());
    }

    /// Sixteen messages that fail together open the circuit for the first time, not for the longest.
    #[test]
    fn a_burst_that_fails_is_one_step() {
        let mut lane = Lane::default();
        (0..WIDTH).for_each(|_| lane.depart());
        let all: Vec<Consequence> = (0..WIDTH).map(|_| lane.arrive(Sign::Bad(None), NOW)).collect();
        assert_eq!(all.last(), Some(&Consequence::PutOff(NOW.plus_ms(FIRST_OPEN_MS))));
        let later = NOW.plus_ms(FIRST_OPEN_MS);
        lane.depart();
        assert_eq!(
            lane.arrive(Sign::Bad(None), later),
            Consequence::PutOff(later.plus_ms(2 * FIRST_OPEN_MS))
        );
    }

    #[test]
    fn one_message_tries_an_open_circuit_and_closes_it() {
        let mut lane = failed(5);
        let later = NOW.plus_ms(10_000);
        assert!(lane.closed_until(NOW).is_some() && lane.closed_until(later).is_none());
        assert!(!lane.is_full());
        lane.depart();
        assert!(lane.is_full(), "only one");
        assert_eq!(lane.arrive(Sign::Good, later), Consequence::BringForward);
        assert!(lane.is_idle());
    }

    #[test]
    fn the_other_side_may_ask_for_a_pause() {
        let mut lane = Lane::default();
        lane.depart();
        let asked = NOW.plus_ms(30_000);
        assert_eq!(lane.arrive(Sign::Bad(Some(asked)), NOW), Consequence::PutOff(asked));
        assert!(lane.closed_until(NOW).is_some() && lane.closed_until(asked).is_none());
        assert!(!lane.is_open());
    }

    #[test]
    fn a_channel_has_so_many_messages_under_way() {
        let mut lane = Lane::default();
        for _ in 0..WIDTH {
            assert!(!lane.is_full());
            lane.depart();
        }
        assert!(lane.is_full());
        assert_eq!(lane.arrive(Sign::Nothing, NOW), Consequence::None);
        assert!(!lane.is_full());
    }

    #[test]
    fn a_channel_that_people_have_changed_is_tried_at_once() {
        let mut lane = failed(6);
        lane.note_change(NOW);
        assert_eq!(lane.closed_until(NOW), None);
        lane.depart();
        lane.arrive(Sign::Bad(None), NOW);
        lane.note_change(NOW);
        assert!(lane.closed_until(NOW).is_some(), "that was known");
        lane.note_change(NOW.plus_ms(1));
        assert_eq!(lane.closed_until(NOW), None);
    }
}
