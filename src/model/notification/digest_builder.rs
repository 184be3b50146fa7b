//! The choice of the messages that are combined into a digest.

use std::collections::{BTreeMap, HashSet};

use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::{DigestEntry, DigestFacts, ENTRIES_MAX, HoldReason};
use crate::model::notification::message::NotificationMessage;

/// Maximum number of lines of the text of a digest.
const LINES_MAX: usize = 20;

/// A message for a digest.
#[derive(Clone, Copy, Debug)]
pub struct GatheredMessage<'a> {
    /// The id of the delivery.
    pub id: Id,
    /// Contents of the message.
    pub message: &'a NotificationMessage,
}

/// Chooses the messages of a digest from `released`, the messages whose hold has ended; `None` if there are too few.
/// Messages about a subject in `left_alone` are not chosen, because another message about it is being sent and their order
/// would be lost. Two messages that waited for a digest are enough; messages that waited for the end of quiet hours must be
/// more than `most`.
#[must_use]
pub fn choose_for_digest(released: Vec<Delivery>, left_alone: &[String], most: u32) -> Option<Vec<Delivery>> {
    let left_alone: HashSet<&str> = left_alone.iter().map(String::as_str).collect();
    let mut chosen = released;
    chosen.retain(|delivery| !left_alone.contains(delivery.message.subject_id()));
    let held =
        |by: HoldReason| chosen.iter().filter(|one| one.hold.is_some_and(|hold| hold.by == by)).count();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let is_enough = held(HoldReason::Digest) > 1 || held(HoldReason::QuietHours) > most;
    is_enough.then_some(chosen)
}

/// Makes a digest of these messages, in their order.
#[must_use]
pub fn digest(id: Id, gathered: &[GatheredMessage<'_>]) -> DigestFacts {
    let entry = |gathered: &GatheredMessage<'_>| DigestEntry {
        id: gathered.id.to_string(),
        event: gathered.message.event,
        subject: gathered.message.subject_id().to_owned(),
        headline: gathered.message.headline(),
    };
    let newest: BTreeMap<&str, &NotificationMessage> =
        gathered.iter().map(|gathered| (gathered.message.subject_id(), gathered.message)).collect();
    let worst_of = |is_over: bool| {
        let such = newest.values().filter(|message| message.is_good_news() == is_over);
        such.filter_map(|message| message.severity()).max()
    };
    let bad = worst_of(false);
    DigestFacts {
        id: id.to_string(),
        count: gathered.len(),
        entries: gathered.iter().take(ENTRIES_MAX).map(entry).collect(),
        text: text(gathered),
        severity: bad.or_else(|| worst_of(true)).unwrap_or(Severity::Minor),
        is_over: bad.is_none(),
    }
}

fn text(gathered: &[GatheredMessage<'_>]) -> String {
    let line = |gathered: &GatheredMessage<'_>| match gathered.message.error() {
        Some(error) => format!("{} ({error})", gathered.message.headline()),
        None => gathered.message.headline(),
    };
    let mut lines: Vec<String> = gathered.iter().take(LINES_MAX).map(line).collect();
    if gathered.len() > LINES_MAX {
        lines.push(format!("… and {} more", gathered.len() - LINES_MAX));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::notification::NotificationEvent;
    use crate::model::notification::message::{MessageSubject, NoticeFacts};

    fn message(
        event: NotificationEvent,
        subject: &str,
        severity: Severity,
        is_over: bool,
    ) -> NotificationMessage {
        let facts = NoticeFacts {
            id: subject.into(),
            title: format!("{subject} is bad"),
            text: String::new(),
            severity,
            is_over,
        };
        NotificationMessage {
            event,
            at: 0,
            organisation: "Acme".into(),
            subject: MessageSubject::Notice(facts),
        }
    }

    fn digest_of(messages: &[NotificationMessage]) -> DigestFacts {
        let gathered: Vec<GatheredMessage<'_>> =
            messages.iter().map(|message| GatheredMessage { id: Id::random(), message }).collect();
        digest(Id::random(), &gathered)
    }

    #[test]
    fn a_digest_has_the_severity_of_the_worst_open_message() {
        let begun = message(NotificationEvent::IncidentOpened, "shop", Severity::Critical, false);
        let over = message(NotificationEvent::IncidentResolved, "shop", Severity::Critical, true);
        let other = message(NotificationEvent::IncidentOpened, "mail", Severity::Major, false);
        let facts = digest_of(&[begun.clone(), other, over.clone()]);
        assert_eq!((facts.severity, facts.is_over), (Severity::Major, false));
        assert_eq!(facts.headline(), "3 messages in one: 2 begun, 1 resolved");
        assert_eq!(facts.text, "shop is bad\nmail is bad\nResolved: shop is bad");
        let facts = digest_of(&[begun, over]);
        assert_eq!((facts.severity, facts.is_over), (Severity::Critical, true));
    }

    #[test]
    fn a_digest_names_some_messages_and_counts_all() {
        let many = vec![message(NotificationEvent::IncidentOpened, "shop", Severity::Minor, false); 70];
        let facts = digest_of(&many);
        assert_eq!((facts.count, facts.entries.len()), (70, ENTRIES_MAX));
        assert_eq!(facts.headline(), "70 messages in one");
        assert!(facts.text.ends_with("\n… and 50 more"), "{}", facts.text);
        let update = message(NotificationEvent::IncidentUpdated, "shop", Severity::Minor, false);
        assert_eq!(digest_of(&[update.clone(), update]).headline(), "2 messages in one");
    }
}
