//! The choice of messages to read next: channels with due messages and free capacity, organisations alternating. Rows that
//! cannot be read are skipped.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::clock::Timestamp;
use crate::model::notification::fair_share::OccupiedSlots;
use crate::notify::circuit_breaker::CircuitBreaker;
use crate::store::notifications::due::{MessageSelection, WantedMessages, due_channels};
use crate::store::{MainError, Reader};

/// Maximum number of channels that one poll finds; the next poll continues after them.
const FOUND: usize = 2_000;
/// Maximum number of channels whose messages one poll reads.
const READ: usize = 64;
/// Maximum number of unreadable messages that are skipped; beyond it all of them are tried again.
const UNREADABLE: usize = 1_000;

/// The order of channels across polls.
#[derive(Debug, Default)]
pub(super) struct ChannelTurns {
    /// The channel after which the next poll starts; 0 = at the first one.
    behind: i64,
    rounds: usize,
    /// Channels that are skipped because their rows cannot be read.
    unreadable: HashSet<i64>,
}

impl ChannelTurns {
    /// Skips a channel whose row cannot be read.
    pub(super) fn leave_out(&mut self, channel: i64) {
        self.unreadable.insert(channel);
    }

    /// Stops skipping channels: their rows may have been repaired.
    pub(super) fn take_in_again(&mut self) {
        self.unreadable.clear();
    }

    /// Returns true if the last poll found as many channels as it reads, so that there may be more.
    pub(super) const fn has_more(&self) -> bool {
        self.behind != 0
    }

    /// Returns the channels whose messages are read now.
    pub(super) async fn next(
        &mut self,
        reader: &Reader,
        now: Timestamp,
        circuits: &mut HashMap<i64, CircuitBreaker>,
        slots: &OccupiedSlots,
    ) -> Result<Vec<WantedMessages>, MainError> {
        let found = due_channels(reader, now, self.behind, FOUND as u64).await?;
        self.behind = found.get(FOUND - 1).map_or(0, |last| last.key);
        self.rounds = self.rounds.wrapping_add(1);
        let wanted = found.into_iter().filter_map(|channel| {
            if self.unreadable.contains(&channel.key) {
                return None;
            }
            if !slots.channel_has_room(channel.placed(), true) {
                return None;
            }
            let mut selection = MessageSelection::All;
            if let Some(circuit) = circuits.get_mut(&channel.key) {
                circuit.note_change(channel.updated_at);
                if !circuit.admits(true, now) {
                    return None;
                }
                if !circuit.admits(false, now) {
                    selection = MessageSelection::FirstTries;
                }
            }
            if !slots.channel_has_room(channel.placed(), false) {
                selection = MessageSelection::Steps;
            }
            Some(WantedMessages { channel, selection, except: Vec::new() })
        });
        Ok(take_turns(wanted.collect(), self.rounds, |organisation| slots.of_organisation(organisation)))
    }
}

/// Returns at most [`READ`] of these channels: one of each organisation, then a second one of each, the organisation with the
/// fewest running attempts first. If an organisation has more, they rotate from poll to poll.
fn take_turns(
    wanted: Vec<WantedMessages>,
    rounds: usize,
    under_way: impl Fn(i64) -> usize,
) -> Vec<WantedMessages> {
    let organisation = |wanted: &WantedMessages| wanted.channel.organisation;
    let mut queues: BTreeMap<i64, VecDeque<WantedMessages>> = BTreeMap::new();
    for wanted in wanted {
        queues.entry(organisation(&wanted)).or_default().push_back(wanted);
    }
    let mut queues: Vec<VecDeque<WantedMessages>> = queues.into_values().collect();
    queues.sort_by_key(|queue| queue.front().map(|first| under_way(organisation(first))));
    for queue in &mut queues {
        let turned = rounds % queue.len();
        queue.rotate_left(turned);
    }
    let mut taken = Vec::new();
    while taken.len() < READ && !queues.is_empty() {
        let room = READ - taken.len();
        taken.extend(queues.iter_mut().filter_map(VecDeque::pop_front).take(room));
        queues.retain(|queue| !queue.is_empty());
    }
    taken
}

/// Messages whose rows cannot be read, by channel. They wait for another version of the program or a repair of the row.
#[derive(Debug, Default)]
pub(super) struct UnreadableMessages(HashMap<i64, Vec<i64>>);

impl UnreadableMessages {
    /// Notes a message that cannot be read.
    pub(super) fn note(&mut self, channel: i64, message: i64) {
        if self.0.values().map(Vec::len).sum::<usize>() >= UNREADABLE {
            self.0.clear();
        }
        self.0.entry(channel).or_default().push(message);
    }

    /// Returns the wanted messages without the unreadable ones.
    pub(super) fn without(&self, mut wanted: Vec<WantedMessages>) -> Vec<WantedMessages> {
        for wanted in &mut wanted {
            wanted.except = self.0.get(&wanted.channel.key).cloned().unwrap_or_default();
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::notifications::due::DueChannel;

    fn wanted(organisation: i64, key: i64) -> WantedMessages {
        let updated_at = Timestamp::from_ms(0);
        let channel = DueChannel { key, organisation, has_mailboxes: false, updated_at };
        WantedMessages { channel, selection: MessageSelection::All, except: Vec::new() }
    }

    fn keys(wanted: Vec<WantedMessages>) -> Vec<i64> {
        wanted.into_iter().map(|wanted| wanted.channel.key).collect()
    }

    #[test]
    fn organisations_alternate_with_the_idlest_first() {
        let due =
            vec![wanted(1, 10), wanted(1, 11), wanted(1, 12), wanted(2, 20), wanted(3, 30), wanted(3, 31)];
        let under_way = |organisation| if organisation == 1 { 5 } else { 0 };
        assert_eq!(keys(take_turns(due.clone(), 0, under_way)), [20, 30, 10, 31, 11, 12]);
        assert_eq!(keys(take_turns(due, 1, under_way)), [20, 31, 11, 30, 12, 10]);
    }

    #[test]
    fn many_channels_of_one_organisation_do_not_displace_another() {
        let mut due: Vec<WantedMessages> = (0..500).map(|key| wanted(1, key)).collect();
        due.push(wanted(2, 999));
        let taken = keys(take_turns(due, 0, |_| 0));
        assert_eq!(taken.len(), READ);
        assert!(taken.contains(&999));
    }

    #[test]
    fn unreadable_messages_are_left_out_and_retried_later() {
        let mut unreadable = UnreadableMessages::default();
        unreadable.note(10, 1);
        assert_eq!(unreadable.without(vec![wanted(1, 10), wanted(1, 11)])[0].except, [1]);
        (0..1_000).for_each(|message| unreadable.note(11, message));
        assert!(unreadable.without(vec![wanted(1, 10)])[0].except.is_empty());
    }
}
