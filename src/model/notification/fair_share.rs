//! Chooses which due messages are tried next, so that slow receivers of one organisation do not delay the messages of
//! others.
//!
//! Each running attempt occupies a slot. Slots are limited in total, per organisation, per channel, and per mailbox of a
//! channel that sends mails. Each level may occupy only a share of the slots that are free one level above, so some slots
//! stay free even if many receivers hang. The next slot goes to the organisation and the channel with the fewest running
//! attempts. Within a channel escalations come first, then the messages with the fewest attempts, then those due longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use crate::clock::Timestamp;
use crate::model::notification::ordering_scope::OrderingScope;

/// Maximum number of running attempts over all organisations.
pub const SLOTS: usize = 1_024;
/// Maximum number of running attempts of one organisation.
const ORGANISATION_SLOTS: usize = 128;
/// Maximum number of running attempts of one channel.
const CHANNEL_SLOTS: usize = 16;
/// Maximum number of running attempts of a channel that sends mails; a conversation with a mail server may take minutes.
const MAIL_CHANNEL_SLOTS: usize = 24;
/// Divisor of the free slots that an organisation may occupy: an eighth.
const ORGANISATION_SHARE: usize = 8;
/// Divisor of the free slots that a channel or a mailbox may occupy: a quarter.
const SHARE: usize = 4;
/// Divisor of the free slots that an escalation may occupy at any level: half.
const ESCALATION_SHARE: usize = 2;
/// Divisor of the slots that are reserved for escalations: an eighth.
const RESERVED: usize = 8;

/// A message that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueMessage {
    /// Database key of the delivery.
    pub key: i64,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the channel.
    pub channel: i64,
    /// Database key of the contact that the message is for; `None` = all readers of the channel.
    pub contact: Option<i64>,
    /// The messages of the channel that it must not overtake.
    pub line: OrderingScope,
    /// The id of the subject of the message.
    pub subject: String,
    /// Number of attempts so far.
    pub tries: u32,
    /// True for a step of an escalation.
    pub is_escalation: bool,
    /// True if the message was held, so that a digest may include it.
    pub is_held: bool,
    /// The time since which the message is due.
    pub due_at: Timestamp,
}

impl DueMessage {
    fn rank(&self) -> impl Ord + use<> {
        (!self.is_escalation, self.tries, self.due_at, self.key)
    }

    fn queue(&self) -> MessageQueue {
        MessageQueue { channel: self.channel, line: self.line, subject: self.subject.clone() }
    }

    const fn mailbox(&self) -> Option<ChannelMailbox> {
        match self.line {
            OrderingScope::Own(contact) => Some(ChannelMailbox { channel: self.channel, contact }),
            OrderingScope::Whole => None,
        }
    }

    const fn placed_channel(&self) -> PlacedChannel {
        PlacedChannel {
            key: self.channel,
            organisation: self.organisation,
            has_mailboxes: matches!(self.line, OrderingScope::Own(_)),
        }
    }
}

/// A channel, with the properties that decide its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedChannel {
    /// Database key of the channel.
    pub key: i64,
    /// Database key of its organisation.
    pub organisation: i64,
    /// True if the channel sends mails.
    pub has_mailboxes: bool,
}

impl PlacedChannel {
    const fn slots(self) -> usize {
        if self.has_mailboxes { MAIL_CHANNEL_SLOTS } else { CHANNEL_SLOTS }
    }
}

/// A mailbox that a channel sends to. It belongs to a contact, or gets the messages that are for no particular contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ChannelMailbox {
    channel: i64,
    contact: Option<i64>,
}

/// Messages that must be sent one after the other: about the same subject, in the same ordering scope of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MessageQueue {
    channel: i64,
    line: OrderingScope,
    subject: String,
}

/// The slots that running attempts occupy.
#[derive(Clone, Debug, Default)]
pub struct OccupiedSlots {
    total: usize,
    organisations: HashMap<i64, usize>,
    channels: HashMap<i64, HashSet<i64>>,
    mailboxes: HashMap<ChannelMailbox, usize>,
    queues: HashSet<MessageQueue>,
}

