//! Random changes of incidents, compared with a simple model of what the readers of a channel must know. The seed is
//! printed on failure.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::incident::{Acknowledgement, IncidentStatus, Severity, WholeIncident};
use crate::model::incident_effects::audience::{
    ChannelAudience, HeldBatch, IncidentAudience, WrittenMessage,
};
use crate::model::incident_effects::tests::world::{Setting, affected, audience, incident};
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::incident_effects::{incident_effects, recovery_effects};
use crate::model::lifecycle_effect::LifecycleEffect;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::RecentMessages;
use crate::model::notification::message::NotificationMessage;

/// Random numbers from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A channel, its outbox, and the expected knowledge of its readers.
struct Reader {
    setting: Setting,
    outbox: Vec<Delivery>,
    sent: Vec<NotificationMessage>,
    must_know: MustKnow,
}

/// The simple model: what the messages to a reader must say, regardless of the events that they report.
#[derive(Default)]
struct MustKnow {
    /// True if the reader was notified of the incident.
    is_told: bool,
    /// The severity in the last message to the reader.
    severity: Option<Severity>,
    /// Services that joined after the first message to the reader.
    joined: BTreeSet<String>,
    /// Number of rises above the severity that the reader knows.
    rises: usize,
    /// Number of ends of the incident after the reader was notified of it.
    ends: usize,
}

impl MustKnow {
    fn note(&mut self, setting: &Setting, before: Option<&WholeIncident>, after: &WholeIncident) {
        let severity = after.incident.severity;
        let is_about = setting.service.is_none_or(|one| after.services.iter().any(|row| row.service == one));
        let was_open = before.is_some_and(|before| !before.incident.is_resolved());
        let was_over = before.is_some_and(|before| before.incident.is_resolved());
        if after.incident.is_resolved() {
            if self.is_told && was_open {
                self.ends += 1;
                self.severity = Some(severity);
            }
        } else if self.is_told {
            let before_severity = before.map(|before| before.incident.severity);
            let is_rise = before_severity.is_some_and(|before| before < severity);
            if is_rise && self.severity < Some(severity) {
                self.rises += 1;
            }
            let known: BTreeSet<i64> =
                before.into_iter().flat_map(|before| &before.services).map(|row| row.service).collect();
            let new: Vec<String> = after
                .services
                .iter()
                .filter(|row| !known.contains(&row.service))
                .map(|row| row.id.to_string())
                .collect();
            let is_news = !new.is_empty() || was_over || (is_rise && self.severity < Some(severity));
            self.joined.extend(new);
            if is_news {
                self.severity = Some(severity);
            }
        } else if is_about && severity >= setting.min_severity {
            self.is_told = true;
            self.severity = Some(severity);
        }
    }

    fn check(&self, sent: &[NotificationMessage], seed: u64) {
        let count = |event: NotificationEvent| sent.iter().filter(|message| message.event == event).count();
        let starts = count(NotificationEvent::IncidentOpened)
            + usize::from(
                sent.first().is_some_and(|first| first.event == NotificationEvent::IncidentReopened),
            );
        assert_eq!(starts, usize::from(self.is_told), "told the start once, seed {seed}");
        assert_eq!(count(NotificationEvent::IncidentResolved), self.ends, "told each end, seed {seed}");
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for facts in sent.iter().filter_map(NotificationMessage::incident) {
            for service in facts.change.joined.iter().flat_map(|group| &group.services) {
                *named.entry(&service.id).or_default() += 1;
            }
        }
        for service in &self.joined {
            assert_eq!(named.get(service.as_str()), Some(&1), "named {service} once, seed {seed}");
        }
        assert_eq!(named.len(), self.joined.len(), "named nobody else, seed {seed}");
        assert_eq!(count(NotificationEvent::IncidentWorsened), self.rises, "told each rise, seed {seed}");
        let severity = sent.iter().rev().find_map(NotificationMessage::severity);
        assert!(severity >= self.severity, "knows how bad it is, seed {seed}: {severity:?}");
        let is_over = |message: &NotificationMessage| message.is_good_news();
        assert!(self.ends == 0 || sent.iter().any(is_over), "knows that it is over, seed {seed}");
    }
}

impl Reader {
    fn audience(&self, base: IncidentAudience, change: &IncidentTransition<'_>) -> IncidentAudience {
        let mut newest: BTreeMap<&str, WrittenMessage> = BTreeMap::new();
        for delivery in &self.outbox {
            newest.insert(
                delivery.message.event.as_str(),
                WrittenMessage {
                    key: delivery.key,
                    contact: None,
                    event: delivery.message.event,
                    created_at: delivery.created_at,
                    hold: delivery.hold,
                    is_untouched: delivery.ended_at.is_none(),
                },
            );
        }
        let mut written: Vec<WrittenMessage> = newest.into_values().collect();
        written.sort_by_key(|written| written.key);
        let severity = |one: &Delivery| Some((one.key, one.message.severity()?));
        let severities = self.outbox.iter().filter(|_| change.is_rise()).filter_map(severity).collect();
        let mut audience = ChannelAudience {
            channel: self.setting.clone().into_channel(1),
            recent: RecentMessages::default(),
            severities,
            written,
            batches: Vec::new(),
        };
        if let Some(key) = audience.open_batch(NotificationEvent::IncidentServiceJoined, None, change.at) {
            let message = self.outbox.iter().find(|one| one.key == key).unwrap().message.clone();
            audience.batches.push(HeldBatch { key, message });
        }
        IncidentAudience { channels: vec![audience], ..base }
    }

