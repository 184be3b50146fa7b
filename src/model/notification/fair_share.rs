//! The choice of the due messages that are tried next, so that slow receivers of one organisation do not hold up
//! those of others.
//!
//! Attempts take slots: a fixed number in all, per organisation, per channel, and per mailbox of a channel that sends
//! mails. Each level takes at most a part of the free slots one level above it, so newcomers find a slot however many
//! receivers hang. The next slot goes to the organisation and channel with the fewest running attempts; within a
//! channel escalations come first, then the least tried messages, then those that have waited longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use crate::clock::Timestamp;
use crate::model::notification::ordering_scope::OrderingScope;

/// Maximum number of running attempts over all organisations.
pub const SLOTS: usize = 1_024;
/// Maximum of one organisation.
const ORGANISATION_SLOTS: usize = 128;
/// Maximum of one channel.
const CHANNEL_SLOTS: usize = 16;
/// Maximum number of attempts of a channel that sends mails: the conversation with a mail server may take minutes.
const MAIL_CHANNEL_SLOTS: usize = 24;
/// The part of the free slots that an organisation may take: an eighth.
const ORGANISATION_SHARE: usize = 8;
/// The part of the free slots that a channel or a mailbox may take: a quarter.
const SHARE: usize = 4;
/// The same for an escalation: half.
const ESCALATION_SHARE: usize = 2;
/// The part of all places that only escalations take: an eighth.
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
    /// Database key of the contact that it is for.
    pub contact: Option<i64>,
    /// The messages that it does not overtake.
    pub line: OrderingScope,
    /// The id of its subject.
    pub subject: String,
    /// Number of attempts so far.
    pub tries: u32,
    /// True for a step of an escalation.
    pub is_escalation: bool,
    /// True if it was held, so that a digest may include it.
    pub is_held: bool,
    /// The time since which it is due.
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

/// A channel, with the facts that decide its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedChannel {
    /// Database key of the channel.
    pub key: i64,
    /// Database key of its organisation.
    pub organisation: i64,
    /// True if it sends mails.
    pub has_mailboxes: bool,
}

impl PlacedChannel {
    const fn slots(self) -> usize {
        if self.has_mailboxes { MAIL_CHANNEL_SLOTS } else { CHANNEL_SLOTS }
    }
}

/// A mailbox that a channel sends to: of a contact, or for the messages that are for no contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ChannelMailbox {
    channel: i64,
    contact: Option<i64>,
}

/// The messages that leave one after the other: about one subject, in one line of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MessageQueue {
    channel: i64,
    line: OrderingScope,
    subject: String,
}

/// The places of the running attempts.
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

    /// The running attempts of an organisation.
    #[must_use]
    pub fn of_organisation(&self, organisation: i64) -> usize {
        self.organisations.get(&organisation).copied().unwrap_or_default()
    }

    /// Returns true if the message itself is being sent.
    #[must_use]
    pub fn is_under_way(&self, message: &DueMessage) -> bool {
        self.channels.get(&message.channel).is_some_and(|keys| keys.contains(&message.key))
    }

    /// Returns true if an attempt of a channel would keep the bounds of its organisation and its own, for a mailbox
    /// that has none.
    #[must_use]
    pub fn channel_has_room(&self, channel: PlacedChannel, is_escalation: bool) -> bool {
        self.count_of_channel(channel.key) < self.bound_of_channel(channel, is_escalation)
    }

    /// The slots that a channel may hold at the moment.
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

    /// Returns true if a message about the same subject is being sent in the same line.
    #[must_use]
    pub fn is_queued_behind(&self, message: &DueMessage) -> bool {
        self.queues.contains(&message.queue())
    }

    /// The subjects of a channel about which a message is being sent.
    pub fn subjects(&self, channel: i64) -> impl Iterator<Item = &str> {
        self.queues.iter().filter(move |queue| queue.channel == channel).map(|queue| queue.subject.as_str())
    }

    /// Returns true if an attempt of the message would keep all bounds.
    #[must_use]
    pub fn has_room(&self, message: &DueMessage) -> bool {
        let channel = message.placed_channel();
        let bound = self.bound_of_channel(channel, message.is_escalation);
        let in_channel = self.count_of_channel(channel.key);
        let share = if message.is_escalation { ESCALATION_SHARE } else { SHARE };
        let is_free = |mailbox| self.count_of_mailbox(mailbox) < part_of_free(bound, in_channel, share);
        in_channel < bound && message.mailbox().is_none_or(is_free) && !self.is_queued_behind(message)
    }

    /// Takes the slots of a started attempt.
    pub fn take(&mut self, message: &DueMessage) {
        self.total += 1;
        *self.organisations.entry(message.organisation).or_default() += 1;
        self.channels.entry(message.channel).or_default().insert(message.key);
        if let Some(mailbox) = message.mailbox() {
            *self.mailboxes.entry(mailbox).or_default() += 1;
        }
        self.queues.insert(message.queue());
    }

    /// Frees the place of an attempt that has ended.
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

/// The slots that one may take of `slots`, of which `taken` are in use: a share of the free ones, and one at least
/// while there is one.
const fn part_of_free(slots: usize, taken: usize, share: usize) -> usize {
    slots.saturating_sub(taken).div_ceil(share)
}

/// The same for an escalation, or for a message that must leave the reserve of escalations free.
const fn part_for(is_escalation: bool, share: usize, slots: usize, taken: usize) -> usize {
    if is_escalation {
        part_of_free(slots, taken, if share < ESCALATION_SHARE { share } else { ESCALATION_SHARE })
    } else {
        part_of_free(slots - slots / RESERVED, taken, share)
    }
}

/// The messages that are tried next, `most` at most, each with the result of `admit`; their slots are taken. `admit`
/// is called when nothing else keeps a message back; `None` keeps it.
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
        // The next one is the last.
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

    /// A message of a webhook of an organisation, about a subject of its own.
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

    /// Messages for this number of channels of an organisation, `each` per channel, none of which ends.
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

    /// Organisations of which each has 40 channels with 30 messages, all hanging, one after the other or at once.
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