impl OccupiedSlots {
    /// Number of running attempts.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.total
    }

    /// Number of running attempts of an organisation.
    #[must_use]
    pub fn of_organisation(&self, organisation: i64) -> usize {
        self.organisations.get(&organisation).copied().unwrap_or_default()
    }

    /// Returns true if an attempt to send this message is running.
    #[must_use]
    pub fn is_under_way(&self, message: &DueMessage) -> bool {
        self.channels.get(&message.channel).is_some_and(|keys| keys.contains(&message.key))
    }

    /// Returns true if one more attempt of the channel would stay within the limits of its organisation and of the channel.
    /// Limits of mailboxes are not checked.
    #[must_use]
    pub fn channel_has_room(&self, channel: PlacedChannel, is_escalation: bool) -> bool {
        self.count_of_channel(channel.key) < self.bound_of_channel(channel, is_escalation)
    }

    /// The number of slots that a channel may occupy at the moment.
    fn bound_of_channel(&self, channel: PlacedChannel, is_escalation: bool) -> usize {
        let own = self.of_organisation(channel.organisation);
        let part = |share, slots, taken| part_for(is_escalation, share, slots, taken);
        let of_organisation = part(ORGANISATION_SHARE, SLOTS, self.total).min(ORGANISATION_SLOTS);
        if own >= of_organisation {
            return 0;
        }
        part(SHARE, of_organisation, own).min(part(1, channel.slots(), 0))
    }

    fn count_of_mailbox(&self, mailbox: ChannelMailbox) -> usize {
        self.mailboxes.get(&mailbox).copied().unwrap_or_default()
    }

    fn count_of_channel(&self, channel: i64) -> usize {
        self.channels.get(&channel).map_or(0, HashSet::len)
    }

    /// Returns true if a message about the same subject is being sent in the same ordering scope.
    #[must_use]
    pub fn is_queued_behind(&self, message: &DueMessage) -> bool {
        self.queues.contains(&message.queue())
    }

    /// The subjects about which the channel is sending a message.
    pub fn subjects(&self, channel: i64) -> impl Iterator<Item = &str> {
        self.queues.iter().filter(move |queue| queue.channel == channel).map(|queue| queue.subject.as_str())
    }

    /// Returns true if an attempt to send the message would stay within all limits.
    #[must_use]
    pub fn has_room(&self, message: &DueMessage) -> bool {
        let channel = message.placed_channel();
        let bound = self.bound_of_channel(channel, message.is_escalation);
        let in_channel = self.count_of_channel(channel.key);
        let share = if message.is_escalation { ESCALATION_SHARE } else { SHARE };
        let is_free = |mailbox| self.count_of_mailbox(mailbox) < part_of_free(bound, in_channel, share);
        in_channel < bound && message.mailbox().is_none_or(is_free) && !self.is_queued_behind(message)
    }

    /// Occupies the slots for an attempt that starts.
    pub fn take(&mut self, message: &DueMessage) {
        self.total += 1;
        *self.organisations.entry(message.organisation).or_default() += 1;
        self.channels.entry(message.channel).or_default().insert(message.key);
        if let Some(mailbox) = message.mailbox() {
            *self.mailboxes.entry(mailbox).or_default() += 1;
        }
        self.queues.insert(message.queue());
    }

    /// Frees the slots of an attempt that has ended.
    pub fn release(&mut self, message: &DueMessage) {
        self.total = self.total.saturating_sub(1);
        count_down(&mut self.organisations, message.organisation);
        if let Some(mailbox) = message.mailbox() {
            count_down(&mut self.mailboxes, mailbox);
        }
        self.queues.remove(&message.queue());
        if let Some(keys) = self.channels.get_mut(&message.channel) {
            keys.remove(&message.key);
            if keys.is_empty() {
                self.channels.remove(&message.channel);
            }
        }
    }
}

fn count_down<K: Copy + Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// The number of slots that an organisation, channel or mailbox may occupy, if `taken` of `slots` are in use: the free
/// slots divided by `share`, rounded up.
const fn part_of_free(slots: usize, taken: usize, share: usize) -> usize {
    slots.saturating_sub(taken).div_ceil(share)
}