    fn carry_out(&mut self, effects: Vec<LifecycleEffect>) {
        for effect in effects {
            match effect {
                LifecycleEffect::Enqueue(outgoing) => {
                    let key = i64::try_from(self.outbox.len()).unwrap() + 1;
                    self.outbox.push(Delivery { key, ..outgoing.delivery });
                }
                LifecycleEffect::Release(_) => {
                    self.outbox
                        .iter_mut()
                        .filter(|one| one.ended_at.is_none())
                        .for_each(|one| one.hold = None);
                }
                LifecycleEffect::ReplaceMessage(replaced) => {
                    let held = self.outbox.iter_mut().find(|one| one.key == replaced.delivery).unwrap();
                    assert!(held.ended_at.is_none(), "it has not been sent");
                    held.message = replaced.message;
                }
                _ => {}
            }
        }
    }

    /// Sends the messages in order, up to the first one that is held.
    fn send(&mut self, now: Timestamp) {
        for delivery in self.outbox.iter_mut().filter(|one| one.ended_at.is_none()) {
            if delivery.hold.is_some_and(|hold| hold.until > now) {
                break;
            }
            delivery.ended_at = Some(now);
            self.sent.push(delivery.message.clone());
        }
    }
}

fn setting(chance: &mut Chance) -> Setting {
    let severities = [Severity::Minor, Severity::Major, Severity::Critical];
    Setting {
        min_severity: severities[usize::try_from(chance.below(3)).unwrap()],
        quiet: chance.is(40),
        service: chance.is(30).then(|| i64::try_from(chance.below(12)).unwrap()),
        ..Setting::default()
    }
}

/// Changes an incident at random, in ways that occur by edits of members and by automatic changes.
fn change(whole: &WholeIncident, chance: &mut Chance, now: Timestamp) -> WholeIncident {
    let mut after = whole.clone();
    let severities = [Severity::Minor, Severity::Major, Severity::Critical];
    if after.incident.is_resolved() {
        if chance.is(20) {
            after.incident.resolved_at = None;
            after.incident.status = IncidentStatus::Investigating;
            after.incident.acknowledgement = None;
        }
        return after;
    }
    if chance.is(50) {
        for _ in 0..=chance.below(3) {
            let next = i64::try_from(after.services.len()).unwrap();
            if next < 40 {
                after.services.push(affected(next));
            }
        }
    }
    if chance.is(25) {
        after.incident.severity = severities[usize::try_from(chance.below(3)).unwrap()];
    }
    if chance.is(5) && after.incident.acknowledgement.is_none() && after == *whole {
        let by = AnnouncementAuthor { id: after.incident.id, name: "Anna".into() };
        after.incident.acknowledgement = Some(Acknowledgement { at: now, by });
    }
    if chance.is(5) && after == *whole {
        after.incident.resolved_at = Some(now);
        after.incident.status = IncidentStatus::Resolved;
    }
    after
}

fn run(seed: u64) {
    let mut chance = Chance(seed);
    let mut now = crate::model::incident_effects::tests::world::at(0);
    let setting = setting(&mut chance);
    let mut reader = Reader { setting, outbox: Vec::new(), sent: Vec::new(), must_know: MustKnow::default() };
    let mut stored: Option<WholeIncident> = None;
    for _ in 0..60 {
        now = now.plus_ms(i64::try_from(chance.below(25_000)).unwrap());
        if chance.is(80) {
            reader.send(now);
        }
        let after = match &stored {
            None => WholeIncident { services: vec![affected(0)], ..incident(Severity::Minor) },
            Some(stored) => change(stored, &mut chance, now),
        };
        if stored.as_ref() == Some(&after) {
            continue;
        }
        let change = IncidentTransition { before: stored.as_ref(), after: &after, leaving: None, at: now };
        let base = audience(reader.setting.clone(), Vec::new(), &after);
        let audience = reader.audience(base, &change);
        let effects = incident_effects(&change, &audience);
        reader.carry_out(effects);
        assert!(recovery_effects(&change, &audience).is_empty(), "nothing has recovered");
        let Reader { setting, must_know, .. } = &mut reader;
        must_know.note(setting, stored.as_ref(), &after);
        stored = Some(after);
    }
    reader.send(now.plus_ms(30 * crate::clock::DAY_MS));
    reader.must_know.check(&reader.sent, seed);
}

#[test]
fn every_recipient_gets_every_required_message_once() {
    for seed in 1..600_u64 {
        run(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
}

/// Six hundred services that join one after the other, one per second, cause a bounded number of messages.
#[test]
fn many_joins_are_few_messages() {
    let mut reader = Reader {
        setting: Setting::default(),
        outbox: Vec::new(),
        sent: Vec::new(),
        must_know: MustKnow::default(),
    };
    let mut now = crate::model::incident_effects::tests::world::at(0);
    let mut before: Option<WholeIncident> = None;
    for number in 0..600 {
        now = now.plus_ms(1_000);
        reader.send(now);
        let mut after = before.clone().unwrap_or_else(|| incident(Severity::Minor));
        after.services.push(affected(number));
        let change = IncidentTransition { before: before.as_ref(), after: &after, leaving: None, at: now };
        let base = audience(Setting::default(), Vec::new(), &after);
        let audience = reader.audience(base, &change);
        reader.carry_out(incident_effects(&change, &audience));
        before = Some(after);
    }
    reader.send(now.plus_ms(60_000));
    let joined: usize = reader
        .sent
        .iter()
        .filter_map(NotificationMessage::incident)
        .filter_map(|facts| facts.change.joined.as_ref())
        .map(|group| group.count)
        .sum();
    assert_eq!(joined, 599, "each is counted");
    assert!(reader.sent.len() <= 3 + 600 / 30, "{} messages", reader.sent.len());
}
