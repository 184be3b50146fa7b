//! One message instead of many: what a channel was not told one by one because too much came within a minute.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::Event;
use crate::model::notification::message::Message;
use crate::model::word::{spelled, words};

/// Messages that a channel may be told one by one within a minute.
pub const ABOVE: RangeInclusive<u32> = 1..=1_000;
/// The number for channels that people read, unless they choose another.
pub const USUAL_ABOVE: u32 = 20;
/// The time within which messages are counted, and for which the others are gathered, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// Most messages that a digest names; `count` says how many there are.
pub const ENTRIES_MAX: usize = 50;
/// Most lines of its text.
const LINES_MAX: usize = 20;

words! {
    /// Why a message waits.
    pub enum HeldBy {
        /// For the end of quiet hours.
        QuietHours,
        /// For a digest.
        Digest,
    }
}

/// A message is not sent before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The time.
    pub until: Timestamp,
    /// Why it waits.
    pub by: HeldBy,
}

/// What a digest tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestFacts {
    /// The id of its delivery: it is about nothing else.
    pub id: String,
    /// The number of messages.
    pub count: usize,
    /// The first of them, [`ENTRIES_MAX`] at most.
    pub entries: Vec<DigestEntry>,
    /// Their headlines in lines, some at most.
    pub text: String,
    /// The worst of what is not over, or of everything if all of it is.
    #[serde(with = "spelled")]
    pub severity: Severity,
    /// True if everything that it tells of is over.
    pub is_over: bool,
}

/// A message that a digest tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestEntry {
    /// The id of its delivery.
    pub id: String,
    /// Its event.
    #[serde(with = "spelled")]
    pub event: Event,
    /// The id of what it is about.
    pub subject: String,
    /// Its headline.
    pub headline: String,
}

/// A message to be told in a digest.
#[derive(Clone, Copy, Debug)]
pub struct Gathered<'a> {
    /// The id of its delivery.
    pub id: Id,
    /// What it tells.
    pub message: &'a Message,
}

impl DigestFacts {
    /// A digest of these messages, in their order.
    #[must_use]
    pub fn of(id: Id, gathered: &[Gathered<'_>]) -> Self {
        let entry = |gathered: &Gathered<'_>| DigestEntry {
            id: gathered.id.to_string(),
            event: gathered.message.event,
            subject: gathered.message.subject_id().to_owned(),
            headline: gathered.message.headline(),
        };
        let newest: BTreeMap<&str, &Message> =
            gathered.iter().map(|gathered| (gathered.message.subject_id(), gathered.message)).collect();
        let worst_of = |is_over: bool| {
            let such = newest.values().filter(|message| message.is_good_news() == is_over);
            such.filter_map(|message| message.severity()).max()
        };
        let bad = worst_of(false);
        Self {
            id: id.to_string(),
            count: gathered.len(),
            entries: gathered.iter().take(ENTRIES_MAX).map(entry).collect(),
            text: text(gathered),
            severity: bad.or_else(|| worst_of(true)).unwrap_or(Severity::Minor),
            is_over: bad.is_none(),
        }
    }

    /// One line that says how many there are.
    #[must_use]
    pub fn headline(&self) -> String {
        let counted =
            |wanted: fn(Event) -> bool| self.entries.iter().filter(|entry| wanted(entry.event)).count();
        let begun = counted(|event| matches!(event, Event::IncidentOpened | Event::IncidentReopened));
        let over = counted(|event| event == Event::IncidentResolved);
        if self.count > self.entries.len() || begun + over == 0 {
            return format!("{} messages in one", self.count);
        }
        let other = self.count - begun - over;
        let parts = [(begun, "begun"), (over, "resolved"), (other, "other")];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        format!("{} messages in one: {}", self.count, parts.join(", "))
    }
}

fn text(gathered: &[Gathered<'_>]) -> String {
    let mut lines: Vec<String> =
        gathered.iter().take(LINES_MAX).map(|gathered| gathered.message.headline()).collect();
    if gathered.len() > LINES_MAX {
        lines.push(format!("… and {} more", gathered.len() - LINES_MAX));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::notification::message::{NoticeFacts, Subject};

    fn message(event: Event, subject: &str, severity: Severity, is_over: bool) -> Message {
        let facts = NoticeFacts {
            id: subject.into(),
            title: format!("{subject} is bad"),
            text: String::new(),
            severity,
            is_over,
        };
        Message { event, at: 0, organisation: "Acme".into(), subject: Subject::Notice(facts) }
    }

    fn digest(messages: &[Message]) -> DigestFacts {
        let gathered: Vec<Gathered<'_>> =
            messages.iter().map(|message| Gathered { id: Id::random(), message }).collect();
        DigestFacts::of(Id::random(), &gathered)
    }

    #[test]
    fn it_is_as_bad_as_the_worst_that_is_not_over() {
        let begun = message(Event::IncidentOpened, "shop", Severity::Critical, false);
        let over = message(Event::IncidentResolved, "shop", Severity::Critical, true);
        let other = message(Event::IncidentOpened, "mail", Severity::Major, false);
        let facts = digest(&[begun.clone(), other, over.clone()]);
        assert_eq!((facts.severity, facts.is_over), (Severity::Major, false));
        assert_eq!(facts.headline(), "3 messages in one: 2 begun, 1 resolved");
        assert_eq!(facts.text, "shop is bad\nmail is bad\nResolved: shop is bad");
        let facts = digest(&[begun, over]);
        assert_eq!((facts.severity, facts.is_over), (Severity::Critical, true));
    }

    #[test]
    fn it_names_some_and_counts_all() {
        let many = vec![message(Event::IncidentOpened, "shop", Severity::Minor, false); 70];
        let facts = digest(&many);
        assert_eq!((facts.count, facts.entries.len()), (70, ENTRIES_MAX));
        assert_eq!(facts.headline(), "70 messages in one");
        assert!(facts.text.ends_with("\n… and 50 more"), "{}", facts.text);
        let news = message(Event::IncidentUpdated, "shop", Severity::Minor, false);
        assert_eq!(digest(&[news.clone(), news]).headline(), "2 messages in one");
    }
}