/// Like `part_of_free`, but leaves the reserve for escalations free unless this is an escalation.
const fn part_for(is_escalation: bool, share: usize, slots: usize, taken: usize) -> usize {
    if is_escalation {
        part_of_free(slots, taken, if share < ESCALATION_SHARE { share } else { ESCALATION_SHARE })
    } else {
        part_of_free(slots - slots / RESERVED, taken, share)
    }
}

/// Chooses up to `most` messages to be tried next and occupies their slots. Each is returned with the result of `admit`,
/// which is called last; if it returns `None`, the message is not chosen.
pub fn choose_next<P>(
    due: Vec<DueMessage>,
    slots: &mut OccupiedSlots,
    most: usize,
    mut admit: impl FnMut(&DueMessage) -> Option<P>,
) -> Vec<(DueMessage, P)> {
    let mut mailboxes: BTreeMap<_, Vec<DueMessage>> = BTreeMap::new();
    for message in due {
        mailboxes.entry((message.channel, message.mailbox())).or_default().push(message);
    }
    let mut queues: Vec<Vec<DueMessage>> = mailboxes.into_values().collect();
    for queue in &mut queues {
        // Sorted in reverse, so that the next message is the last one.
        queue.sort_by_key(|message| Reverse(message.rank()));
    }
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let rank = |message: &DueMessage| {
            let own = slots.of_organisation(message.organisation);
            let in_channel = slots.count_of_channel(message.channel);
            let in_mailbox = message.mailbox().map_or(0, |mailbox| slots.count_of_mailbox(mailbox));
            (own, !message.is_escalation, in_channel, in_mailbox, message.rank())
        };
        let heads = queues.iter_mut().filter(|queue| !queue.is_empty());
        let next = heads.min_by_key(|queue| queue.last().map(rank)).and_then(Vec::pop);
        let Some(message) = next else { break };
        if slots.has_room(&message)
            && let Some(pass) = admit(&message)
        {
            slots.take(&message);
            chosen.push((message, pass));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A message of a webhook channel, about a subject of its own.
    fn message(organisation: i64, channel: i64, key: i64) -> DueMessage {
        DueMessage {
            key,
            organisation,
            channel,
            contact: None,
            line: OrderingScope::Whole,
            subject: key.to_string(),
            tries: 0,
            is_escalation: false,
            is_held: false,
            due_at: Timestamp::from_ms(key),
        }
    }

    fn mail(channel: i64, contact: i64, key: i64) -> DueMessage {
        DueMessage {
            contact: Some(contact),
            line: OrderingScope::Own(Some(contact)),
            ..message(1, channel, key)
        }
    }

    fn choose(due: Vec<DueMessage>, slots: &mut OccupiedSlots) -> Vec<i64> {
        let chosen = choose_next(due, slots, SLOTS, |_| Some(()));
        chosen.into_iter().map(|(message, ())| message.key).collect()
    }

    /// Due messages of an organisation: `channels` channels with `each` messages, whose attempts never end.
    fn hanging(organisation: i64, channels: i64, each: i64) -> Vec<DueMessage> {
        let of_channel = |channel: i64| {
            let channel = organisation * 1_000 + channel;
            (0..each).map(move |number| message(organisation, channel, channel * 1_000 + number))
        };
        (0..channels).flat_map(of_channel).collect()
    }

    #[rstest]
    #[case::escalations_first(|second: &mut DueMessage| second.is_escalation = true)]
    #[case::fewest_tries_first(|second: &mut DueMessage| second.tries = 2)]
    #[case::longest_wait_first(|second: &mut DueMessage| second.due_at = Timestamp::from_ms(0))]
    fn the_next_message_within_a_channel_is_chosen(#[case] prefer: fn(&mut DueMessage)) {
        let [first, mut second] = [1, 2].map(|key| DueMessage { tries: 3, ..message(1, 1, key) });
        prefer(&mut second);
        let chosen = choose_next(vec![first, second], &mut OccupiedSlots::default(), 1, |_| Some(()));
        assert_eq!(chosen[0].0.key, 2);
    }

    #[test]
    fn one_message_of_a_subject_is_sent_at_a_time() {
        let mut slots = OccupiedSlots::default();
        let [first, second] = [1, 2].map(|key| DueMessage { subject: "shop".into(), ..message(1, 1, key) });
        assert_eq!(choose(vec![first.clone(), second.clone()], &mut slots), [1]);
        assert!(slots.is_queued_behind(&second));
        slots.release(&first);
        assert_eq!(choose(vec![second], &mut slots), [2]);
    }

    #[test]
    fn organisations_alternate_and_then_their_channels() {
        let due = [hanging(1, 2, 3), hanging(2, 1, 3)].concat();
        let chosen = choose_next(due, &mut OccupiedSlots::default(), 6, |_| Some(()));
        let channels: Vec<i64> = chosen.iter().map(|(message, ())| message.channel).collect();
        assert_eq!(channels, [1_000, 2_000, 1_001, 2_000, 1_000, 2_000]);
    }

    /// Each organisation has 40 channels with 30 messages, whose attempts never end; due one after the other or all at
    /// once.
    #[rstest]
    #[case::one(1)]
    #[case::some(10)]
    #[case::many(30)]
    fn hanging_channels_of_some_leave_room_for_others(
        #[case] organisations: i64,
        #[values(true, false)] at_once: bool,
    ) {
        let mut slots = OccupiedSlots::default();
        let due: Vec<Vec<DueMessage>> = (1..=organisations).map(|key| hanging(key, 40, 30)).collect();
        if at_once {
            choose(due.concat(), &mut slots);
        } else {
            due.into_iter().for_each(|due| _ = choose(due, &mut slots));
        }
        assert!(slots.total() <= SLOTS);
        assert_eq!(choose(vec![message(9_999, 9_999_999, 1)], &mut slots), [1]);
        let most = (1..=organisations).map(|key| slots.of_organisation(key)).max().unwrap();
        assert!(most <= ORGANISATION_SLOTS, "{most}");
    }

    #[test]
    fn hanging_channels_leave_room_for_others_of_their_organisation() {
        let mut slots = OccupiedSlots::default();
        choose(hanging(1, 40, 30), &mut slots);
        assert_eq!(choose(vec![message(1, 99, 1)], &mut slots), [1]);
        assert!(slots.count_of_channel(1_000) >= 2, "they share what there is");
        for channel in 100..=103 {
            choose(
                hanging(1, 1, 30).into_iter().map(|held| DueMessage { channel, ..held }).collect(),
                &mut slots,
            );
        }
        let step = DueMessage { is_escalation: true, ..message(1, 98, 2) };
        assert_eq!(choose(vec![step], &mut slots), [2], "an escalation finds one for longer");
    }

    #[test]
    fn hanging_mailboxes_leave_room_for_others_of_their_channel() {
        let mut slots = OccupiedSlots::default();
        let hanging = (1..=15).flat_map(|contact| (0..9).map(move |n| mail(1, contact, contact * 100 + n)));
        choose(hanging.collect(), &mut slots);
        assert_eq!(choose(vec![mail(1, 99, 1)], &mut slots), [1]);
    }

    #[test]
    fn an_escalation_gets_a_reserved_slot() {
        let mut slots = OccupiedSlots::default();
        choose(hanging(1, 1, 99), &mut slots);
        assert_eq!(choose(vec![message(1, 1_000, 1)], &mut slots), [0; 0]);
        let step = DueMessage { is_escalation: true, ..message(1, 1_000, 2) };
        assert_eq!(choose(vec![step], &mut slots), [2]);
    }

    #[test]
    fn a_finished_message_frees_its_slots() {
        let mut slots = OccupiedSlots::default();
        let messages = [message(1, 1, 1), mail(2, 1, 2), mail(2, 2, 3)];
        choose(messages.to_vec(), &mut slots);
        assert_eq!(slots.total(), 3);
        messages.iter().for_each(|message| slots.release(message));
        assert!(slots.total() == 0 && slots.organisations.is_empty() && slots.channels.is_empty());
        assert!(slots.mailboxes.is_empty() && slots.queues.is_empty());
    }
}
