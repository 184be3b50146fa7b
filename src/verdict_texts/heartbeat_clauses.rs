//! The clauses of a sentence that say when the last ping of a heartbeat came, and when the next is due.

use crate::model::history::ChangeCause;
use crate::model::outage_evidence::duration;
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{HeartbeatFacts, VerdictFacts};
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue};

/// The clauses about the pings of a heartbeat.
pub(super) fn ping_clauses(
    book: &PhraseBook<'_>,
    facts: &VerdictFacts,
    heartbeat: &HeartbeatFacts,
) -> Vec<String> {
    let Some(ping) = heartbeat.last_ping else { return vec![book.text("no-ping-yet")] };
    let last = book.dated("last-ping", ping.at);
    match facts.verdict {
        Verdict::Down if ping.has_failed => vec![book.dated("ping-failed", ping.at)],
        Verdict::Down => vec![book.text("ping-missed"), last],
        Verdict::Unknown if is_reset(facts) => {
            [Some(book.text("no-ping-since-change")), Some(last), next_ping(book, facts, heartbeat)]
                .into_iter()
                .flatten()
                .collect()
        }
        Verdict::Unknown => {
            let coming = heartbeat.deadline.filter(|deadline| *deadline > facts.now);
            let counts = coming.map(|at| book.naming("ping-counts-from", "moment", &book.moment(at)));
            [Some(book.text("ping-may-be-lost")), Some(last), counts].into_iter().flatten().collect()
        }
        Verdict::Up | Verdict::Degraded => {
            [Some(last), next_ping(book, facts, heartbeat)].into_iter().flatten().collect()
        }
    }
}

/// The period between two pings and the grace, as the rule of a heartbeat.
pub(super) fn ping_rule(book: &PhraseBook<'_>, heartbeat: &HeartbeatFacts) -> String {
    let (interval, grace) = (duration(heartbeat.interval_ms / 1_000), duration(heartbeat.grace_ms / 1_000));
    let values = [PhraseValue::text("interval", &interval), PhraseValue::text("grace", &grace)];
    book.filled("rule-heartbeat", &values)
}

/// Returns true if earlier pings no longer count, because the service was paused or changed.
const fn is_reset(facts: &VerdictFacts) -> bool {
    matches!(facts.cause, Some(ChangeCause::Paused | ChangeCause::Reconfigured))
}

fn next_ping(book: &PhraseBook<'_>, facts: &VerdictFacts, heartbeat: &HeartbeatFacts) -> Option<String> {
    let (due, deadline) = (heartbeat.due_at()?, heartbeat.deadline?);
    if facts.now <= due {
        return Some(book.naming("next-ping", "moment", &book.moment(due)));
    }
    let (late, counts) = (book.elapsed(due), book.moment(deadline));
    let values = [PhraseValue::text("duration", &late), PhraseValue::text("moment", &counts)];
    Some(book.filled("ping-late", &values))
}
